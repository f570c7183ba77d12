package verify

import (
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		want, got string
		same      bool
	}{
		{"", "", true},
		{"", "\n", true},
		{"", "something", false},
		{"a\nb", "a\nb\n", true},
		{"a\nb", "a", false},
		{"a", "a\nb", false},
		{"a\n…\nd", "a\nb\nc\nd", true},
		{"a\n…\nd", "a\nd", true},
		{"a\n…", "a\nb", true},
		{"…", "", true},
		{"…\nc\n…\nc", "a\nc\nb\nc", true},
		{"…\nc\n…\nx", "a\nc\nb\nc", false},
		{"uid: <uid>", "uid: 12-34", true},
		{"uid: <uid>", "uid: ", false},
		{"<a> and <b>", "x y and z", true},
		{"took … ms", "took 3 ms", true},
		{"took … ms", "took 3 s", false},
		{"NAME   AGE\nw1     5s", "NAME     AGE\nw1       5s   ", true},
		{"NAME  READY", "NAMEREADY", false},
		{"value <none>", "value <none>", true},
		{"a.c", "abc", false},
		{"a < b > c", "a < b > c", true},
	} {
		if got := compare(tt.want, tt.got); (got == "") != tt.same {
			t.Errorf("compare(%q, %q) = %q", tt.want, tt.got, got)
		}
	}
}

func TestCompareSaysWhichLine(t *testing.T) {
	t.Parallel()
	if got := compare("a\nb\nc", "a\nx\nc"); !strings.HasPrefix(got, "line 2 is\n  x\nwanted") {
		t.Errorf("got %q", got)
	}
	if got := compare("a", "a\nb"); !strings.Contains(got, "printed\n  a\n  b\nwanted\n  a\n") {
		t.Errorf("got %q", got)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	printed := split("one\n\n\x1eapilab 0\n\n\x1eapilab 1\nhalf", 3)
	if printed[0] == nil || *printed[0] != "one\n" || printed[1] == nil || *printed[1] != "" || printed[2] != nil {
		t.Errorf("%v", printed)
	}
}
