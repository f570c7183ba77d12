package embedded

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// minRoom is the free disk space that a start wants, in bytes: etcd's files and room to work.
const minRoom = 64 << 20

// room checks that there is space, as etcd without any dies in the middle of a write with a message that helps nobody.
func room(dir string) error {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return nil // not every file system tells
	}
	if free := uint64(stat.Bavail) * uint64(stat.Bsize); free < minRoom {
		return fmt.Errorf("%w (%d MB free under %s, %d MB needed)", ErrDiskFull, free>>20, dir, minRoom>>20)
	}
	return nil
}
