// Package exercises holds the tasks: the embedded YAML specs and the package that loads and validates them. It knows
// the format and CEL's syntax, and nothing of clusters. docs/exercise-format.md is the reference for authors.
package exercises

import (
	"time"

	"github.com/apilab/apilab/exercises/expr"
)

// An Exercise asks for one idea. Its ID is its path without ".yaml", e.g. "api-machinery/find-resource-version".
type Exercise struct {
	ID       string   `json:"-"`
	Title    string   `json:"title"`
	Needs    []string `json:"needs,omitempty"`    // IDs of exercises that come before: an order for the learner, not a lock
	Cluster  Cluster  `json:"cluster,omitempty"`  // what kind of cluster it wants
	Setup    string   `json:"setup,omitempty"`    // shell, run by the platform at opening and on reset; idempotent
	Reset    string   `json:"reset,omitempty"`    // shell, run by the platform before Setup on reset: removes what the learner made
	Backdrop string   `json:"backdrop,omitempty"` // name of a setup and controllers that exercises of the track share, see Backdrop
	// Controllers are simulated while the exercise is open. With a backdrop, Load puts its own before these, and its setup
	// before Setup.
	Controllers []Controller `json:"controllers,omitempty"`
	Task        string       `json:"task"` // Markdown
	Checks      []Check      `json:"checks"`
	Solution    string       `json:"solution"` // shell, as a learner would type it
	// Program is a command line that runs on the machine of verification beside the solution, as a learner's own controller
	// would: its first word is a file in the folder that "apilab verify --programs" names, and KUBECONFIG leads to the cluster.
	Program string `json:"program,omitempty"`
	// Answers are what a right learner types or picks, by check ID, for checks of kind answer and choice. A value that
	// begins with "$(" is run in the shell at verification and its trimmed output is the answer.
	Answers map[string]string `json:"answers,omitempty"`
	Wrong   []Wrong           `json:"wrong"` // plausible wrong answers; at least one

	backdrop     *Backdrop
	backdropLine int
}

// Cluster says what an exercise needs of its cluster.
type Cluster struct {
	Backend string `json:"backend,omitempty"` // any (default), embedded, kind
	Nodes   string `json:"nodes,omitempty"`   // real: containers must run; simulated (default): it does without
}

// Wants returns the one backend that the exercise can be done on, "" where it can be done on any.
func (c Cluster) Wants() string {
	switch {
	case c.Backend != "" && c.Backend != "any":
		return c.Backend
	case c.Nodes == "real":
		return "kind"
	}
	return ""
}

// A Check is one thing that must be so. Exactly one of its kinds is set.
type Check struct {
	ID    string   `json:"id"`
	Says  string   `json:"says"`            // one line for the learner, true when the check passes
	Needs []string `json:"needs,omitempty"` // IDs of checks of this exercise that must pass first; until then it is waiting
	// Mode is once by default, but holds for object and objects that no other check needs. Load fills it in.
	Mode Mode `json:"mode,omitempty"`

	Object  *ObjectRef  `json:"object,omitempty"`
	Objects *ObjectsRef `json:"objects,omitempty"`
	History *HistoryRef `json:"history,omitempty"`
	Request *RequestRef `json:"request,omitempty"`
	Answer  *Answer     `json:"answer,omitempty"`
	Choice  *Choice     `json:"choice,omitempty"`
	Probe   *Probe      `json:"probe,omitempty"`

	// Expect is a CEL expression of type bool over the variables of the kind: object, old; objects; versions, deletions,
	// events; request (and requests); answer; result. Of choice it is absent.
	Expect string `json:"expect,omitempty"`
	Hints  []Hint `json:"hints,omitempty"`

	expect *expr.Expression // of Expect; nil where there is none
}

// A Mode says whether a check that passed stays so.
type Mode string

// The modes.
const (
	Once  Mode = "once"  // stays passing
	Holds Mode = "holds" // passing while it is true
)

// A Hint is told when its CEL condition holds while the check does not pass; without a condition it is told when the
// learner asks.
type Hint struct {
	When string `json:"when,omitempty"`
	Say  string `json:"say"`

	when *expr.Expression // of When; nil where there is none
}

// ObjectRef names one object.
type ObjectRef struct {
	Resource  string `json:"resource"` // plural, with group where it is not core: "deployments.apps"
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// ObjectsRef names a set of objects.
type ObjectsRef struct {
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"` // empty: all
	Name      string `json:"name,omitempty"`      // empty: all
	Selector  string `json:"selector,omitempty"`  // label selector
	// With lists of further resources, as variables by their key: {pods: {resource: pods, namespace: api-lab}}.
	With map[string]ObjectsRef `json:"with,omitempty"`
}

// HistoryRef names the objects whose versions are remembered from the opening of the exercise on. Its variables:
// versions (list of objects, oldest first), deletions (list of last versions), events ([{type, object}]).
type HistoryRef struct {
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"` // empty: all
}

// RequestRef narrows the learner's requests that a check looks at; Expect decides on each. All set fields must match.
type RequestRef struct {
	Verb        string `json:"verb,omitempty"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource,omitempty"` // "*": any; empty: none
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name,omitempty"`
	Path        string `json:"path,omitempty"` // exact, for non-resource paths
}

// Answer asks the learner to type something. Expect sees answer (string, trimmed), by With live objects, and requests,
// the learner's requests since the exercise was opened.
type Answer struct {
	Prompt      string                `json:"prompt"`
	Placeholder string                `json:"placeholder,omitempty"`
	With        map[string]ObjectsRef `json:"with,omitempty"`
}

// Choice asks the learner to pick. Exactly one option is right; each other says why it is not.
type Choice struct {
	Prompt  string   `json:"prompt"`
	Options []Option `json:"options"`
}

// An Option of a Choice.
type Option struct {
	ID    string `json:"id"`
	Text  string `json:"text"`            // Markdown, inline
	Right bool   `json:"right,omitempty"` // exactly one
	Why   string `json:"why"`             // said when it is picked
}

// A Probe is a list of steps that the platform takes, again when one of the watched objects changes. Expect sees
// result: a list with, per step, {ok, code, reason, message, object}.
type Probe struct {
	After []ObjectsRef `json:"after,omitempty"` // probe only once objects of each exist, and again when they change
	Steps []Step       `json:"steps"`
}

// A Step of a Probe: one verb.
type Step struct {
	Create  map[string]any `json:"create,omitempty"`
	Apply   map[string]any `json:"apply,omitempty"` // server-side, forced, field manager "apilab-probe"
	Patch   *PatchStep     `json:"patch,omitempty"`
	Delete  *ObjectRef     `json:"delete,omitempty"`
	Wait    *WaitStep      `json:"wait,omitempty"`
	Observe *ObserveStep   `json:"observe,omitempty"`
	DryRun  bool           `json:"dryRun,omitempty"`
	Refused bool           `json:"refused,omitempty"` // the step must be refused by the server; without it, it must succeed
}

// PatchStep patches an object.
type PatchStep struct {
	ObjectRef
	Subresource string `json:"subresource,omitempty"`
	Type        string `json:"type,omitempty"` // merge (default), json, strategic
	Body        any    `json:"body"`
}

// WaitStep waits until Expect holds of the object, at most Within.
type WaitStep struct {
	ObjectRef
	Expect string        `json:"expect"`
	Within time.Duration `json:"within,omitempty"` // default 10 s, at most 60 s; written "5s"

	expect *expr.Expression // of Expect
}

// ObserveStep lets a time pass and then lists the learner's requests since the probe began, or since the observe before.
type ObserveStep struct {
	For time.Duration `json:"for"` // at most 60 s; written "5s"
}

// Wrong is a plausible wrong answer: after Run, with Program running, the checks in Stays must not pass.
type Wrong struct {
	Name    string            `json:"name"`
	Run     string            `json:"run,omitempty"`
	Program string            `json:"program,omitempty"` // runs beside it, as the exercise's does beside the solution
	Answers map[string]string `json:"answers,omitempty"`
	Stays   []string          `json:"stays"`
}
