//go:build !linux

package kubectl

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func attributes(background bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: background}
}

func dup2(from, to int) error { return unix.Dup2(from, to) }
