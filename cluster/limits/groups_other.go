//go:build !linux

package limits

import (
	"errors"

	"golang.org/x/sys/unix"
)

func find() ([]place, error) {
	return nil, errors.New("this system has no control groups: for a class, serve from Linux")
}

func open() ([]place, error) { return find() }

func (p place) enter(*Share, int) error { return nil }

func (l *Limits) killed(string) int { return 0 }

func remove(string) error { return nil }

func setNice(pid, nice int) error { return unix.Setpriority(unix.PRIO_PGRP, pid, nice) }

func setMemory(int, int64) error { return nil }
