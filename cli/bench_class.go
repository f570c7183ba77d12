package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/apilab/apilab/cli/bench/class"
)

func (p *Program) benchClassCommand() *cobra.Command {
	o := class.Options{Executable: p.Executable}
	var output string
	var minutes float64
	cmd := &cobra.Command{
		Use:   "class [cold] [warm] [registered] [killed]",
		Short: "Measure how many learners this machine bears at once",
		Long: "Starts a class server of its own on an empty data directory, and lets scripted learners join a class, do exercises in their\n" +
			"terminals at the speed of people, load their pages again and lose their connections. It prints a table in Markdown, a column\n" +
			"for each run, writes the figures as JSON, and fails if anything went wrong for a learner.\n\n" +
			"  cold        each cluster is made when its learner asks for it\n" +
			"  warm        all clusters are made before\n" +
			"  registered  as warm, and the class has many more members than are active\n" +
			"  killed      as warm, and the server is killed in the middle\n\n" +
			"Without arguments it makes the first three runs. Leave the machine alone meanwhile.",
		ValidArgs: []string{"cold", "warm", "registered", "killed"},
		Args:      usageArgs(cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"cold", "warm", "registered"}
			}
			var kinds []class.Kind
			for _, arg := range args {
				kinds = append(kinds, class.Kind(arg))
			}
			if o.Learners < 1 || o.Registered < o.Learners || minutes <= 0 || o.Haste <= 0 {
				return &usageError{errors.New("there must be a learner, no more of them than are registered, and some time"), "apilab bench class"}
			}
			o.Duration = time.Duration(minutes * float64(time.Minute))
			o.Says = func(step string) { fmt.Fprintln(p.Stderr, step) }
			report, err := class.Run(cmd.Context(), o, kinds)
			if report == nil || len(report.Runs) == 0 {
				return err
			}
			err = errors.Join(err, report.WriteTable(p.Stdout), writeReport(report, output))
			if n := report.Mistakes(); err == nil && n > 0 {
				return fmt.Errorf("%d things went wrong for learners: they are below the table", n)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&output, "output", "o", "bench-class.json", "file for the figures in JSON")
	flags.IntVar(&o.Learners, "learners", 60, "learners who are active")
	flags.Float64Var(&minutes, "minutes", 10, "after which no learner begins another exercise")
	flags.IntVar(&o.Registered, "registered", 1000, "members of the class in the run with many of them")
	flags.Float64Var(&o.Haste, "haste", 1, "how many times faster than people the learners read and type")
	flags.StringArrayVar(&o.Flags, "serve", nil, "another flag for apilab serve, such as --serve=--memory=12Gi")
	return cmd
}
