package abuse

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var proof = regexp.MustCompile("`((?:[\\w-]+/)+[\\w.-]+)`(?: `([^`]+)`)?")

// TestProofsExist: each test that docs/security.md names is there, and each threat has one.
func TestProofsExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	proofs := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 3 || strings.HasPrefix(line, "|---") || strings.Contains(line, "proved by") || strings.TrimSpace(cells[2]) == "" && strings.HasPrefix(line, "| **") {
			continue
		}
		found := proof.FindAllStringSubmatch(cells[2], -1)
		if len(found) == 0 {
			t.Errorf("nothing proves: %s", cells[0])
		}
		for _, p := range found {
			proofs++
			code, err := os.ReadFile(filepath.Join("../..", p[1]))
			if err != nil {
				t.Error(err)
				continue
			}
			name, part, _ := strings.Cut(p[2], "/")
			if strings.HasPrefix(name, "Test") {
				name = "func " + name + "("
			}
			for _, want := range []string{name, part} {
				if !strings.Contains(string(code), want) {
					t.Errorf("%s has no %q", p[1], want)
				}
			}
		}
	}
	if proofs < 60 {
		t.Errorf("only %d proofs: is the document still written as it was?", proofs)
	}
}
