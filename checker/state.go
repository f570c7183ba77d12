package checker

import "time"

// CheckState is where one check stands.
type CheckState string

// The states of a check.
const (
	Waiting CheckState = "waiting" // not open yet, or needs other checks first
	Failing CheckState = "failing" // not there yet; Why says what is missing
	Passing CheckState = "passing"
	Broken  CheckState = "broken" // the check itself failed; not the learner's doing
)

// ExerciseState is what the page draws of one exercise; a full snapshot each time.
type ExerciseState struct {
	ID       string        `json:"id"`
	Phase    ExercisePhase `json:"phase"`
	Error    string        `json:"error,omitempty"` // of a setup that failed
	Checks   []CheckStatus `json:"checks"`
	PassedAt *time.Time    `json:"passedAt,omitempty"` // first time that all checks passed; never taken back but by reset
	Solution bool          `json:"solution"`           // the solution was revealed
}

// ExercisePhase is where an exercise stands.
type ExercisePhase string

// The phases of an exercise.
const (
	Closed    ExercisePhase = "closed"
	Preparing ExercisePhase = "preparing" // setup or reset is running
	Open      ExercisePhase = "open"
	Error     ExercisePhase = "error" // setup failed, Error says why; reset tries again
)

// CheckStatus is what the page draws of one check.
type CheckStatus struct {
	ID    string     `json:"id"`
	Says  string     `json:"says"`
	Kind  string     `json:"kind"` // object, objects, history, request, answer, choice, probe
	State CheckState `json:"state"`
	Since time.Time  `json:"since"`
	// Why not yet, in one or two plain sentences with the field and the value seen; of broken, what broke.
	Why string `json:"why,omitempty"`
	// Field and Saw are the operands that decided, when the engine derived Why: "object.spec.replicas", "2".
	Field string `json:"field,omitempty"`
	Saw   string `json:"saw,omitempty"`
	// By is what satisfied a passing check.
	By *Evidence `json:"by,omitempty"`
	// Hints told so far, and how many more may be asked for.
	Hints     []string `json:"hints,omitempty"`
	HintsLeft int      `json:"hintsLeft"`
	// Answered is the learner's last answer or pick.
	Answered string `json:"answered,omitempty"`
	// Revision orders the states of one check.
	Revision uint64 `json:"revision"`
}

// Evidence is what satisfied a check.
type Evidence struct {
	Resource        string `json:"resource,omitempty"`
	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Request         string `json:"request,omitempty"` // "GET /api/v1/…"
	Text            string `json:"text,omitempty"`
}
