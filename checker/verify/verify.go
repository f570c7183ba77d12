// Package verify proves exercises and transcripts: an exercise is red before anything was done, red on each plausible
// wrong answer, green on its solution and red again after a reset; a lesson's transcript prints what the lesson says. It
// knows nothing of how clusters are made: its caller gives it an Env.
package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/exercises"
)

// An Env makes labs. It is used by several goroutines when Plan.Parallel is greater than 1.
type Env interface {
	// Lab makes one, with a cluster as it is wanted; ErrUnsupported if there is no such one here.
	Lab(ctx context.Context, want exercises.Cluster) (*Lab, error)
}

// ErrUnsupported says that an Env has no such cluster; the exercise is skipped.
var ErrUnsupported = errors.New("no such cluster can be made here")

// A Lab is a cluster with a gateway before it and a shell beside it, in which nobody did anything that could be seen.
type Lab struct {
	Config  *rest.Config    // the platform's access
	Records checker.Records // of the learner's requests
	Run     checker.Runner
	// Type runs a script as the learner, in whose terminal what it left running in the background goes on until leave is called.
	Type func(ctx context.Context, script string) (output string, leave func(), err error)
	// Kubeconfig is the learner's access for programs outside of the shell, through the gateway.
	Kubeconfig []byte
	// Shared says that others use the cluster as well, so that nobody can tell what an exercise left in it.
	Shared bool
	// Env is what these programs find in their environment beside KUBECONFIG.
	Env   []string
	Close func(context.Context) error // gives all of it up
}

// maxScript bounds what a learner is to type at once.
const maxScript = 3 * time.Minute

// learn runs a script as the learner, who sees commands fail and goes on: that the script failed is a line of its output.
// The error is of one that did not end. What it left in the background ends with leave.
func (l *Lab) learn(ctx context.Context, script string) (output string, leave func(), err error) {
	limit, cancel := context.WithTimeout(ctx, maxScript)
	defer cancel()
	output, leave, failed := l.Type(limit, script)
	switch {
	case ctx.Err() != nil:
		return output, leave, ctx.Err()
	case limit.Err() != nil:
		return output, leave, fmt.Errorf("the script ran longer than %s, and printed so far\n%s", maxScript, indent(lastLines(output, 8), "  "))
	case failed != nil:
		output = strings.TrimRight(output, "\n") + "\n" + failed.Error()
	}
	return output, leave, nil
}

// A Plan is what to prove.
type Plan struct {
	Exercises []*exercises.Exercise
	Lessons   []Lesson
	Parallel  int    // labs at a time; 0 is 1
	Programs  string // folder of the programs that exercises name; empty: these exercises are skipped
	// Again proves what failed once more in the end, one at a time: a machine that is short of time makes proofs fail that
	// hold. Both attempts are in the report.
	Again  bool
	Within time.Duration // how long a solution may take to turn everything green after it has ended; 0 is 30 s
}

// A Lesson is the transcripts of one lesson, which run one after the other in one lab.
type Lesson struct {
	ID, File    string                 // "track/slug", and the file that lines are of
	Cluster     exercises.Cluster      // that it needs
	Setup       string                 // shell, run by the platform before the transcripts
	Controllers []exercises.Controller // simulated beside the transcripts
	Transcripts []Transcript
}

// A Transcript is commands and what they print.
type Transcript struct {
	Line  int
	Steps []Step
}

// A Step is one command. In Want "…" and "<anything>" stand for anything, and a line of just "…" for any number of lines.
type Step struct {
	Line    int
	Command string
	Want    string
}

// A Summary counts exercises, and lessons with transcripts.
type Summary struct {
	Passed, Failed, Skipped int
	Again                   int // of those that passed: at the second attempt
}

// maxUnit bounds one exercise or lesson, its lab included.
const maxUnit = 10 * time.Minute

// Run proves the plan and reports to out: a line for each exercise and lesson, in their order; under one that failed, what
// failed with the check, its expression and the values; last the line "N passed, N failed", and how many of them only at the
// second attempt. The error is ctx's, or that out cannot be written to; what failed is in the summary.
func Run(ctx context.Context, env Env, plan Plan, out io.Writer) (Summary, error) {
	var units []*unit
	for _, e := range plan.Exercises {
		units = append(units, newUnit(e.ID, func(ctx context.Context, u *unit) error { return proveExercise(ctx, env, plan, e, u) }))
	}
	for _, l := range plan.Lessons {
		if len(l.Transcripts) > 0 {
			units = append(units, newUnit("transcripts of "+l.ID, func(ctx context.Context, u *unit) error { return proveLesson(ctx, env, l, u) }))
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	summary, err := prove(ctx, cancel, units, max(1, plan.Parallel), out)
	if failed := failedOf(units); err == nil && plan.Again && len(failed) > 0 {
		if _, err = fmt.Fprintf(out, "again, one at a time:\n"); err != nil {
			return summary, fmt.Errorf("write the report: %w", err)
		}
		var again Summary
		again, err = prove(ctx, cancel, failed, 1, out)
		summary.Again = again.Passed
		summary.Passed, summary.Failed = summary.Passed+again.Passed, again.Failed
	}
	if err == nil {
		said := ""
		if summary.Again > 0 {
			said = fmt.Sprintf(" (%d at the second attempt)", summary.Again)
		}
		_, err = fmt.Fprintf(out, "%d passed%s, %d failed\n", summary.Passed, said, summary.Failed)
	}
	return summary, err
}

// failedOf returns the units that failed, to be proved anew.
func failedOf(units []*unit) []*unit {
	var failed []*unit
	for _, u := range units {
		if len(u.failures) > 0 {
			failed = append(failed, newUnit(u.name, u.prove))
		}
	}
	return failed
}

// prove proves the units and reports them in their order. cancel ends ctx.
func prove(ctx context.Context, cancel context.CancelFunc, units []*unit, parallel int, out io.Writer) (summary Summary, err error) {
	go start(ctx, units, parallel)
	for _, u := range units {
		<-u.done // also when it was cut short: its lab has to be gone
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			continue
		}
		summary.add(u)
		if _, err = u.report().WriteTo(out); err != nil {
			err = fmt.Errorf("write the report: %w", err)
			cancel()
		}
	}
	return summary, err
}

// start runs the units, a number of them at a time.
func start(ctx context.Context, units []*unit, parallel int) {
	slots := make(chan struct{}, parallel)
	for _, u := range units {
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			u.run(ctx)
		}()
	}
}

// A unit is one exercise or lesson under proof.
type unit struct {
	name     string
	prove    func(context.Context, *unit) error
	done     chan struct{}
	took     time.Duration
	failures []string // each of one or more lines
	skipped  string
}

func newUnit(name string, prove func(context.Context, *unit) error) *unit {
	return &unit{name: name, prove: prove, done: make(chan struct{})}
}

func (u *unit) run(ctx context.Context) {
	defer close(u.done)
	ctx, cancel := context.WithTimeoutCause(ctx, maxUnit, fmt.Errorf("it took longer than %s", maxUnit))
	defer cancel()
	start := time.Now()
	err := u.prove(ctx, u)
	u.took = time.Since(start)
	switch {
	case errors.Is(err, ErrUnsupported):
		u.skipped = err.Error()
	case err != nil && ctx.Err() != nil:
		u.fail("%v", context.Cause(ctx))
	case err != nil:
		u.fail("%v", err)
	}
}

func (u *unit) fail(format string, args ...any) {
	u.failures = append(u.failures, fmt.Sprintf(format, args...))
}

func (s *Summary) add(u *unit) {
	switch {
	case u.skipped != "":
		s.Skipped++
	case len(u.failures) > 0:
		s.Failed++
	default:
		s.Passed++
	}
}

func (u *unit) report() *bytes.Buffer {
	var b bytes.Buffer
	switch {
	case u.skipped != "":
		fmt.Fprintf(&b, "skip  %s: %s\n", u.name, u.skipped)
	case len(u.failures) == 0:
		fmt.Fprintf(&b, "ok    %s (%s)\n", u.name, u.took.Round(100*time.Millisecond))
	default:
		fmt.Fprintf(&b, "FAIL  %s (%s)\n", u.name, u.took.Round(100*time.Millisecond))
		for _, failure := range u.failures {
			b.WriteString(indent(failure, "      "))
		}
	}
	return &b
}
