package checker

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
)

// opened is an exercise that is open. It belongs to the session's loop.
type opened struct {
	session *Session
	spec    *exercises.Exercise
	saved   Saved // passes, answers and hints are kept in the checks, see save
	phase   ExercisePhase
	err     string
	checks  []*check
	dirty   bool

	prepared chan struct{}      // closed when the preparation under way has ended
	stop     context.CancelFunc // of that preparation
	since    uint64             // ID of the last request before it was open
}

// A check of an open exercise.
type check struct {
	spec     *exercises.Check
	judge    judge
	stores   []*store
	status   CheckStatus // of it: state, since, why, field, saw, by, revision
	hints    []string    // those that may be asked for
	told     int         // how many were
	answered string
}

func newOpened(s *Session, exercise *exercises.Exercise, saved Saved) *opened {
	o := &opened{session: s, spec: exercise, saved: saved, phase: Preparing, dirty: true}
	for i := range exercise.Checks {
		o.checks = append(o.checks, newCheck(o, &exercise.Checks[i]))
	}
	return o
}

func newCheck(o *opened, spec *exercises.Check) *check {
	c := &check{spec: spec, answered: o.saved.Answers[spec.ID]}
	for _, hint := range spec.Hints {
		if hint.Condition() == nil {
			c.hints = append(c.hints, hint.Say)
		}
	}
	c.told = min(o.saved.Hints[spec.ID], len(c.hints))
	c.status = CheckStatus{ID: spec.ID, Says: spec.Says, Kind: spec.Kind(), State: Waiting, Since: time.Now(), Revision: 1}
	if pass, ok := o.saved.Passed[spec.ID]; ok && spec.Mode == exercises.Once {
		c.status.State, c.status.Since, c.status.By = Passing, pass.Since, pass.By
	}
	return c
}

// forget takes all progress back; that hints and solution were seen stays.
func (o *opened) forget() {
	o.saved.Passed, o.saved.Answers, o.saved.PassedAt = nil, nil, nil
	for _, c := range o.checks {
		c.answered = ""
		c.set(o, verdict{state: Waiting})
	}
}

// save returns what is to be kept.
func (o *opened) save() Saved {
	saved := o.saved
	saved.Passed, saved.Answers, saved.Hints = map[string]Pass{}, map[string]string{}, map[string]int{}
	for _, c := range o.checks {
		if c.spec.Mode == exercises.Once && c.status.State == Passing {
			saved.Passed[c.spec.ID] = Pass{Since: c.status.Since, By: c.status.By}
		}
		if c.answered != "" {
			saved.Answers[c.spec.ID] = c.answered
		}
		if c.told > 0 {
			saved.Hints[c.spec.ID] = c.told
		}
	}
	return saved
}

func (o *opened) snapshot() snapshot {
	state := ExerciseState{ID: o.spec.ID, Phase: o.phase, Error: o.err, PassedAt: o.saved.PassedAt, Solution: o.saved.Solution}
	for _, c := range o.checks {
		status := c.status
		status.Hints = c.hints[:c.told:c.told]
		status.HintsLeft = len(c.hints) - c.told
		status.Answered = c.answered
		state.Checks = append(state.Checks, status)
	}
	return snapshot{state: state, saved: o.save()}
}

// touch marks a check as changed.
func (c *check) touch(o *opened) {
	c.status.Revision++
	o.dirty = true
}

// set takes a verdict; it reports whether the check's state changed.
func (c *check) set(o *opened, v verdict) bool {
	status := c.status
	if v.state != status.State {
		status.State, status.Since = v.state, time.Now()
	}
	if v.state == Passing && c.status.State == Passing {
		return false // by what satisfied it first
	}
	status.Why, status.Field, status.Saw, status.By = v.why, v.field, v.saw, v.by
	if status.State == c.status.State && status.Why == c.status.Why && status.Saw == c.status.Saw {
		return false
	}
	changed := status.State != c.status.State
	c.status = status
	c.touch(o)
	return changed
}

// prepare runs the scripts of an exercise and starts its watches; a preparation under way is given up. Called by the loop.
func (s *Session) prepare(o *opened, reset bool) {
	s.release(o)
	if o.stop != nil {
		o.stop()
	}
	ctx, cancel := context.WithCancel(s.ctx)
	o.stop = cancel
	prepared := make(chan struct{})
	if o.phase != Preparing || o.prepared == nil {
		o.prepared = prepared
	} else { // who waits for the former one waits on
		former := o.prepared
		o.prepared = prepared
		defer close(former)
	}
	o.phase, o.err, o.dirty = Preparing, "", true
	cluster := o.saved.Cluster
	s.task(func(context.Context) {
		defer cancel()
		uid, err := s.prepareScripts(ctx, o.spec, cluster, reset)
		s.queue.push(func() {
			if o.prepared != prepared || s.open[o.spec.ID] != o {
				return // another one has taken over
			}
			if err != nil {
				o.fail(err)
				return
			}
			o.saved.Cluster = uid
			s.start(o)
		})
	})
}

func (o *opened) fail(err error) {
	o.phase, o.err, o.dirty = Error, err.Error(), true
	close(o.prepared)
}

// prepareScripts runs reset and setup, one exercise at a time, and returns the UID of the cluster that they ran in.
func (s *Session) prepareScripts(ctx context.Context, e *exercises.Exercise, cluster string, reset bool) (string, error) {
	select {
	case s.setups <- struct{}{}:
		defer func() { <-s.setups }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	uid := s.clusterUID(ctx)
	if !reset && uid != "" && uid == cluster {
		return uid, nil
	}
	if reset {
		if err := s.script(ctx, "reset", e.Reset); err != nil {
			return "", err
		}
	}
	return uid, s.script(ctx, "setup", e.Setup)
}

// maxScript bounds a setup or reset.
const maxScript = 2 * time.Minute

func (s *Session) script(ctx context.Context, name, script string) error {
	if strings.TrimSpace(script) == "" {
		return nil
	}
	if s.run == nil {
		return fmt.Errorf("the %s cannot run: there is no shell", name)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxScript, fmt.Errorf("it took longer than %s", maxScript))
	defer cancel()
	output, err := s.run(ctx, Platform, script)
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if last := lastLine(output); last != "" {
		return fmt.Errorf("the %s failed: %w: %s", name, err, last)
	}
	return fmt.Errorf("the %s failed: %w", name, err)
}

func lastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// start makes the judges and follows what they judge, and opens the exercise once all that is known. So nothing of the
// setup is taken for the learner's doing, and no check is judged on half of the state.
func (s *Session) start(o *opened) {
	var fresh, followed []*store
	for _, c := range o.checks {
		c.judge = newJudge(s, o, c)
		for _, scope := range c.judge.scopes() {
			st, isNew := s.acquire(scope)
			c.stores = append(c.stores, st)
			if isNew {
				fresh = append(fresh, st)
			} else {
				followed = append(followed, st)
			}
		}
	}
	prepared := o.prepared
	s.task(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, settleFor)
		defer cancel()
		if err := s.settle(ctx, fresh, followed); err != nil {
			s.logger.Debug("opened before its state was known", "exercise", o.spec.ID, "error", err)
		}
		s.queue.push(func() {
			if o.prepared == prepared && s.open[o.spec.ID] == o {
				s.begin(o)
			}
		})
	})
}

// settleFor bounds how long an exercise waits for the first list; it opens without, and is judged when that comes.
const settleFor = 10 * time.Second

func (s *Session) begin(o *opened) {
	o.phase, o.dirty = Open, true
	o.since = s.requests.last()
	for _, c := range o.checks {
		c.judge.begin()
		if a, ok := c.judge.(answerable); ok && c.answered != "" {
			_ = a.answer(c.answered) // one that is no option any more was not given
		}
	}
	for _, c := range o.checks {
		s.evaluate(o, c)
	}
	close(o.prepared)
}

// release gives up the stores of an exercise's checks.
func (s *Session) release(o *opened) {
	for _, c := range o.checks {
		for _, st := range c.stores {
			s.releaseStore(st)
		}
		c.stores = nil
		if ending, ok := c.judge.(interface{ end() }); ok {
			ending.end()
		}
		c.judge = nil
	}
}

// drop ends an exercise.
func (s *Session) drop(o *opened) {
	s.release(o)
	if o.stop != nil {
		o.stop()
	}
	if o.phase == Preparing {
		close(o.prepared)
	}
}

// evaluate judges a check, and those that need it when it changed. Called by the loop.
func (s *Session) evaluate(o *opened, c *check) {
	if o.phase != Open || c.spec.Mode == exercises.Once && c.status.State == Passing {
		return
	}
	v := s.verdict(o, c)
	if v.pending {
		return
	}
	if !c.set(o, v) {
		return
	}
	for _, other := range o.checks {
		for _, need := range other.spec.Needs {
			if need == c.spec.ID {
				s.evaluate(o, other)
			}
		}
	}
	s.passed(o)
}

func (s *Session) verdict(o *opened, c *check) verdict {
	for _, need := range c.spec.Needs {
		_, needed, err := s.lookup(o.spec.ID, need)
		if err == nil && needed.status.State != Passing {
			return verdict{state: Waiting, why: fmt.Sprintf("comes after “%s”", needed.spec.Says)}
		}
	}
	unknown := ""
	for _, st := range c.stores {
		switch st.state {
		case watch.Syncing:
			return verdict{pending: true}
		case watch.Forbidden:
			return verdict{state: Broken, why: fmt.Sprintf("the platform may not read %s: %v", st.scope, st.err)}
		case watch.Unknown:
			err, ok := st.err.(*watch.UnknownResourceError)
			if !ok || !err.Creatable() {
				return verdict{state: Broken, why: fmt.Sprint(st.err)}
			}
			unknown = fmt.Sprintf("the API server has no resource %q yet", st.scope.Resource)
		}
	}
	v := c.judge.verdict()
	if v.state == Failing && unknown != "" && !v.hinted {
		v.why, v.field, v.saw = unknown, "", ""
	}
	return v
}

// passed notes when all checks pass for the first time.
func (s *Session) passed(o *opened) {
	if o.saved.PassedAt != nil {
		return
	}
	for _, c := range o.checks {
		if c.status.State != Passing {
			return
		}
	}
	now := time.Now()
	o.saved.PassedAt = &now
	o.dirty = true
}
