package checker

import (
	"strings"
	"testing"

	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/exercises/expr"
)

// What the exercise says follows the newest version: an older mistake is not told again.
func TestHintsOfSetACondition(t *testing.T) {
	t.Parallel()
	set, problems := exercises.Load(exercises.Embedded())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	e, ok := set.Get("api-machinery/set-a-condition")
	if !ok {
		t.Fatal("no such exercise")
	}
	version := func(status string) any {
		return object{"status": object{"conditions": []any{object{"type": "example.com/Reviewed", "status": status}}}}
	}
	for _, tt := range []struct {
		versions []any
		want     string
	}{
		{[]any{}, ""},
		{[]any{object{"status": object{}}}, ""},
		{[]any{version("False")}, "You have not looked"},
		{[]any{version("False"), version("unknown")}, "with a capital"},
		{[]any{version("unknown"), version("Unknown")}, "reason is missing"},
	} {
		hint, ok := hintFor(e.Check("unknown"), expr.Vars{"versions": tt.versions, "deletions": []any{}, "events": []any{}})
		if !strings.Contains(hint, tt.want) || ok != (tt.want != "") {
			t.Errorf("%v: %q; want %q", tt.versions, hint, tt.want)
		}
	}
}
