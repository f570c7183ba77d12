package process

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes: macOS has no parent-death signal; the closing of the child's input does that work.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// coalesceTimers: macOS groups timers by itself.
func coalesceTimers() (restore func()) { return func() {} }

// waitWithoutReaping blocks until the process has ended and leaves it a zombie, so that its ID is not given away yet.
func waitWithoutReaping(pid int) {
	queue, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(queue)
	exit := []unix.Kevent_t{{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}}
	for {
		if _, err := unix.Kevent(queue, exit, make([]unix.Kevent_t, 1), nil); err != unix.EINTR {
			return // it has ended, or had already (ESRCH)
		}
	}
}
