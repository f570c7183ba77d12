//go:build unix

package embedded

import (
	"os"
	"syscall"
)

// allocated is what a file takes on the disk, which is less than its size where it has holes.
func allocated(info os.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * 512
	}
	return info.Size()
}
