package workspace

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var listing = regexp.MustCompile("(?s)```go title=\"([^\"]+)\"\n(.*?)\n```")

// TestListingsAreOfTheReference keeps what lessons show of the operator to the operator that is proved.
func TestListingsAreOfTheReference(t *testing.T) {
	t.Parallel()
	lessons, err := filepath.Glob("../../content/operator-build/*/index.md")
	if err != nil || len(lessons) == 0 {
		t.Fatalf("%d lessons, %v", len(lessons), err)
	}
	shown := 0
	for _, lesson := range lessons {
		text, err := os.ReadFile(lesson)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range listing.FindAllStringSubmatch(string(text), -1) {
			shown++
			source, err := os.ReadFile(filepath.Join(reference, filepath.FromSlash(match[1])))
			if err != nil || !strings.Contains(string(source), match[2]) {
				t.Errorf("%s shows lines that are not in %s (%v):\n%s", lesson, match[1], err, match[2])
			}
		}
	}
	if shown == 0 {
		t.Error("no listing was found")
	}
}
