package exercises

import (
	"time"

	"github.com/apilab/apilab/exercises/expr"
)

// A Controller is simulated: it runs beside the cluster while its exercise is open. For each of its primary objects it is
// driven by the level and not by events: the first of its stages that fits says how things should be.
type Controller struct {
	Name string `json:"name"` // its field manager, user agent and the source of its events; several may have one, as they have in one process
	Says string `json:"says"` // one sentence for the learner: what is simulated

	For       string                `json:"for"`                 // resource of the primary objects, "virtualmachines.kubevirt.io"
	Namespace string                `json:"namespace,omitempty"` // empty: all
	Selector  string                `json:"selector,omitempty"`  // label selector
	Owns      map[string]string     `json:"owns,omitempty"`      // variables of what a primary owns: name → resource
	With      map[string]ObjectsRef `json:"with,omitempty"`      // variables of further objects
	Stages    []Stage               `json:"stages"`
}

// A Stage is a state that a controller brings about: it acts where that differs from what is there. Its expressions and
// templates see object, now, and the variables of Owns and With.
type Stage struct {
	Name     string        `json:"name"`
	When     string        `json:"when,omitempty"`     // CEL; empty: always
	Deleting bool          `json:"deleting,omitempty"` // it is for objects that are marked for deletion, others are for those that are not
	Delay    time.Duration `json:"delay,omitempty"`    // from when something differs; at most 60 s

	Finalizers *FinalizersAct `json:"finalizers,omitempty"`
	Apply      []ApplyAct     `json:"apply,omitempty"`
	Delete     []DeleteAct    `json:"delete,omitempty"`
	Patch      map[string]any `json:"patch,omitempty"`  // template, merged into the primary
	Status     map[string]any `json:"status,omitempty"` // template, merged into the primary's status; conditions by their type
	Event      *EventAct      `json:"event,omitempty"`  // on the primary, once when it comes into the stage and acts

	when          *expr.Expression
	patch, status *expr.Template
}

// FinalizersAct adds and removes finalizers of the primary; it removes after all other acts.
type FinalizersAct struct {
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

// ApplyAct applies an object server-side, by force.
type ApplyAct struct {
	Each     string `json:"each,omitempty"`  // CEL, a list: one object for each element, which is the variable each
	When     string `json:"when,omitempty"`  // CEL; empty: always
	Manifest any    `json:"manifest"`        // template, or a list of them, merged one over the other
	Owner    *bool  `json:"owner,omitempty"` // false: the primary does not become the controlling owner

	each, when *expr.Expression
	manifests  []*expr.Template
}

// DeleteAct deletes objects of a variable of Owns or With.
type DeleteAct struct {
	From string `json:"from"`
	When string `json:"when,omitempty"` // CEL over each, one of the objects; empty: all

	when *expr.Expression
}

// EventAct records an event on the primary. Reason and Message are templates.
type EventAct struct {
	Type    string `json:"type,omitempty"` // Normal (default), Warning
	Reason  string `json:"reason"`
	Message string `json:"message"`

	reason, message *expr.Template
}

// Variables returns the names of the lists that the controller's expressions see.
func (c *Controller) Variables() []string {
	var names []string
	for name := range c.Owns {
		names = append(names, name)
	}
	for name := range c.With {
		names = append(names, name)
	}
	return names
}

// Condition returns When compiled, nil where there is none.
func (s *Stage) Condition() *expr.Expression { return s.when }

// PatchTemplate returns Patch compiled, nil where there is none.
func (s *Stage) PatchTemplate() *expr.Template { return s.patch }

// StatusTemplate returns Status compiled, nil where there is none.
func (s *Stage) StatusTemplate() *expr.Template { return s.status }

// Elements returns Each compiled, nil where there is none.
func (a *ApplyAct) Elements() *expr.Expression { return a.each }

// Condition returns When compiled, nil where there is none.
func (a *ApplyAct) Condition() *expr.Expression { return a.when }

// Manifests returns Manifest compiled: the later are merged over the earlier.
func (a *ApplyAct) Manifests() []*expr.Template { return a.manifests }

// Owned reports whether the primary becomes the owner of what is applied.
func (a *ApplyAct) Owned() bool { return a.Owner == nil || *a.Owner }

// Condition returns When compiled, nil where there is none.
func (d *DeleteAct) Condition() *expr.Expression { return d.when }

// Templates returns Reason and Message compiled.
func (e *EventAct) Templates() (reason, message *expr.Template) { return e.reason, e.message }
