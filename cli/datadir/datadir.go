// Package datadir is the folder that holds a user's apilab state: where it is by default, whether it can be used, which
// format it has, and which process uses it. It knows nothing of what is kept in it.
package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// Format is that of the data which this version writes. It changes when an older version could not read them.
	Format     = 1
	formatFile = "format"
	lockFile   = "apilab.lock"
)

// Default is the folder for this user on this system.
func Default() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "apilab"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the data directory: %w: say where with --data-dir", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "apilab"), nil
	}
	return filepath.Join(home, ".local", "share", "apilab"), nil
}

// Flag is what a command needs after its name to use the folder at path: " --data-dir PATH", nothing for the default one.
func Flag(path string) string {
	if usual, err := Default(); err == nil && usual == path {
		return ""
	}
	quoted, err := syntax.Quote(path, syntax.LangPOSIX)
	if err != nil { // characters that no shell can quote portably
		quoted = path
	}
	return " --data-dir " + quoted
}

// A Dir is a data directory that this process alone uses.
type Dir struct {
	Path string // absolute
	lock *os.File
}

// Open makes the folder if need be, mode 0700, and takes it for this process until Close, or its death. The error is
// *InUseError when another process has it; every error is one line that says what to do.
func Open(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the data directory: %w", err)
	}
	if err := usable(path); err != nil {
		return nil, err
	}
	lock, err := takeLock(filepath.Join(path, lockFile))
	if err != nil {
		return nil, err
	}
	if err := checkFormat(filepath.Join(path, formatFile)); err != nil {
		lock.Close()
		return nil, err
	}
	return &Dir{Path: path, lock: lock}, nil
}

// Check tells whether Open would succeed, without taking or making anything but the folder itself.
func Check(path string) error {
	if err := usable(path); err != nil {
		return err
	}
	if err := readFormat(filepath.Join(path, formatFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Join returns the path of something in the folder.
func (d *Dir) Join(parts ...string) string {
	return filepath.Join(append([]string{d.Path}, parts...)...)
}

// Close gives the folder up.
func (d *Dir) Close() error {
	_ = d.lock.Truncate(0) // the address in it is no longer right
	return d.lock.Close()
}

// usable makes the folder and closes it to others.
func usable(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return explain(path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return explain(path, err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o700); err != nil { //nolint:gosec // a folder needs its x bit
			return explain(path, err)
		}
	}
	probe, err := os.CreateTemp(path, ".probe-*")
	if err != nil {
		return explain(path, err)
	}
	defer os.Remove(probe.Name())
	_, err = probe.Write(make([]byte, 4096))
	if closing := probe.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return explain(path, err)
	}
	return nil
}

// explain turns what the system says into what the user can do.
func explain(path string, err error) error {
	const elsewhere = "or choose another with --data-dir"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("the disk of the data directory %s is full: free some space, %s", path, elsewhere)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the data directory %s cannot be used with your rights: make it yours, %s", path, elsewhere)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("the data directory %s is on a read-only file system: choose another with --data-dir", path)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return fmt.Errorf("the data directory %s is not a folder: remove what is in its place, %s", path, elsewhere)
	default:
		return fmt.Errorf("the data directory %s cannot be used: %w", path, err)
	}
}

func checkFormat(path string) error {
	err := readFormat(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(path, fmt.Appendln(nil, Format), 0o600); err != nil {
		return explain(filepath.Dir(path), err)
	}
	return nil
}

// readFormat refuses a folder that a newer version wrote; fs.ErrNotExist if none wrote it yet.
func readFormat(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil {
		return explain(filepath.Dir(path), err)
	}
	format, err := strconv.Atoi(strings.TrimSpace(string(data)))
	switch {
	case err != nil:
		return fmt.Errorf("the file %s is damaged: it should hold the number %d", path, Format)
	case format > Format:
		return fmt.Errorf("the data directory %s was written by a newer apilab (format %d, this version knows %d): update apilab, or choose another with --data-dir",
			filepath.Dir(path), format, Format)
	}
	return nil
}
