package class

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/shell/posix"
)

// A task is an exercise of the curriculum that every learner does, in this order, on its lesson's page.
type task struct {
	lesson   string
	exercise string
	// written are the checks on objects that are as they should be with the learner's own write. Other ones wait for a
	// controller, whose time is not ours.
	written []string
}

// tasks ask for every kind of check: on requests and watches, objects, history, probes, and answers.
var tasks = []task{
	{"api-machinery/one-server-many-clients", "api-machinery/talk-to-the-api", nil},
	{"api-machinery/list-then-watch", "api-machinery/close-the-gap", nil},
	{"api-machinery/spec-and-status", "api-machinery/compare-spec-and-status", []string{"wished"}},
	{"api-machinery/owners-and-dependents", "api-machinery/leave-an-orphan", nil},
	{"api-machinery/finalizers", "api-machinery/hold-a-deletion", []string{"held", "progress"}},
	{"crds-and-operators/anatomy-of-a-crd", "crds-and-operators/split-off-the-status", nil},
	{"crds-and-operators/validation-with-cel", "crds-and-operators/say-what-is-wrong", nil},
	{"kubernetes-today/resize-in-place", "kubernetes-today/grow-without-a-restart", nil},
}

// A script is what somebody who knows the solution of a task does.
type script struct {
	task
	def      *exercises.Exercise
	commands []string // as they are entered; one may have several lines
	answers  []answer
}

type answer struct{ check, value string }

// scripts writes one for each task.
func scripts() ([]script, error) {
	all := make([]script, len(tasks))
	for i, t := range tasks {
		text, err := fs.ReadFile(exercises.Embedded(), t.exercise+".yaml")
		if err != nil {
			return nil, fmt.Errorf("the curriculum has moved on, choose another exercise for the learners: %w", err)
		}
		def, problems := exercises.Parse(t.exercise, text) // all would take seconds
		if def == nil {
			return nil, fmt.Errorf("read the exercise %s: %s", t.exercise, problems[0])
		}
		all[i] = script{task: t, def: def, commands: commands(def.Solution)}
		given := maps.Clone(def.Answers)
		for c := range def.Checks {
			if right := def.Checks[c].RightOption(); right != nil {
				if given == nil {
					given = map[string]string{}
				}
				given[def.Checks[c].ID] = right.ID
			}
		}
		for _, check := range slices.Sorted(maps.Keys(given)) {
			all[i].answers = append(all[i].answers, answer{check, given[check]})
		}
	}
	return all, nil
}

// commands splits a shell script where an interactive shell would run what it has so far.
func commands(text string) []string {
	var all []string
	entered := ""
	for line := range strings.Lines(text) {
		entered += line
		if command := strings.TrimSuffix(entered, "\n"); !posix.Continues(command) {
			all, entered = append(all, command), ""
		}
	}
	return all
}

// check returns one of the exercise's checks, nil if there is none.
func (s *script) check(id string) *exercises.Check {
	for i := range s.def.Checks {
		if s.def.Checks[i].ID == id {
			return &s.def.Checks[i]
		}
	}
	return nil
}
