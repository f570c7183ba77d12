package checker

import (
	"fmt"

	"github.com/apilab/apilab/checker/explain"
	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/exercises/expr"
)

// A judge evaluates one check of its kind. It lives from the end of a preparation to the next, in the session's loop.
type judge interface {
	// scopes returns what the check looks at in the cluster; the check's stores are of these, in this order.
	scopes() []watch.Scope
	// begin takes the state of the stores as what was there before the learner began.
	begin()
	// changed is told of each change in one of the stores, in order, and reports whether it may matter.
	changed(*store, change) bool
	// verdict judges what is known now.
	verdict() verdict
}

// A judge that is answerable takes what the learner types or picks.
type answerable interface {
	answer(value string) error // the error, if any, is ErrBadAnswer
}

// A verdict is what a judge has to say.
type verdict struct {
	state           CheckState
	pending         bool // nothing yet: the check stays as it is
	why, field, saw string
	hinted          bool // why is an author's hint
	by              *Evidence
}

func newJudge(s *Session, o *opened, c *check) judge {
	switch {
	case c.spec.Object != nil:
		return &objectJudge{check: c, ref: *c.spec.Object}
	case c.spec.Objects != nil:
		return newObjectsJudge(c)
	case c.spec.History != nil:
		return &historyJudge{check: c, ref: *c.spec.History}
	case c.spec.Request != nil:
		return &requestJudge{check: c, opened: o, requests: &s.requests, ref: *c.spec.Request}
	case c.spec.Answer != nil:
		return newAnswerJudge(s, o, c)
	case c.spec.Choice != nil:
		return &choiceJudge{check: c}
	default:
		return newProbeJudge(s, o, c)
	}
}

// decide evaluates the check's expectation; when it does not hold, it says why, by the first hint that fits or else by
// the expression itself.
func (c *check) decide(vars expr.Vars, subject explain.Subject, by func() *Evidence) verdict {
	x := c.spec.Expression()
	ok, err := x.Eval(vars)
	if ok && err == nil {
		return verdict{state: Passing, by: by()}
	}
	reason := explain.Why(x, vars, subject)
	if reason.Broken {
		return verdict{state: Broken, why: reason.Text, field: reason.Field, saw: reason.Saw}
	}
	if hint, ok := hintFor(c.spec, vars); ok {
		return verdict{state: Failing, why: hint, hinted: true}
	}
	return verdict{state: Failing, why: reason.Text, field: reason.Field, saw: reason.Saw}
}

// hintFor returns the first hint whose condition holds. A condition that cannot be evaluated, as one on a field that is
// not there, does not hold.
func hintFor(spec *exercises.Check, vars expr.Vars) (string, bool) {
	for i := range spec.Hints {
		if condition := spec.Hints[i].Condition(); condition != nil {
			if ok, err := condition.Eval(vars); ok && err == nil {
				return spec.Hints[i].Say, true
			}
		}
	}
	return "", false
}

// passing is a judgement that needs no expression.
func passing(text string) verdict {
	return verdict{state: Passing, by: &Evidence{Text: text}}
}

func failing(format string, args ...any) verdict {
	return verdict{state: Failing, why: fmt.Sprintf(format, args...)}
}
