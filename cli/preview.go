package cli

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/apilab/apilab/cli/datadir"
)

func (p *Program) previewCommand(g *global) *cobra.Command {
	o := serveOptions{global: g, shell: "sandboxed", preview: true}
	cmd := &cobra.Command{
		Use:   "preview [DIR]",
		Short: "See lessons of your own while you write them",
		Long: "Serves the folder's content/ and exercises/ as learners will see them; pages load themselves again whenever a file changes, and\n" +
			"say what is wrong with it. A preview has progress and a cluster of its own, kept for the folder's next preview, apart from your own\n" +
			"learning.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.content = "."
			if len(args) == 1 {
				o.content = args[0]
			}
			if _, _, err := sources(o.content); err != nil {
				return fmt.Errorf("%w; `apilab new lesson` makes both", err)
			}
			dir, err := previewDir(g.dataDir, o.content)
			if err != nil {
				return err
			}
			own := *g
			own.dataDir = dir
			o.global = &own
			if err := p.lintDir(o.content); err != nil && !errors.Is(err, errReported) {
				return err
			}
			return p.serve(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.port, "port", 0, "port of the pages on 127.0.0.1 (default: that of last time, else 8484, else any free one)")
	o.backends.add(flags)
	flags.BoolVar(&o.noOpen, "no-open", false, "do not open the browser")
	return cmd
}

// previewDir is the data directory of a folder's previews: one for each folder, in that of the learner.
func previewDir(dataDir, folder string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	if dataDir == "" {
		if dataDir, err = datadir.Default(); err != nil {
			return "", err
		}
	}
	sum := sha256.Sum256([]byte(folder))
	return filepath.Join(dataDir, "previews", fmt.Sprintf("%s-%x", cmp.Or(filepath.Base(folder), "root"), sum[:4])), nil
}
