package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Temp makes a folder for this process alone that is of use only as long as it runs, named after its purpose, in the system's
// folder of temporary files. First it removes those of the same purpose whose process has ended without Remove.
func Temp(purpose string) (*Dir, error) {
	prefix := "apilab-" + purpose + "-"
	sweep(filepath.Join(os.TempDir(), prefix+"*"))
	for range 3 {
		path, err := os.MkdirTemp("", prefix)
		if err != nil {
			return nil, fmt.Errorf("make a temporary folder: %w", err)
		}
		lock, err := takeLock(filepath.Join(path, lockFile))
		var swept *InUseError // by another process, in the moment between the two
		if errors.As(err, &swept) {
			continue
		}
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(path))
		}
		return &Dir{Path: path, lock: lock}, nil
	}
	return nil, errors.New("make a temporary folder: others remove it each time")
}

// Remove removes the folder and all that is in it.
func (d *Dir) Remove() error {
	return errors.Join(os.RemoveAll(d.Path), d.lock.Close())
}

// sweep removes the folders that a lock names as nobody's. One without a lock is not judged.
func sweep(pattern string) {
	paths, _ := filepath.Glob(pattern) // the pattern is well-formed
	for _, path := range paths {
		lock, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if flock(lock) == nil {
			_ = os.RemoveAll(path) // what is left is for the next sweep
		}
		lock.Close()
	}
}
