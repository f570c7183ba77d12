package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/apilab/apilab/cli/control"
	"github.com/apilab/apilab/cli/datadir"
	"github.com/apilab/apilab/cli/workspace"
)

func (p *Program) workspaceCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workspace",
		Short: "Lay out a project to work on with your own tools",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(_ *cobra.Command, _ []string) error {
			return &usageError{errors.New("say which project to lay out, and where: apilab workspace operator DIR"), "apilab workspace"}
		},
	}
	var (
		force  bool
		access string
	)
	operator := &cobra.Command{
		Use:   "operator DIR",
		Short: "Lay out the operator that the track Build an operator goes with",
		Long: "Lays out the project of the track Build an operator in the folder DIR, with access to your cluster: by the apilab that runs here, or\n" +
			"by a kubeconfig that you downloaded from a class's page. A folder that is not empty is left alone, unless it was laid out before:\n" +
			"then what is missing comes back, what you have not touched is renewed, and what you have changed stays.",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := readKubeconfig(access)
			if err != nil {
				return err
			}
			layout, err := workspace.Operator(args[0], force)
			if errors.Is(err, workspace.ErrForeign) {
				return fmt.Errorf("%s: %w: choose another, or add to what is there with --force, which changes none of your files", args[0], err)
			}
			if err != nil {
				return err
			}
			if file == nil {
				file, err = control.Kubeconfig(cmd.Context(), g.dataDir)
			}
			if err == nil {
				err = workspace.WriteKubeconfig(args[0], file)
			}
			if err != nil && !errors.Is(err, control.ErrNotRunning) {
				return err
			}
			p.laidOut(args[0], layout, err == nil, g.dataDir)
			return nil
		},
	}
	operator.Flags().BoolVar(&force, "force", false, "add to a folder that is not empty; what is there stays as it is")
	operator.Flags().StringVar(&access, "kubeconfig", "", "kubeconfig that you downloaded, for a cluster of an apilab that runs elsewhere")
	cmd.AddCommand(operator)
	return cmd
}

// readKubeconfig reads a file that leads to a cluster; none without a name.
func readKubeconfig(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	if _, err := clientcmd.RESTConfigFromKubeConfig(file); err != nil {
		return nil, fmt.Errorf("%s leads to no cluster (%w): download the kubeconfig again, from the menu of your cluster", name, oneLine(err))
	}
	return file, nil
}

// laidOut tells what is in the folder now, and how to go on.
func (p *Program) laidOut(dir string, layout workspace.Layout, access bool, dataDir string) {
	fmt.Fprintf(p.Stdout, "wrote %s to %s\n", count(len(layout.Written), "file"), dir)
	for _, file := range layout.Kept {
		fmt.Fprintln(p.Stdout, "kept ", filepath.Join(dir, filepath.FromSlash(file)))
	}
	fmt.Fprintln(p.Stdout, "Next:")
	fmt.Fprintln(p.Stdout, "  cd "+dir)
	if !access {
		fmt.Fprintf(p.Stdout, "  apilab kubeconfig%s -o %s    # once apilab is running\n", datadir.Flag(dataDir), workspace.Kubeconfig)
	}
	fmt.Fprintf(p.Stdout, "  export KUBECONFIG=%s\n", filepath.Join("$PWD", workspace.Kubeconfig))
	fmt.Fprintln(p.Stdout, "  make install run")
}
