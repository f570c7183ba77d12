package checker

import (
	"context"
	"time"

	"github.com/apilab/apilab/exercises"
)

// opened is an exercise that is open. It belongs to the session's loop.
type opened struct {
	spec   *exercises.Exercise
	saved  Saved // passes, answers and hints are kept in the checks, see save
	phase  ExercisePhase
	err    string
	checks []*check
	dirty  bool // changed since subscribers were told

	prepared chan struct{}      // closed when the preparation under way has ended
	stop     context.CancelFunc // of that preparation
	reset    bool               // it is of a reset
	span     span               // requests that count

	controllers []func()       // stop the simulated ones that run
	problems    map[int]string // of them, by their place in the exercise
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

func newOpened(exercise *exercises.Exercise, saved Saved) *opened {
	o := &opened{spec: exercise, saved: saved, phase: Preparing, dirty: true}
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
