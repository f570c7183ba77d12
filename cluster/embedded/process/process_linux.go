package process

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// timerSlack is how much later than asked the kernel may wake an idle child, so that its many timers share wake-ups.
const timerSlack = 50 * time.Millisecond

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// coalesceTimers lets the kernel group the timers of a child forked by this thread: the slack is inherited over fork
// and exec by all of its threads (PR_SET_TIMERSLACK in prctl(2)). The returned function takes it back for this thread.
func coalesceTimers() (restore func()) {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(timerSlack.Nanoseconds()), 0, 0, 0)
	return func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }
}

// waitWithoutReaping blocks until the process has ended and leaves it a zombie, so that its ID is not given away yet.
func waitWithoutReaping(pid int) {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return
		}
	}
}
