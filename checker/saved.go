package checker

import (
	"maps"
	"time"
)

// Saved is what is kept of an exercise between sessions: the progress of a learner. It survives changes of the content:
// IDs that are gone are ignored.
type Saved struct {
	Passed   map[string]Pass   `json:"passed,omitempty"`   // checks of mode once that passed, by ID
	Answers  map[string]string `json:"answers,omitempty"`  // last answers and picks, by check ID
	Hints    map[string]int    `json:"hints,omitempty"`    // how many were asked for, by check ID
	PassedAt *time.Time        `json:"passedAt,omitempty"` // first time that all checks passed
	Solution bool              `json:"solution,omitempty"` // the solution was revealed
	// Cluster is the UID of the cluster in which the setup ran last: in that one it need not run again.
	Cluster string `json:"cluster,omitempty"`
}

// Pass is a check of mode once that passed.
type Pass struct {
	Since time.Time `json:"since"`
	By    *Evidence `json:"by,omitempty"`
}

func (s Saved) clone() Saved {
	s.Passed, s.Answers, s.Hints = maps.Clone(s.Passed), maps.Clone(s.Answers), maps.Clone(s.Hints)
	return s
}
