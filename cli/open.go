package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/apilab/apilab/cli/control"
)

func (p *Program) openCommand(g *global) *cobra.Command {
	var noOpen bool
	cmd := &cobra.Command{
		Use:   "open",
		Short: "Open the running apilab in the browser, signed in",
		Long:  "Asks the apilab that runs on the data directory for a fresh sign-in link, prints it and opens it.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			link, err := control.SignInURL(cmd.Context(), g.dataDir)
			if err != nil {
				return err
			}
			fmt.Fprintln(p.Stdout, link)
			if noOpen {
				return nil
			}
			if err := openBrowser(cmd.Context(), link); err != nil {
				fmt.Fprintf(p.Stderr, "%s: %v: open the link above\n", programName, err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&noOpen, "no-open", false, "print the link only")
	return cmd
}
