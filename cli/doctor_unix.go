//go:build unix

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	diskNeeded  = 300 << 20 // a template of a cluster, a learner's cluster, and room for its history
	diskWanted  = 1 << 30
	filesNeeded = 1024
)

func examineDisk(path string) finding {
	for { // the folder may not be there yet
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			break
		}
		path = filepath.Dir(path)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return finding{warning, err.Error(), ""}
	}
	free := fs.Bavail * uint64(fs.Bsize) //nolint:gosec // a block size is positive
	says := byteCount(free) + " free"
	switch {
	case free < diskNeeded:
		return finding{bad, says, fmt.Sprintf("free some space: apilab needs %s", byteCount(diskNeeded))}
	case free < diskWanted:
		return finding{warning, says, fmt.Sprintf("%s are enough to begin; %s are comfortable", byteCount(diskNeeded), byteCount(diskWanted))}
	}
	return finding{grade: good, says: says}
}

func examineOpenFiles(context.Context) finding {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return finding{warning, err.Error(), ""}
	}
	says := fmt.Sprintf("%d allowed", limit.Max) // Go raises the soft limit by itself
	if limit.Max < filesNeeded {
		return finding{bad, says, fmt.Sprintf("raise the limit: `ulimit -Hn %d` before you start apilab", filesNeeded)}
	}
	return finding{grade: good, says: says}
}
