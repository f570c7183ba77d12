package verify

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/exercises"
)

// quietFor is how long nothing may happen in what is watched until it counts as settled, and quietAtMost how long that is
// waited for: controllers go on for a while after a write.
const (
	quietFor    = 400 * time.Millisecond
	quietAtMost = 10 * time.Second
)

// A trial is one exercise in one lab.
type trial struct {
	*unit
	exercise *exercises.Exercise
	lab      *Lab
	session  *checker.Session
	within   time.Duration
	programs string        // folder of them
	program  *program      // running beside what is tried, nil if none does
	happened chan struct{} // holds a token when something happened
}

func proveExercise(ctx context.Context, env Env, plan Plan, e *exercises.Exercise, u *unit) (err error) {
	if plan.Programs == "" && needsPrograms(e) {
		return fmt.Errorf("%w: it needs a program beside it, and no folder of programs is named", ErrUnsupported)
	}
	lab, err := env.Lab(ctx, e.Cluster)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := lab.Close(ctx); err == nil {
			err = closeErr
		}
	}()
	t := &trial{unit: u, exercise: e, lab: lab, within: plan.Within, programs: plan.Programs, happened: make(chan struct{}, 1)}
	if t.within == 0 {
		t.within = 30 * time.Second
	}
	t.session = checker.NewSession(checker.Options{
		Learner: "verify", Config: lab.Config, Records: lab.Records, Run: lab.Run, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	defer t.session.Close()
	t.session.Subscribe(func(checker.ExerciseState) { t.stir() })
	t.session.SubscribeVersion(func(string) { t.stir() })
	return t.prove(ctx)
}

func (t *trial) stir() {
	select {
	case t.happened <- struct{}{}:
	default:
	}
}

// prove goes through the life of the exercise. It ends early only when the rest would say nothing.
func (t *trial) prove(ctx context.Context) error {
	if err := t.session.Open(ctx, t.exercise, checker.Saved{}); err != nil {
		return err
	}
	if err := t.nonePasses(ctx, "before anything was done"); err != nil {
		return err
	}
	opened, err := t.lab.list(ctx)
	if err != nil {
		return fmt.Errorf("look at what is there: %w", err)
	}
	for _, wrong := range t.exercise.Wrong {
		if err := t.beside(ctx, wrong.Program, func() error { return t.wrong(ctx, wrong) }); err != nil {
			return fmt.Errorf("wrong answer %q: %w", wrong.Name, err)
		}
		if err := t.session.Reset(ctx, t.exercise.ID); err != nil {
			return err
		}
		if err := t.nonePasses(ctx, fmt.Sprintf("after the wrong answer %q was reset", wrong.Name)); err != nil {
			return err
		}
	}
	if err := t.beside(ctx, t.exercise.Program, func() error { return t.solve(ctx) }); err != nil {
		return fmt.Errorf("solution: %w", err)
	}
	if err := t.session.Reset(ctx, t.exercise.ID); err != nil {
		return err
	}
	if err := t.nonePasses(ctx, "after the solution was reset"); err != nil {
		return err
	}
	return t.leavesNothing(ctx, opened)
}

// nonePasses waits until all is quiet, and wants every check waiting or failing.
func (t *trial) nonePasses(ctx context.Context, when string) error {
	if err := t.quiet(ctx); err != nil {
		return err
	}
	for _, c := range t.checks() {
		if c.State == checker.Passing || c.State == checker.Broken {
			t.failCheck(c, when)
		}
	}
	return nil
}

// wrong does what a learner might who got it wrong; the checks that the author named must not pass.
func (t *trial) wrong(ctx context.Context, wrong exercises.Wrong) error {
	output, leave, err := t.do(ctx, wrong.Run, wrong.Answers)
	defer leave()
	if err != nil {
		return err
	}
	if err := t.quiet(ctx); err != nil {
		return err
	}
	for _, c := range t.checks() {
		if c.State == checker.Broken || c.State == checker.Passing && slices.Contains(wrong.Stays, c.ID) {
			t.failCheck(c, fmt.Sprintf("after the wrong answer %q", wrong.Name))
			t.printed(&output)
		}
	}
	return nil
}

// solve does what the solution says; all checks must pass soon, and still when all is quiet.
func (t *trial) solve(ctx context.Context) error {
	answers := maps.Clone(t.exercise.Answers)
	if answers == nil {
		answers = map[string]string{}
	}
	for i := range t.exercise.Checks {
		if right := t.exercise.Checks[i].RightOption(); right != nil {
			answers[t.exercise.Checks[i].ID] = right.ID
		}
	}
	output, leave, err := t.do(ctx, t.exercise.Solution, answers)
	defer leave()
	if err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, t.within)
	defer cancel()
	for !t.allPass() {
		select {
		case <-t.happened:
			continue
		case <-limit.Done():
		}
		break
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// Also when the time is over: a probe under way comes to its end.
	if err := t.quiet(ctx); err != nil {
		return err
	}
	for _, c := range t.checks() {
		if c.State != checker.Passing {
			t.failCheck(c, "after the solution")
			t.printed(&output)
		}
	}
	return nil
}

// do runs a script as the learner, who goes on when a command fails, and then gives the answers. What the script left
// in the background ends with leave: checks are judged while it runs.
func (t *trial) do(ctx context.Context, script string, answers map[string]string) (output string, leave func(), err error) {
	leave = func() {}
	if strings.TrimSpace(script) != "" {
		if output, leave, err = t.lab.learn(ctx, script); err != nil {
			return output, leave, err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(answers)) {
		value := answers[id]
		if strings.HasPrefix(value, "$(") {
			printed, err := t.lab.Run(ctx, checker.Learner, "printf '%s\\n' \""+value+"\"")
			if err != nil {
				return output, leave, fmt.Errorf("find the answer to %s: %w: %s", id, err, strings.TrimSpace(printed))
			}
			value = strings.TrimSpace(printed)
		}
		if err := t.session.Answer(ctx, t.exercise.ID, id, value); err != nil {
			return output, leave, fmt.Errorf("answer %s: %w", id, err)
		}
	}
	return output, leave, nil
}

// quiet waits until the session has seen all that was done, and then until nothing more happens: no check changes, no
// watch brings anything, and no simulated controller has anything left to do.
func (t *trial) quiet(ctx context.Context) error {
	limit, cancel := context.WithTimeout(ctx, quietAtMost)
	defer cancel()
	if err := t.session.Settle(ctx); err != nil {
		return fmt.Errorf("wait until all is seen: %w", err)
	}
	timer := time.NewTimer(quietFor)
	defer timer.Stop()
	for {
		select {
		case <-t.happened:
			timer.Reset(quietFor)
		case <-timer.C:
			if !t.session.Simulating() {
				return nil
			}
			timer.Reset(quietFor)
		case <-limit.Done():
			return ctx.Err()
		}
	}
}

func (t *trial) checks() []checker.CheckStatus {
	state, _ := t.session.State(t.exercise.ID)
	return state.Checks
}

func (t *trial) allPass() bool {
	checks := t.checks()
	return len(checks) > 0 && !slices.ContainsFunc(checks, func(c checker.CheckStatus) bool { return c.State != checker.Passing })
}

// failCheck reports a check that is not as it should be: with its expression and what was seen.
func (t *trial) failCheck(c checker.CheckStatus, when string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: check %s is %s %s", t.exercise.ID, c.ID, c.State, when)
	if c.Why != "" {
		fmt.Fprintf(&b, ": %s", c.Why)
	}
	if spec := t.exercise.Check(c.ID); spec != nil && spec.Expect != "" {
		fmt.Fprintf(&b, "\n  expect  %s", strings.Join(strings.Fields(spec.Expect), " "))
	}
	if c.Field != "" {
		fmt.Fprintf(&b, "\n  saw     %s = %s", c.Field, c.Saw)
	}
	if c.By != nil {
		fmt.Fprintf(&b, "\n  by      %s", evidence(*c.By))
	}
	t.fail("%s", b.String())
}

// printed adds what a script printed to the report, once.
func (t *trial) printed(output *string) {
	if lines := lastLines(*output, 8); lines != "" {
		t.fail("  the script printed\n%s", indent(lines, "    "))
	}
	*output = ""
	if t.program == nil {
		return
	}
	if how, ended := t.program.exited(); ended {
		t.fail("  of the program: %s", how)
	}
	if lines := lastLines(t.program.output.String(), 8); lines != "" {
		t.fail("  the program printed\n%s", indent(lines, "    "))
	}
}

func evidence(e checker.Evidence) string {
	text := e.Text
	if text == "" {
		text = strings.TrimSpace(e.Resource + " " + e.Namespace + "/" + e.Name)
	}
	if e.ResourceVersion != "" {
		text += " at resourceVersion " + e.ResourceVersion
	}
	return text
}

// lastLines returns the last n lines of an output, long ones cut.
func lastLines(output string, n int) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for i, line := range lines {
		if runes := []rune(line); len(runes) > 160 {
			lines[i] = string(runes[:159]) + "…"
		}
	}
	if len(lines) > n {
		lines = append([]string{"…"}, lines[len(lines)-n:]...)
	}
	return strings.Join(lines, "\n")
}

// indent puts space before each line, and a newline after the last.
func indent(text, space string) string {
	return space + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+space) + "\n"
}
