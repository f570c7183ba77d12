package shell

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	ioctlGet = unix.TCGETS
	ioctlSet = unix.TCSETS
	iutf8    = unix.IUTF8
	disabled = 0 // of a control character
)

// ttyName is the name of a terminal's device.
func ttyName(f *os.File) (string, error) {
	if _, err := unix.IoctlGetTermios(int(f.Fd()), ioctlGet); err != nil {
		return "", fmt.Errorf("standard input: %w", err)
	}
	return os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
}
