package embedded_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// inotify counts what a class of sixty would run out of first: most systems allow a user 128 instances.
func inotify(t *testing.T, l *lab, _ string) {
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", plane(t, l.cluster.ID())))
	if err != nil || len(links) == 0 {
		t.Fatalf("no open files: %v", err)
	}
	instances := 0
	for _, link := range links {
		if target, _ := os.Readlink(link); strings.Contains(target, "inotify") {
			instances++
		}
	}
	if instances > 1 {
		t.Errorf("it takes %d instances of inotify", instances)
	}
}
