package cli

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestInotify asks for more than any machine has, and lets go of what it has tried.
func TestInotify(t *testing.T) {
	if f := examineInotify(1); f.grade != good {
		t.Skipf("this machine has none left: %s", f.says)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	learners := int(min(limit.Cur, 1<<20)) + 1
	if f := examineInotify(learners); f.grade != warning || !strings.Contains(f.says, "are left") || !strings.Contains(f.fix, "sysctl -w fs.inotify.max_user_instances=") {
		t.Errorf("for %d learners: %+v", learners, f)
	}
	if f := examineInotify(1); f.grade != good {
		t.Errorf("it kept what it tried: %+v", f)
	}
}
