package tools

import (
	"errors"
	"io/fs"
	"path"
)

// walk calls do for name and all below it, folders before what is in them, names as typed. do may return fs.SkipDir.
// Errors are printed; symlinks are not followed.
func (c *Call) walk(name string, do func(name string, d fs.DirEntry) error) error {
	fi, err := c.Host.FS.Lstat(c.path(name))
	if err != nil {
		c.warn(typed(name, err))
		return Failed
	}
	var failed error
	var visit func(name string, d fs.DirEntry) error
	visit = func(name string, d fs.DirEntry) error {
		err := do(name, d)
		if errors.Is(err, fs.SkipDir) && d.IsDir() {
			return nil
		}
		if err != nil || !d.IsDir() {
			return err
		}
		entries, err := c.Host.FS.ReadDir(c.path(name))
		if err != nil {
			c.warn(typed(name, err))
			failed = Failed
			return nil
		}
		for _, e := range entries {
			child := name + "/" + e.Name()
			if name == "/" {
				child = path.Join(name, e.Name())
			}
			if err := visit(child, e); err != nil {
				return err
			}
		}
		return nil
	}
	if err := visit(name, fs.FileInfoToDirEntry(fi)); err != nil && !errors.Is(err, fs.SkipAll) {
		return err
	}
	return failed
}
