//go:build !linux

package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Enter sets the limits that there are; files and ports are closed by construction only.
func Enter(s Settings) (Report, error) {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0}
	if s.FileSize > 0 {
		limits[unix.RLIMIT_FSIZE] = s.FileSize
	}
	for what, n := range limits {
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return Report{}, fmt.Errorf("set limit %d: %w", what, err)
		}
	}
	return Report{}, nil
}
