package shell

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// sessionLeader starts a process in a session of its own, whose terminal is its standard input, and ends it with us.
func sessionLeader() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0, Pdeathsig: syscall.SIGKILL}
}

// ownGroup is for a process without a terminal.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// foreground is the process group in the foreground of a terminal.
func foreground(f *os.File) (int, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	group := 0
	cerr := raw.Control(func(fd uintptr) { group, err = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP) })
	if cerr != nil {
		return 0, cerr
	}
	return group, err
}
