package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/apilab/apilab/content"
	"github.com/apilab/apilab/exercises"
)

func (p *Program) lintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lint [DIR]",
		Short: "Check lessons and exercises for mistakes",
		Long:  "Reads content/ and exercises/ in a folder, by default those in the binary, and prints each mistake as FILE:LINE: MESSAGE.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := ""
			if len(args) == 1 {
				dir = args[0]
			}
			return p.lintDir(dir)
		},
	}
}

// lintDir prints the mistakes in a folder, or in the binary if it is empty.
func (p *Program) lintDir(dir string) error {
	lessons, tasks, err := sources(dir)
	if err != nil {
		return err
	}
	return p.lint(lessons, tasks, filepath.ToSlash(dir))
}

// sources are the lessons and exercises in a folder, or those in the binary.
func sources(dir string) (lessons, tasks fs.FS, err error) {
	if dir == "" {
		return content.Embedded(), exercises.Embedded(), nil
	}
	for _, room := range []string{"content", "exercises"} {
		if info, err := os.Stat(filepath.Join(dir, room)); err != nil || !info.IsDir() {
			return nil, nil, fmt.Errorf("%s has no folder %s: give the folder that holds content/ and exercises/", dir, room)
		}
	}
	return os.DirFS(filepath.Join(dir, "content")), os.DirFS(filepath.Join(dir, "exercises")), nil
}

func (p *Program) lint(lessons, tasks fs.FS, dir string) error {
	curriculum, wrongLessons := content.Load(lessons)
	set, wrongTasks := exercises.Load(tasks)
	ids := make([]string, 0, len(set.All()))
	for _, e := range set.All() {
		ids = append(ids, e.ID)
	}
	// An exercise with a mistake of its own is left out of the set; that a lesson names it is no second mistake.
	if len(wrongTasks) == 0 {
		wrongLessons = append(wrongLessons, curriculum.Lint(ids)...)
	}
	for _, problem := range wrongTasks {
		problem.File = path.Join(dir, "exercises", problem.File)
		fmt.Fprintln(p.Stdout, problem)
	}
	for _, problem := range wrongLessons {
		problem.File = path.Join(dir, "content", problem.File)
		fmt.Fprintln(p.Stdout, problem)
	}
	warnings := curriculum.Durations(func(id string) float64 {
		e, _ := set.Get(id)
		return minutes(e)
	})
	for _, w := range warnings {
		w.File, w.Message = path.Join(dir, "content", w.File), "warning: "+w.Message
		fmt.Fprintln(p.Stdout, w)
	}
	warned := ""
	if len(warnings) > 0 {
		warned = ", " + count(len(warnings), "warning")
	}
	n := 0
	for _, track := range curriculum.Tracks {
		n += len(track.Lessons)
	}
	if problems := len(wrongTasks) + len(wrongLessons); problems > 0 {
		fmt.Fprintf(p.Stderr, "%s, %s: %s%s\n", count(n, "lesson"), count(len(ids), "exercise"), count(problems, "problem"), warned)
		return errReported
	}
	fmt.Fprintf(p.Stdout, "%s, %s: no problem%s\n", count(n, "lesson"), count(len(ids), "exercise"), warned)
	return nil
}

// minutes is what an exercise takes, as an estimate; one that a program of the learner's has to pass is more than typing.
func minutes(e *exercises.Exercise) float64 {
	if e == nil {
		return 0
	}
	took := 1.5 * float64(len(e.Checks))
	if e.Program != "" {
		took += 10
	}
	return took
}
