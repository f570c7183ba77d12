package exercises

import "github.com/apilab/apilab/exercises/expr"

// Kind returns which kind of check c is: object, objects, history, request, answer, choice or probe.
func (c *Check) Kind() string {
	if kinds := c.kinds(); len(kinds) > 0 {
		return kinds[0]
	}
	return ""
}

func (c *Check) kinds() []string {
	var set []string
	for _, kind := range []struct {
		name string
		set  bool
	}{
		{"object", c.Object != nil}, {"objects", c.Objects != nil}, {"history", c.History != nil},
		{"request", c.Request != nil}, {"answer", c.Answer != nil}, {"choice", c.Choice != nil}, {"probe", c.Probe != nil},
	} {
		if kind.set {
			set = append(set, kind.name)
		}
	}
	return set
}

// Expression returns Expect compiled, nil where there is none.
func (c *Check) Expression() *expr.Expression { return c.expect }

// Condition returns When compiled, nil where there is none.
func (h *Hint) Condition() *expr.Expression { return h.when }

// Expression returns Expect compiled.
func (w *WaitStep) Expression() *expr.Expression { return w.expect }

// With returns the further lists of resources that the check's expressions see, by the names of their variables.
func (c *Check) With() map[string]ObjectsRef {
	switch {
	case c.Objects != nil:
		return c.Objects.With
	case c.Answer != nil:
		return c.Answer.With
	}
	return nil
}

// RightOption returns the right option of a choice, nil if the check is none.
func (c *Check) RightOption() *Option {
	if c.Choice == nil {
		return nil
	}
	for i := range c.Choice.Options {
		if c.Choice.Options[i].Right {
			return &c.Choice.Options[i]
		}
	}
	return nil
}

// Check returns the check of that ID, nil if there is none.
func (e *Exercise) Check(id string) *Check {
	for i := range e.Checks {
		if e.Checks[i].ID == id {
			return &e.Checks[i]
		}
	}
	return nil
}

// fillModes gives each check without a mode its default: what other checks build on is a stage that was reached, and
// stays; the state of the cluster holds or does not; what the learner did, they did.
func (e *Exercise) fillModes() {
	needed := map[string]bool{}
	for _, c := range e.Checks {
		for _, id := range c.Needs {
			needed[id] = true
		}
	}
	for i := range e.Checks {
		c := &e.Checks[i]
		switch {
		case c.Mode != "":
		case (c.Object != nil || c.Objects != nil) && !needed[c.ID]:
			c.Mode = Holds
		default:
			c.Mode = Once
		}
	}
}
