package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Holder is the process that uses a data directory, as it says itself.
type Holder struct {
	PID     int    `json:"pid"`
	Address string `json:"address,omitempty"` // of its page; empty while it starts
}

// An InUseError says that another process uses the data directory.
type InUseError struct {
	Path   string
	Holder Holder
}

func (e *InUseError) Error() string {
	if e.Holder.Address == "" {
		return fmt.Sprintf("apilab is already starting on the data directory %s: wait for it, or choose another with --data-dir", e.Path)
	}
	return fmt.Sprintf("apilab already runs on the data directory %s: it is at %s (`apilab open%s` opens it)", e.Path, e.Holder.Address, Flag(e.Path))
}

// errLocked is what flock returns when another process holds the lock.
var errLocked = errors.New("the lock is held")

// takeLock opens the lock file and locks it. The system frees the lock when the process ends, however it ends.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, explain(filepath.Dir(path), err)
	}
	switch err := flock(f); {
	case errors.Is(err, errLocked):
		holder := readHolder(f)
		f.Close()
		return nil, &InUseError{Path: filepath.Dir(path), Holder: holder}
	case err != nil:
		f.Close()
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	if err := writeHolder(f, Holder{PID: os.Getpid()}); err != nil {
		f.Close()
		return nil, explain(filepath.Dir(path), err)
	}
	return f, nil
}

// Announce lets other processes know the page's address.
func (d *Dir) Announce(address string) error {
	if err := writeHolder(d.lock, Holder{PID: os.Getpid(), Address: address}); err != nil {
		return explain(d.Path, err)
	}
	return nil
}

// HolderOf returns the process that uses the folder now; ok is false when there is none.
func HolderOf(path string) (holder Holder, ok bool, err error) {
	f, err := os.Open(filepath.Join(path, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Holder{}, false, nil
	}
	if err != nil {
		return Holder{}, false, explain(path, err)
	}
	defer f.Close()
	if readHolder(f) == (Holder{}) {
		return Holder{}, false, nil // ended properly; a lock, however short, could get in the way of one that starts
	}
	switch err := flock(f); { // closing gives it back
	case errors.Is(err, errLocked):
		return readHolder(f), true, nil
	case err != nil:
		return Holder{}, false, fmt.Errorf("look at the lock of the data directory: %w", err)
	}
	return Holder{}, false, nil
}

func writeHolder(f *os.File, h Holder) error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	// Padded to one length, so that a reader never sees the end of a longer text from before.
	line := make([]byte, 256)
	for i := range line {
		line[i] = ' '
	}
	copy(line, data)
	line[len(line)-1] = '\n'
	_, err = f.WriteAt(line, 0)
	return err
}

// readHolder is as good as the file: an empty Holder where that says nothing.
func readHolder(f *os.File) (h Holder) {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 4096))
	if err == nil {
		_ = json.Unmarshal(data, &h)
	}
	return h
}
