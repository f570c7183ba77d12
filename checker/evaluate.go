package checker

import (
	"fmt"
	"time"

	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
)

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
	if problem := o.problem(); problem != "" {
		return verdict{state: Broken, why: problem}
	}
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
