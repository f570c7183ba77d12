package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A File is an open file whose writes count against the quota.
type File struct {
	file *os.File
	fs   *FS
	name string
}

// File is the open file itself, for handing it to another process. What that writes is found by the next count.
func (f *File) File() *os.File { return f.file }

func (f *File) Read(p []byte) (int, error) { return f.file.Read(p) }
func (f *File) Close() error               { return f.file.Close() }

func (f *File) Write(p []byte) (int, error) {
	if err := f.fs.quota.take(int64(len(p))); err != nil {
		return 0, &fs.PathError{Op: "write", Path: f.name, Err: err}
	}
	return f.file.Write(p)
}

// OpenFile opens a file with flags as os.OpenFile's.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (*File, error) {
	if flag&os.O_CREATE != 0 {
		if _, err := f.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			if err := f.quota.take(block); err != nil {
				return nil, &fs.PathError{Op: "open", Path: name, Err: err}
			}
		}
	}
	file, err := f.openFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if flag&os.O_TRUNC != 0 {
		f.quota.free()
	}
	return &File{file: file, fs: f, name: name}, nil
}

// Create truncates or makes a file for writing.
func (f *FS) Create(name string, perm fs.FileMode) (*File, error) {
	return f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
}

// WriteFile replaces a file's content, by way of a new file and a rename: a reader sees the old or the new.
func (f *FS) WriteFile(name string, data []byte, perm fs.FileMode) error {
	if fi, err := f.Stat(name); err == nil {
		if fi.IsDir() {
			return &fs.PathError{Op: "write", Path: name, Err: syscall.EISDIR}
		}
		if !fi.Mode().IsRegular() {
			file, err := f.Create(name, perm)
			if err != nil {
				return err
			}
			_, err = file.Write(data)
			return errors.Join(err, file.Close())
		}
		perm = fi.Mode().Perm()
	}
	if li, err := f.Lstat(name); err == nil && li.Mode()&fs.ModeSymlink != 0 {
		target, err := f.Readlink(name)
		if err != nil {
			return err
		}
		name = Abs(path.Dir(name), target)
	}
	part := path.Join(path.Dir(name), "."+path.Base(name)+".part")
	file, err := f.Create(part, perm)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		f.Remove(part)
		return err
	}
	if err := f.Rename(part, name); err != nil {
		f.Remove(part)
		return err
	}
	return nil
}

// change runs an operation on a name that must be the learner's own.
func (f *FS) change(op, name string, do func(rel string) error) error {
	rel, ok := f.rel(name)
	if !ok {
		if _, err := f.Lstat(name); err == nil {
			return denied(op, name)
		}
		return absent(op, name)
	}
	return fail(op, name, do(rel))
}

// Mkdir makes one folder, MkdirAll also those above it.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	return f.change("mkdir", name, func(rel string) error {
		if err := f.quota.take(block); err != nil {
			return err
		}
		return f.root.Mkdir(rel, perm)
	})
}

func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	return f.change("mkdir", name, func(rel string) error {
		if err := f.quota.take(block); err != nil {
			return err
		}
		return f.root.MkdirAll(rel, perm)
	})
}

// Remove deletes a file or an empty folder, RemoveAll a folder with all in it. The home and /tmp themselves stay.
func (f *FS) Remove(name string) error    { return f.remove(name, f.root.Remove) }
func (f *FS) RemoveAll(name string) error { return f.remove(name, f.root.RemoveAll) }

func (f *FS) remove(name string, do func(string) error) error {
	return f.change("remove", name, func(rel string) error {
		if rel == "." || rel == tempFolder {
			return syscall.EBUSY
		}
		defer f.quota.free()
		return do(rel)
	})
}

// Chmod and Chtimes follow symlinks within the home.
func (f *FS) Chmod(name string, mode fs.FileMode) error {
	return f.change("chmod", name, func(rel string) error { return f.root.Chmod(rel, mode) })
}

func (f *FS) Chtimes(name string, atime, mtime time.Time) error {
	return f.change("chtimes", name, func(rel string) error { return f.root.Chtimes(rel, atime, mtime) })
}

// Rename moves a file or folder. A move after which a symlink in it would lead out of the home is refused, so that a
// program that opens real paths itself never finds such a link.
func (f *FS) Rename(from, to string) error {
	return f.change("rename", from, func(old string) error {
		new, ok := f.rel(to)
		if !ok {
			return syscall.EACCES
		}
		if old == "." || old == tempFolder || new == "." || new == tempFolder {
			return syscall.EBUSY
		}
		release, err := f.lockLinks()
		if err != nil {
			return err
		}
		defer release()
		dir, err := f.physical(filepath.Dir(new))
		if err != nil {
			return err
		}
		check := func(p string) error {
			target, err := f.root.Readlink(p)
			if err == nil && !local(filepath.Join(dir, filepath.Dir(filepath.Base(new)+strings.TrimPrefix(p, old))), target) {
				err = syscall.EACCES
			}
			return err
		}
		li, err := f.root.Lstat(old)
		switch {
		case err != nil:
			return err
		case li.Mode()&fs.ModeSymlink != 0:
			err = check(old)
		case li.IsDir():
			err = fs.WalkDir(f.root.FS(), filepath.ToSlash(old), func(p string, d fs.DirEntry, err error) error {
				if err != nil || d.Type()&fs.ModeSymlink == 0 {
					return err
				}
				return check(p)
			})
		}
		if err != nil {
			return err
		}
		return f.root.Rename(old, new)
	})
}

// lockLinks keeps other shells of this home from making links in what is being moved, or moving what a link is being
// made in. A lock on the home itself ends with its process.
func (f *FS) lockLinks() (release func(), err error) {
	home, err := f.root.Open(".")
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(home.Fd()), syscall.LOCK_EX); err != nil {
		home.Close()
		return nil, err
	}
	return func() { home.Close() }, nil
}

// physical is the place of a folder of the home without symlinks on the way, relative to the home.
func (f *FS) physical(rel string) (string, error) {
	real, err := filepath.EvalSymlinks(filepath.Join(f.real, rel))
	if err != nil {
		return "", err
	}
	rel, err = filepath.Rel(f.real, real)
	if err != nil || !filepath.IsLocal(rel) {
		return "", syscall.ENOENT
	}
	return rel, nil
}

// local reports whether a link in the physical folder dir with a relative target stays in the home, whatever other
// links do: it goes up no further than to the home, and not after it went down, perhaps through another link.
func local(dir, target string) bool {
	if filepath.IsAbs(target) {
		return false
	}
	up := 0
	if dir != "." {
		up = strings.Count(dir, "/") + 1
	}
	down := false
	for part := range strings.SplitSeq(target, "/") {
		switch part {
		case "", ".":
		case "..":
			if down || up == 0 {
				return false
			}
			up--
		default:
			down = true
		}
	}
	return true
}

// Symlink makes a link. An absolute target in the home is stored relative to the link, one outside is refused.
func (f *FS) Symlink(target, name string) error {
	return f.change("symlink", name, func(rel string) error {
		release, err := f.lockLinks()
		if err != nil {
			return err
		}
		defer release()
		dir, err := f.physical(filepath.Dir(rel))
		if err != nil {
			return err
		}
		if path.IsAbs(target) {
			to, ok := f.rel(target)
			if !ok {
				return syscall.EACCES
			}
			if target, err = filepath.Rel(dir, to); err != nil {
				return syscall.EACCES
			}
		}
		if !local(dir, target) {
			return syscall.EACCES
		}
		if err := f.quota.take(block); err != nil {
			return err
		}
		return f.root.Symlink(target, filepath.Join(dir, filepath.Base(rel)))
	})
}

// Link makes a hard link, but not of a symlink, which would lead elsewhere from its new place.
func (f *FS) Link(old, name string) error {
	return f.change("link", name, func(rel string) error {
		from, ok := f.rel(old)
		if !ok {
			return syscall.ENOENT
		}
		if li, err := f.root.Lstat(from); err != nil {
			return err
		} else if li.Mode()&fs.ModeSymlink != 0 {
			return syscall.EPERM
		}
		return f.root.Link(from, rel)
	})
}
