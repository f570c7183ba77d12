package cli

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/apilab/apilab/checker/verify"
	"github.com/apilab/apilab/content"
	"github.com/apilab/apilab/exercises"
)

func (p *Program) verifyCommand(g *global) *cobra.Command {
	var (
		dir, programs string
		parallel      int
		again         bool
		backend       backendFlags
	)
	cmd := &cobra.Command{
		Use:   "verify [ID ...]",
		Short: "Prove exercises and the transcripts of lessons on real clusters",
		Long: "Proves exercises and lessons, all or those with these IDs (track/name): every check is red at first, red on each wrong answer,\n" +
			"green on the solution, and red again after a reset, which leaves nothing behind; and each transcript prints what the lesson says.\n" +
			"Each has a cluster in which nothing is left of what others did. What needs another backend is skipped, and the report says so.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, ids []string) error {
			if err := backend.validate(); err != nil {
				return &usageError{err, "apilab verify"}
			}
			plan, err := p.plan(dir, ids)
			if err != nil {
				return err
			}
			if parallel == 0 {
				parallel = proofsAtATime(backend.provider)
			}
			plan.Parallel, plan.Programs, plan.Again = parallel, programs, again
			labs, err := p.newLabs(cmd.Context(), backend, g.logLevel)
			if err != nil {
				return err
			}
			summary, err := verify.Run(cmd.Context(), labs, plan, p.Stdout)
			if closing := labs.close(); err == nil {
				err = closing
			}
			if err == nil && summary.Failed > 0 {
				err = errReported
			}
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "content", "", "folder with content/ and exercises/ (default: those in the binary)")
	cmd.Flags().StringVar(&programs, "programs", "", "folder of programs that exercises run beside their solutions, as on the learner's own\nmachine; without it these exercises are skipped")
	cmd.Flags().BoolVar(&again, "again", false, "prove what failed once more in the end, one at a time; the report has both attempts")
	cmd.Flags().IntVar(&parallel, "parallel", 0, "proofs that run at a time, each with a cluster (default: four for each processor, 16 at most; on kind one for each)")
	backend.add(cmd.Flags())
	return cmd
}

// proofsAtATime is as many as keep the processors busy: most of the time a proof waits until all is quiet. Each takes the
// memory of a cluster.
func proofsAtATime(backend string) int {
	if backend == kindBackend {
		return runtime.NumCPU()
	}
	return min(4*runtime.NumCPU(), 16)
}

// plan chooses what to prove. Content with mistakes is not proved; what is named by its ID is, whatever else has mistakes.
func (p *Program) plan(dir string, ids []string) (verify.Plan, error) {
	lessons, tasks, err := sources(dir)
	if err != nil {
		return verify.Plan{}, err
	}
	curriculum, wrongLessons := content.Load(lessons)
	set, wrongTasks := exercises.Load(tasks)
	var mistaken error
	if n := len(wrongLessons) + len(wrongTasks); n > 0 {
		mistaken = fmt.Errorf("the content has %s: `%s` shows them", count(n, "problem"), strings.TrimSpace("apilab lint "+dir))
	}
	var plan verify.Plan
	if len(ids) == 0 {
		if mistaken != nil {
			return plan, mistaken
		}
		plan.Exercises = set.All()
		for _, track := range curriculum.Tracks {
			for _, lesson := range track.Lessons {
				plan.Lessons = append(plan.Lessons, transcripts(lesson, set))
			}
		}
		return plan, nil
	}
	for _, id := range ids {
		exercise, known := set.Get(id)
		lesson := curriculum.Lesson(id)
		switch {
		case known || lesson != nil:
		case mistaken != nil:
			return verify.Plan{}, fmt.Errorf("there is no exercise and no lesson %s that can be read; %w", id, mistaken)
		default:
			return verify.Plan{}, &usageError{fmt.Errorf("there is no exercise and no lesson %s", id), "apilab verify"}
		}
		if known {
			plan.Exercises = append(plan.Exercises, exercise)
		}
		if lesson != nil {
			plan.Lessons = append(plan.Lessons, transcripts(lesson, set))
		}
	}
	return plan, nil
}

// transcripts are those of a lesson, with what the exercises on its page bring to the learner's cluster: their backdrops and
// their simulated controllers.
func transcripts(l *content.Lesson, set *exercises.Set) verify.Lesson {
	lesson := verify.Lesson{ID: l.ID, File: l.Source, Cluster: exercises.Cluster{Backend: l.Backend}}
	var scenes []*exercises.Backdrop
	for _, id := range l.ExerciseIDs {
		exercise, ok := set.Get(id)
		if !ok {
			continue
		}
		lesson.Controllers = append(lesson.Controllers, exercise.Controllers...)
		if scene := exercise.Scene(); scene != nil && !slices.Contains(scenes, scene) {
			scenes = append(scenes, scene)
			lesson.Setup += scene.Setup + "\n"
		}
	}
	lesson.Setup += l.Setup
	for _, t := range l.Transcripts {
		transcript := verify.Transcript{Line: t.Line}
		for _, step := range t.Steps {
			transcript.Steps = append(transcript.Steps, verify.Step(step))
		}
		lesson.Transcripts = append(lesson.Transcripts, transcript)
	}
	return lesson
}
