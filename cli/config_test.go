package cli

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// configured runs configure for a command with some flags and returns what it was given.
func configured(t *testing.T, args ...string) (g *global, port int, noOpen bool, err error) {
	t.Helper()
	g = &global{}
	cmd := &cobra.Command{Use: "serve", SilenceErrors: true, SilenceUsage: true, RunE: func(cmd *cobra.Command, _ []string) error {
		return g.configure(cmd)
	}}
	cmd.Flags().StringVar(&g.dataDir, "data-dir", "", "folder")
	cmd.Flags().StringVar(&g.config, "config", "", "file")
	cmd.Flags().TextVar(&g.logLevel, "log-level", slog.LevelWarn, "level")
	cmd.Flags().IntVar(&port, "port", 0, "the port")
	cmd.Flags().BoolVar(&noOpen, "no-open", false, "no browser")
	cmd.SetArgs(args)
	err = cmd.Execute()
	return g, port, noOpen, err
}

func TestFlagWinsOverVariableOverFile(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", home)

	if g, port, noOpen, err := configured(t); err != nil || port != 0 || noOpen || g.dataDir != filepath.Join(home, "apilab") {
		t.Errorf("with nothing: %+v, %d, %v, %v", g, port, noOpen, err)
	}
	config, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(config, "apilab", "config.yaml"), "port: 1\nno-open: true\nlog-level: debug\ndata-dir: /from/file\n")
	g, port, noOpen, err := configured(t)
	if err != nil || port != 1 || !noOpen || g.logLevel != slog.LevelDebug || g.dataDir != "/from/file" {
		t.Errorf("with the file: %+v, %d, %v, %v", g, port, noOpen, err)
	}
	t.Setenv("APILAB_PORT", "2")
	if _, port, noOpen, err = configured(t); err != nil || port != 2 || !noOpen {
		t.Errorf("with a variable: %d, %v, %v", port, noOpen, err)
	}
	if _, port, noOpen, err = configured(t, "--port=3", "--no-open=false"); err != nil || port != 3 || noOpen {
		t.Errorf("with flags: %d, %v, %v", port, noOpen, err)
	}
	t.Setenv("APILAB_CONFIG", filepath.Join(home, "absent.yaml"))
	if _, _, _, err = configured(t); err == nil || !strings.Contains(err.Error(), "absent.yaml does not exist") {
		t.Errorf("with a file that is asked for and not there: %v", err)
	}
}

func TestWrongConfiguration(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	tests := map[string]struct {
		file, variable string
		usage          bool
		want           string
	}{
		"unknown setting":   {"prot: 1\n", "", true, `there is no setting "prot"`},
		"value in the file": {"port: many\n", "", true, `port: "many" is not a possible value: the port`},
		"a list":            {"port: [1, 2]\n", "", true, `port: "[1 2]" is not a possible value`},
		"no YAML":           {"port: [\n", "", false, "read the configuration file"},
		"variable":          {"", "many", true, `APILAB_PORT: "many" is not a possible value: the port`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			writeFile(t, path, tt.file)
			t.Setenv("APILAB_PORT", tt.variable)
			_, _, _, err := configured(t, "--config", path)
			var usage *usageError
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, &usage) != tt.usage || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestEditDistance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"port", "port", 0}, {"prot", "port", 2}, {"por", "port", 1}, {"kitten", "sitting", 3}} {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := editDistance(tt.b, tt.a); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
