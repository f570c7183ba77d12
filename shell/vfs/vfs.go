// Package vfs is the learner's view of files: /home/learner, which is a real folder, /tmp, which is a folder in it, and
// a handful of devices. Nothing else exists. Every access goes through an os.Root, so that no name, symlink or ".." leads
// out of the folder. It knows nothing of shells and of who calls it.
package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// The places that a learner sees.
const (
	Home = "/home/learner"
	Temp = "/tmp"

	tempFolder = ".tmp" // of the home: what /tmp is
)

// FS is safe for concurrent use. Names are absolute virtual paths, or the real path of something inside the home, which
// programs that know only real paths may print.
type FS struct {
	root  *os.Root
	real  string // absolute, symlinks resolved
	quota *quota
	pipes string // real folder of the interpreter's named pipes, "" for none
	extra map[string]string
}

// Options of New.
type Options struct {
	Limit int64             // bytes that the home may hold, 0 for no limit
	Pipes string            // real folder in which named pipes may be opened, never created or removed
	Files map[string]string // single files outside of the home that may be read: virtual name → real path
}

// New opens the view of the real folder home, which must exist. The folder behind /tmp is created.
func New(home string, o Options) (*FS, error) {
	real, err := filepath.EvalSymlinks(home)
	if err != nil {
		return nil, fmt.Errorf("open home: %w", err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, fmt.Errorf("open home: %w", err)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("open home: %w", err)
	}
	if err := root.Mkdir(tempFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		root.Close()
		return nil, fmt.Errorf("make /tmp: %w", err)
	}
	return &FS{root: root, real: real, quota: &quota{limit: o.Limit, root: real}, pipes: o.Pipes, extra: o.Files}, nil
}

// Close releases the folder.
func (f *FS) Close() error { return f.root.Close() }

// Full returns a *QuotaError if the home holds more than it may, as it can where programs write that do not ask.
func (f *FS) Full() error { return f.quota.full() }

// Abs turns a name as typed in the folder dir into a clean absolute virtual path.
func Abs(dir, name string) string {
	if name == "" {
		return ""
	}
	if !path.IsAbs(name) {
		name = path.Join(dir, name)
	}
	return path.Clean(name)
}

// rel maps a virtual path to one relative to the root, and reports whether there is one.
func (f *FS) rel(name string) (string, bool) {
	name = path.Clean(name)
	for _, m := range [...]struct{ prefix, folder string }{{f.real, "."}, {Home, "."}, {Temp, tempFolder}} {
		if rest, ok := within(m.prefix, name); ok {
			return filepath.Join(m.folder, filepath.FromSlash(rest)), true
		}
	}
	return "", false
}

// within returns what follows prefix in name, if name is prefix or below it.
func within(prefix, name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(rest, "/"), true
}

// fail gives an error the name that the learner knows. What leads out of the home does not exist.
func fail(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	var errno syscall.Errno
	if !errors.As(err, &errno) && !isQuota(err) && !errors.Is(err, fs.ErrExist) {
		err = syscall.ENOENT // os.Root's "path escapes from parent" has no exported name
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func absent(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT}
}

// A change of what is not the learner's: the folders above the home, and devices.
func denied(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: syscall.EACCES}
}

// Real returns the real path of name for a program that opens files itself. The name may not exist yet, but where it
// or its folder exists, it lies in the home: a symlink that leads out is an error.
func (f *FS) Real(name string) (string, error) {
	if _, ok := device(name); ok {
		return name, nil
	}
	if f.isPipe(name) {
		return name, nil
	}
	if real, ok := f.extra[path.Clean(name)]; ok {
		return real, nil
	}
	rel, ok := f.rel(name)
	if !ok {
		return "", absent("open", name)
	}
	for at := rel; ; at = filepath.Dir(at) {
		_, err := f.root.Stat(at)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fail("open", name, err)
		}
		if li, err := f.root.Lstat(at); err == nil && li.Mode()&fs.ModeSymlink != 0 {
			return "", absent("open", name) // dangling: would be created where it points to
		}
	}
	return filepath.Join(f.real, rel), nil
}

// RealDir is the real folder of a virtual working folder, the home's if it has none.
func (f *FS) RealDir(dir string) string {
	if real, err := f.Real(dir); err == nil {
		if fi, err := os.Stat(real); err == nil && fi.IsDir() {
			return real
		}
	}
	return f.real
}

// Virtual replaces real paths of the home in a message by what the learner calls them.
func (f *FS) Virtual(text string) string {
	text = strings.ReplaceAll(text, filepath.Join(f.real, tempFolder), Temp)
	return strings.ReplaceAll(text, f.real, Home)
}

// Check reports whether everything below the real or virtual folder name stays in the home when its symlinks are
// followed. Programs that walk folders themselves need it.
func (f *FS) Check(name string) error {
	rel, ok := f.rel(name)
	if !ok {
		return absent("open", name)
	}
	seen := 0
	return fs.WalkDir(f.root.FS(), filepath.ToSlash(rel), func(p string, d fs.DirEntry, err error) error {
		if seen++; seen > 100_000 {
			return fmt.Errorf("%s: too many files", name)
		}
		if err != nil {
			return fail("open", name, err)
		}
		if d.Type()&fs.ModeSymlink == 0 {
			return nil
		}
		if _, err := f.root.Stat(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return absent("open", path.Join(name, strings.TrimPrefix(p, rel)))
		}
		return nil
	})
}

func (f *FS) isPipe(name string) bool {
	dir, base := filepath.Split(name)
	return f.pipes != "" && filepath.Clean(dir) == f.pipes && strings.HasPrefix(base, "sh-interp-")
}
