package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// inotifyEach is how many instances of inotify an embedded cluster takes; a test of package embedded counts them.
const inotifyEach = 1

// examineInotify tries whether this user has enough instances left: the kernel has no other way to tell.
func examineInotify(learners int) finding {
	const name = "fs.inotify.max_user_instances"
	wanted := max(1, learners) * inotifyEach
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_instances")
	if err != nil {
		return finding{grade: good, says: name + " is not known here"}
	}
	allowed := strings.TrimSpace(string(text))
	left := spareInotify(wanted)
	if left == wanted {
		return finding{grade: good, says: fmt.Sprintf("%s = %s, enough for %s", name, allowed, clustersOf(learners))}
	}
	total, _ := strconv.Atoi(allowed)
	f := finding{warning, fmt.Sprintf("%s = %s, of which %d are left; %s take %d", name, allowed, left, clustersOf(learners), wanted),
		fmt.Sprintf("`sudo sysctl -w %s=%d`, and the same in /etc/sysctl.d to keep it", name, max(total, 128)+2*wanted)}
	if left == 0 {
		f.grade = bad
	}
	return f
}

func clustersOf(learners int) string {
	if learners <= 1 {
		return "a learner's cluster"
	}
	return fmt.Sprintf("%d learners' clusters", learners)
}

// spareInotify is how many of n instances this user can have now.
func spareInotify(n int) (left int) {
	for range n {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if err != nil {
			return left
		}
		defer unix.Close(fd)
		left++
	}
	return left
}
