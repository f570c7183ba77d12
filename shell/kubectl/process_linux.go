package kubectl

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes of a process: in the background, the terminal's signals are not for it. It ends with the shell.
func attributes(background bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: background, Pdeathsig: syscall.SIGKILL}
}

func dup2(from, to int) error { return unix.Dup3(from, to, 0) }
