package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/apilab/apilab/cli/authoring"
)

func (p *Program) newCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Begin a lesson or an exercise of your own",
		Long: "Writes the files of a new lesson or exercise, which hold as they are: `apilab lint` finds no mistake in them and `apilab verify`\n" +
			"proves them. docs/authoring.md goes on from there.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return &usageError{fmt.Errorf("say what to begin: apilab new lesson TRACK/NAME, or apilab new exercise TRACK/NAME"), "apilab new"}
		},
	}
	var dir, lesson string
	newLesson := &cobra.Command{
		Use:   "lesson TRACK/NAME",
		Short: "Begin a lesson, and its track if that is new",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			written, err := authoring.Folder(dir).NewLesson(args[0])
			return p.begun(dir, written, err, "apilab preview "+dir, "apilab new exercise "+filepath.Dir(args[0])+"/NAME"+p.in(dir))
		},
	}
	newExercise := &cobra.Command{
		Use:   "exercise TRACK/NAME",
		Short: "Begin an exercise, with its card in a lesson",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			written, err := authoring.Folder(dir).NewExercise(args[0], lesson)
			return p.begun(dir, written, err, "apilab preview "+dir, "apilab verify --content "+dir+" "+args[0])
		},
	}
	newExercise.Flags().StringVar(&lesson, "lesson", "", "lesson that shows it, TRACK/NAME (default: the last one of its track)")
	for _, sub := range []*cobra.Command{newLesson, newExercise} {
		sub.Flags().StringVar(&dir, "content", ".", "folder with content/ and exercises/, which are made if they are not there")
		cmd.AddCommand(sub)
	}
	return cmd
}

func (p *Program) in(dir string) string {
	if dir == "." {
		return ""
	}
	return " --content " + dir
}

// begun tells what was written, also where that ended in an error, and what to do next.
func (p *Program) begun(dir string, written []string, err error, next ...string) error {
	for _, file := range written {
		fmt.Fprintln(p.Stdout, "wrote", file)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(p.Stdout, "Next:")
	for _, command := range next {
		fmt.Fprintln(p.Stdout, "  "+command)
	}
	return nil
}
