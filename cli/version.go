package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func (p *Program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of apilab and of its clusters",
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(p.Stdout, "apilab      %s\nKubernetes  %s\n%s  %s/%s\n", p.Version, p.Kubernetes, goVersion(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}

func goVersion() string { return fmt.Sprintf("%-10s", runtime.Version()) }
