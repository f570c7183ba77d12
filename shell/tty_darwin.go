package shell

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	ioctlGet = unix.TIOCGETA
	ioctlSet = unix.TIOCSETA
	iutf8    = unix.IUTF8
	disabled = 0xff // of a control character
)

// ttyName is the controlling terminal: the shell leads its session.
func ttyName(*os.File) (string, error) { return "/dev/tty", nil }
