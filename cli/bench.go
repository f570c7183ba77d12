package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/apilab/apilab/cli/bench"
)

func (p *Program) benchCommand(*global) *cobra.Command {
	o := bench.Options{Executable: p.Executable}
	var output string
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure starts, memory, idle CPU and latency on this machine",
		Long: "Starts an apilab of its own on an empty data directory, measures it from outside, prints a table and writes the figures as\n" +
			"JSON. Where there is a container engine it then does the same with a kind cluster. It takes about two minutes for each; leave the\n" +
			"machine alone meanwhile.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Says = func(step string) { fmt.Fprintf(p.Stderr, "%s …\n", step) }
			if path, err := exec.LookPath("kubectl"); err == nil {
				o.Kubectl = path
			} else {
				fmt.Fprintln(p.Stderr, "no kubectl on this machine to compare with")
			}
			report, err := bench.Run(cmd.Context(), o)
			if report == nil {
				return err
			}
			return errors.Join(err, report.WriteTable(p.Stdout), writeReport(report, output))
		},
	}
	cmd.AddCommand(p.benchClassCommand())
	flags := cmd.Flags()
	flags.StringVarP(&output, "output", "o", "bench.json", "file for the figures in JSON")
	flags.IntVar(&o.Starts, "starts", 3, "clusters to make")
	flags.IntVar(&o.Writes, "writes", 200, "writes to follow to the page")
	flags.IntVar(&o.Commands, "commands", 20, "runs of kubectl get ns in the terminal, and outside")
	flags.DurationVar(&o.Settle, "settle", 20*time.Second, "time for a new cluster to calm down")
	flags.DurationVar(&o.Idle, "idle", 30*time.Second, "time to measure idle CPU over")
	return cmd
}

// writeReport writes figures for programs.
func writeReport(report interface{ WriteJSON(io.Writer) error }, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	err = report.WriteJSON(f)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return nil
}
