package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// global are the flags of every command.
type global struct {
	dataDir  string
	config   string
	logLevel slog.Level
}

const rootHelp = `apilab teaches the Kubernetes API machinery: lessons in the browser, a real cluster of your own, and checks that turn
green by themselves.

Without a command it serves the lessons for one learner on this machine (apilab serve).`

// configHelp ends the help of commands with flags.
const configHelp = `
Each flag can also be set by the variable in brackets, or in the configuration file under its name
("no-open: true"). A flag wins over a variable, a variable over the file.
`

func (p *Program) rootCommand() *cobra.Command {
	// Cobra takes over the flags that libraries register for every program; those of Kubernetes mean nothing here.
	pflag.CommandLine = pflag.NewFlagSet(programName, pflag.ContinueOnError)
	g := &global{logLevel: slog.LevelWarn}
	root := p.serveCommand(g)
	root.Use = programName
	root.Short = "Learn the Kubernetes API machinery on a real cluster of your own"
	root.Long = rootHelp
	root.Version = p.Version
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SuggestionsMinimumDistance = 2

	flags := root.PersistentFlags()
	flags.StringVar(&g.dataDir, "data-dir", "", "folder for progress, clusters and keys (default: the user's data directory)")
	flags.StringVar(&g.config, "config", "", "configuration file in YAML (default: apilab/config.yaml in the user's configuration directory, if it is there)")
	flags.TextVar(&g.logLevel, "log-level", slog.LevelWarn, "least severe log lines to print: debug, info, warn or error")

	root.AddCommand(
		p.serveCommand(g), p.openCommand(g), p.kubeconfigCommand(g),
		p.verifyCommand(g), p.lintCommand(), p.newCommand(), p.previewCommand(g), p.workspaceCommand(g), p.kindCommand(g), p.doctorCommand(g), p.benchCommand(g), p.versionCommand(),
	)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		return g.configure(cmd)
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{explainFlag(cmd, err), cmd.CommandPath()}
	})
	for _, cmd := range append(root.Commands(), root) {
		nameVariables(cmd)
		cmd.Args = usageArgs(cmd.Args)
		if cmd.HasAvailableLocalFlags() {
			wrapped := strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages |", ".FlagUsagesWrapped 100 |")
			cmd.SetUsageTemplate(wrapped + configHelp)
		}
	}
	return root
}

// usageArgs makes a usageError of what a command says about its arguments.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		check = cobra.NoArgs
	}
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err == nil {
			return nil
		}
		if len(args) > 0 {
			if meant := cmd.SuggestionsFor(args[0]); len(meant) > 0 {
				err = fmt.Errorf("%w (did you mean %s?)", err, meant[0])
			}
		}
		return &usageError{err, cmd.CommandPath()}
	}
}

// nameVariables writes the variable of each flag into its help.
func nameVariables(cmd *cobra.Command) {
	name := func(f *pflag.Flag) {
		if suffix := " [" + variable(f.Name) + "]"; isSetting(f) && !strings.HasSuffix(f.Usage, suffix) {
			f.Usage += suffix
		}
	}
	cmd.Flags().VisitAll(name)
	cmd.PersistentFlags().VisitAll(name)
}

// explainFlag says what may have been meant, or what is possible.
func explainFlag(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return impossible("--"+invalid.GetFlag().Name, invalid.GetValue(), invalid.GetFlag())
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	best, distance := "", 3 // more typos are no typo
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := editDistance(unknown.GetSpecifiedName(), f.Name); d < distance {
			best, distance = f.Name, d
		}
	})
	if best == "" {
		return err
	}
	return fmt.Errorf("%w (did you mean --%s?)", err, best)
}

// editDistance is Levenshtein's: the least number of inserted, removed or replaced bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
