package vfs

import (
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// Open opens a file or folder for reading.
func (f *FS) Open(name string) (*os.File, error) {
	return f.openFile(name, os.O_RDONLY, 0)
}

func (f *FS) openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if d, ok := device(name); ok {
		file, err := openDevice(d, flag)
		return file, fail("open", name, err)
	}
	if f.isPipe(name) {
		file, err := os.OpenFile(name, flag&^(os.O_CREATE|os.O_TRUNC), 0)
		return file, fail("open", name, err)
	}
	if real, ok := f.extra[path.Clean(name)]; ok {
		if flag != os.O_RDONLY {
			return nil, denied("open", name)
		}
		file, err := os.Open(real)
		return file, fail("open", name, err)
	}
	if _, ok := folder(name); ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	}
	rel, ok := f.rel(name)
	if !ok {
		return nil, absent("open", name)
	}
	file, err := f.root.OpenFile(rel, flag, perm)
	if err != nil {
		return nil, fail("open", name, err)
	}
	return file, nil
}

// ReadFile reads a file of at most limit bytes.
func (f *FS) ReadFile(name string, limit int64) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fail("read", name, err)
	}
	if int64(len(data)) > limit {
		return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.EFBIG}
	}
	return data, nil
}

// Stat follows symlinks, Lstat does not.
func (f *FS) Stat(name string) (fs.FileInfo, error)  { return f.stat("stat", name, (*os.Root).Stat) }
func (f *FS) Lstat(name string) (fs.FileInfo, error) { return f.stat("lstat", name, (*os.Root).Lstat) }

func (f *FS) stat(op, name string, get func(*os.Root, string) (fs.FileInfo, error)) (fs.FileInfo, error) {
	if d, ok := device(name); ok {
		return info{path.Base(d), fs.ModeDevice | fs.ModeCharDevice | 0o666}, nil
	}
	if f.isPipe(name) {
		fi, err := os.Lstat(name)
		return fi, fail(op, name, err)
	}
	if real, ok := f.extra[path.Clean(name)]; ok {
		fi, err := os.Stat(real)
		return fi, fail(op, name, err)
	}
	if _, ok := folder(name); ok {
		return info{path.Base(path.Clean(name)), fs.ModeDir | 0o555}, nil
	}
	rel, ok := f.rel(name)
	if !ok {
		return nil, absent(op, name)
	}
	fi, err := get(f.root, rel)
	if err != nil {
		return nil, fail(op, name, err)
	}
	if rel == "." || rel == tempFolder {
		return named{fi, path.Base(path.Clean(name))}, nil
	}
	return fi, nil
}

type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }

// ReadDir lists a folder, sorted by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if entries, ok := folder(name); ok {
		return entries, nil
	}
	rel, ok := f.rel(name)
	if !ok {
		return nil, absent("open", name)
	}
	entries, err := fs.ReadDir(f.root.FS(), rel)
	return entries, fail("open", name, err)
}

// Readlink returns the target of a symlink as it is stored.
func (f *FS) Readlink(name string) (string, error) {
	rel, ok := f.rel(name)
	if !ok {
		return "", absent("readlink", name)
	}
	target, err := f.root.Readlink(rel)
	return target, fail("readlink", name, err)
}
