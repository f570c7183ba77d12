package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/apilab/apilab/cli/datadir"
)

const envPrefix = "APILAB"

// variable is the name of the environment variable for a flag.
func variable(flag string) string {
	return envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// isSetting: the others ask for something, once.
func isSetting(f *pflag.Flag) bool { return f.Name != "help" && f.Name != "version" }

// configure gives each flag that was not set on the command line its value from the environment, else from the file.
func (g *global) configure(cmd *cobra.Command) error {
	flags := cmd.Flags()
	if err := set(cmd, flags.Lookup("config"), os.LookupEnv); err != nil {
		return err
	}
	file, path, err := readConfig(g.config)
	if err != nil {
		return err
	}
	for _, key := range file.AllKeys() {
		if !knownFlag(cmd.Root(), key) {
			return &usageError{fmt.Errorf("%s: there is no setting %q", path, key), cmd.Root().CommandPath()}
		}
	}
	fromFile := func(name string) (string, bool) {
		value := file.Get(name)
		return fmt.Sprint(value), value != nil
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if err == nil {
			err = set(cmd, f, os.LookupEnv)
		}
		if err == nil && !f.Changed {
			err = setFrom(cmd, f, path+": "+f.Name, f.Name, fromFile)
		}
	})
	if err != nil {
		return err
	}
	if g.dataDir == "" {
		g.dataDir, err = datadir.Default()
		return err
	}
	g.dataDir, err = filepath.Abs(g.dataDir)
	return err
}

func set(cmd *cobra.Command, f *pflag.Flag, lookup func(string) (string, bool)) error {
	if f.Changed {
		return nil
	}
	return setFrom(cmd, f, variable(f.Name), variable(f.Name), lookup)
}

func setFrom(cmd *cobra.Command, f *pflag.Flag, says, name string, lookup func(string) (string, bool)) error {
	value, found := lookup(name)
	if !found || value == "" || !isSetting(f) {
		return nil
	}
	if err := cmd.Flags().Set(f.Name, value); err != nil {
		return &usageError{impossible(says, value, f), cmd.CommandPath()}
	}
	return nil
}

// impossible says what a flag wants instead of a value that it cannot have.
func impossible(where, value string, f *pflag.Flag) error {
	return fmt.Errorf("%s: %q is not a possible value: %s", where, value, f.Usage)
}

// readConfig reads the file that was asked for, or the user's own one, which need not exist.
func readConfig(asked string) (file *viper.Viper, path string, err error) {
	file = viper.New()
	path = asked
	if path == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return file, "", nil // no home, no file
		}
		path = filepath.Join(dir, programName, "config.yaml")
	}
	file.SetConfigFile(path)
	file.SetConfigType("yaml")
	err = file.ReadInConfig()
	switch {
	case errors.Is(err, fs.ErrNotExist) && asked == "":
		return file, path, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, path, fmt.Errorf("the configuration file %s does not exist", path)
	case err != nil:
		return nil, path, fmt.Errorf("read the configuration file %s: %w", path, oneLine(err))
	}
	return file, path, nil
}

// oneLine is for errors of libraries that tell a story.
func oneLine(err error) error {
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}

func knownFlag(root *cobra.Command, name string) bool {
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Flags().Lookup(name) != nil || cmd.PersistentFlags().Lookup(name) != nil {
			return true
		}
	}
	return false
}
