package control

import (
	"fmt"
	"os"
	"path/filepath"
)

// maxSocketPath is what fits into a socket's address on every system (104 bytes on macOS, 108 on Linux, with a zero byte).
const maxSocketPath = 103

// withShortPath calls use with a path of dir that is short enough for a socket in it: its own, or a symbolic link for the
// time of the call.
func withShortPath(dir string, use func(short string) error) error {
	if len(filepath.Join(dir, socketName)) <= maxSocketPath {
		return use(dir)
	}
	room, err := os.MkdirTemp("", "apilab-")
	if err != nil {
		return fmt.Errorf("make a short path: %w", err)
	}
	defer os.RemoveAll(room)
	short := filepath.Join(room, "d")
	if err := os.Symlink(dir, short); err != nil {
		return fmt.Errorf("make a short path: %w", err)
	}
	return use(short)
}
