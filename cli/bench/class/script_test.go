package class

import (
	"slices"
	"testing"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	got := commands("a=1\nfor i in 1 2; do\n  echo $i\ndone\ncat <<EOT\n  x\nEOT\nls | \\\n  head\n")
	want := []string{"a=1", "for i in 1 2; do\n  echo $i\ndone", "cat <<EOT\n  x\nEOT", "ls | \\\n  head"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestScripts fails where the curriculum has moved on and the learners would not know what to do.
func TestScripts(t *testing.T) {
	t.Parallel()
	all, err := scripts()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, s := range all {
		if len(s.commands) == 0 {
			t.Errorf("%s: nothing to type", s.exercise)
		}
		for _, id := range s.written {
			if c := s.check(id); c == nil || c.Object == nil {
				t.Errorf("%s: %s is no check on an object", s.exercise, id)
			}
		}
		for _, c := range s.def.Checks {
			for kind, is := range map[string]bool{"object": c.Object != nil, "request": c.Request != nil, "probe": c.Probe != nil,
				"answer": c.Answer != nil, "choice": c.Choice != nil, "history": c.History != nil} {
				if is {
					kinds[kind]++
				}
			}
		}
	}
	if len(kinds) != 6 {
		t.Errorf("the tasks have checks of %v only", kinds)
	}
}
