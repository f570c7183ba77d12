package kind

import "golang.org/x/sys/unix"

// spareInotify tries whether this user has n instances of inotify left. The kernel has no other way to tell.
func (m machine) spareInotify(n int) bool {
	var open []int
	defer func() {
		for _, fd := range open {
			_ = unix.Close(fd)
		}
	}()
	for range n {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if err != nil {
			return false
		}
		open = append(open, fd)
	}
	return true
}
