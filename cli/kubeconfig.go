package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/apilab/apilab/cli/control"
)

func (p *Program) kubeconfigCommand(g *global) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print a kubeconfig for your own kubectl",
		Long: "Prints a kubeconfig with which your own kubectl, in your own terminal, reaches the cluster of the apilab that runs on the\n" +
			"data directory. Checks see what you do with it. It stays right over restarts.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := control.Kubeconfig(cmd.Context(), g.dataDir)
			if err != nil {
				return err
			}
			if output == "" {
				_, err = p.Stdout.Write(text)
				return err
			}
			if err := os.WriteFile(output, text, 0o600); err != nil {
				return fmt.Errorf("write the kubeconfig: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file, which only you can read, instead")
	return cmd
}
