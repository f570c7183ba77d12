package kind_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/kind"
)

// TestMain lets the test binary be its own worker, as apilab is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == kind.Command {
		os.Exit(kind.Main(context.Background(), nil))
	}
	if len(os.Args) > 1 && os.Args[1] == creatorCommand {
		create(os.Args[2], os.Args[3])
		return
	}
	os.Exit(m.Run())
}

const patience = 8 * time.Minute // machines that run tests are busy

// needsEngine skips a test that makes real clusters, unless they were asked for.
func needsEngine(t *testing.T) kind.Engine {
	t.Helper()
	if os.Getenv("APILAB_TEST_KIND") == "" {
		t.Skip("makes real clusters: set APILAB_TEST_KIND=1 where there is a container engine")
	}
	engine, err := kind.Detect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Other tests on the machine may use what a node needs; they end.
	ctx := within(t, patience)
	for {
		var lacks []kind.Finding
		for _, f := range kind.Preflight(ctx, kind.Options{Engine: engine, Image: os.Getenv("KINDLAB_NODE_IMAGE")}, 1) {
			if f.Grade == kind.Bad {
				lacks = append(lacks, f)
			}
		}
		if len(lacks) == 0 {
			return engine
		}
		select {
		case <-time.After(5 * time.Second):
		case <-ctx.Done():
			t.Fatalf("no cluster can be made here: %+v", lacks)
		}
	}
}

// newProvider returns a provider on dir that is closed when the test ends.
func newProvider(t *testing.T, engine kind.Engine, dir string, change ...func(*kind.Options)) *kind.Provider {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := kind.Options{
		Dir: dir, Executable: executable, Engine: engine, Image: os.Getenv("KINDLAB_NODE_IMAGE"),
		Logger:     slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo})),
		ProbeEvery: time.Second, KeepLogs: os.Getenv("APILAB_TEST_KIND_LOGS"),
	}
	for _, c := range change {
		c(&o)
	}
	p, err := kind.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// engineSays returns what a command of the engine prints, by lines.
func engineSays(t *testing.T, engine kind.Engine, args ...string) []string {
	t.Helper()
	out, err := exec.Command(string(engine), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", engine, strings.Join(args, " "), err, out)
	}
	return strings.Fields(string(out))
}

// leftovers lists what of an engine a test could leave behind: containers, volumes, and networks but for kind's own, which
// it keeps for all its clusters.
func leftovers(t *testing.T, engine kind.Engine) []string {
	t.Helper()
	var all []string
	for kind, list := range map[string][]string{
		"container": {"ps", "--all", "--quiet"}, "volume": {"volume", "ls", "--quiet"}, "network": {"network", "ls", "--format", "{{.Name}}"},
	} {
		for _, name := range engineSays(t, engine, list...) {
			if name != "kind" {
				all = append(all, kind+" "+name)
			}
		}
	}
	slices.Sort(all)
	return all
}

// leavesNothing fails the test if its clusters leave anything behind. Call it before a provider is made.
func leavesNothing(t *testing.T, engine kind.Engine) {
	t.Helper()
	before := leftovers(t, engine)
	t.Cleanup(func() {
		if after := leftovers(t, engine); !slices.Equal(before, after) {
			t.Errorf("left behind: %v (there were %v)", after, before)
		}
	})
}

// within bounds a step of a test.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// say logs the phases of a start.
func say(t *testing.T) func(cluster.Phase) {
	return func(p cluster.Phase) {
		if p.Done {
			t.Logf("%8s %-14s %s", p.Elapsed.Round(10*time.Millisecond), p.Name, p.Says)
		}
	}
}

func dataDir(t *testing.T) string { return filepath.Join(t.TempDir(), "kind") }
