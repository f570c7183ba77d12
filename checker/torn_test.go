package checker

import (
	"testing"

	"github.com/apilab/apilab/exercises"
)

func TestTorn(t *testing.T) {
	t.Parallel()
	create := map[string]any{"kind": "Cargo"}
	takes, refuses := exercises.Step{Create: create}, exercises.Step{Create: create, Refused: true}
	observes := exercises.Step{Observe: &exercises.ObserveStep{}}
	for _, c := range []struct {
		name  string
		steps []exercises.Step
		want  bool
	}{
		{"only what is taken", []exercises.Step{takes, takes}, false},
		{"only what is refused", []exercises.Step{refuses, refuses}, false},
		{"a refusal first shows the new rules to all that follows", []exercises.Step{refuses, takes}, false},
		{"taken by the old rules, refused by the new ones", []exercises.Step{takes, refuses}, true},
		{"a refusal at both ends", []exercises.Step{refuses, takes, refuses}, true},
		{"with a look at the learner's requests", []exercises.Step{takes, observes, refuses}, false},
	} {
		if got := torn(&exercises.Probe{Steps: c.steps}); got != c.want {
			t.Errorf("%s: torn is %v", c.name, got)
		}
	}
}

func TestRunSurely(t *testing.T) {
	t.Parallel()
	passed, missed := &probeOutcome{}, &probeOutcome{missed: "step 1"}
	for _, c := range []struct {
		name string
		torn bool
		runs []*probeOutcome
		want *probeOutcome
	}{
		{"one run where it is not torn", false, []*probeOutcome{passed}, passed},
		{"one run where it failed", true, []*probeOutcome{missed}, missed},
		{"the second run counts", true, []*probeOutcome{passed, missed}, missed},
	} {
		runs := 0
		got := runSurely(c.torn, func() *probeOutcome {
			runs++
			return c.runs[runs-1]
		})
		if got != c.want || runs != len(c.runs) {
			t.Errorf("%s: %+v after %d runs", c.name, got, runs)
		}
	}
}
