package kubectl

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/apilab/apilab/shell/vfs"
)

// kustomizeFS is the learner's files as kustomize wants them.
type kustomizeFS struct {
	fs  *vfs.FS
	dir string // virtual working folder
}

var _ filesys.FileSystem = kustomizeFS{}

func (k kustomizeFS) abs(name string) string { return vfs.Abs(k.dir, name) }

func (k kustomizeFS) Create(name string) (filesys.File, error) {
	f, err := k.fs.Create(k.abs(name), 0o644)
	if err != nil {
		return nil, err
	}
	return f.File(), nil
}

func (k kustomizeFS) Mkdir(name string) error    { return k.fs.Mkdir(k.abs(name), 0o755) }
func (k kustomizeFS) MkdirAll(name string) error { return k.fs.MkdirAll(k.abs(name), 0o755) }

// RemoveAll is for kustomize's clones of repositories, of which there are none.
func (k kustomizeFS) RemoveAll(string) error { return fs.ErrPermission }

func (k kustomizeFS) Open(name string) (filesys.File, error) { return k.fs.Open(k.abs(name)) }

func (k kustomizeFS) IsDir(name string) bool {
	fi, err := k.fs.Stat(k.abs(name))
	return err == nil && fi.IsDir()
}

func (k kustomizeFS) ReadDir(name string) ([]string, error) {
	entries, err := k.fs.ReadDir(k.abs(name))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// CleanedAbs follows symlinks, so that kustomize's rule of what a kustomization may include holds for where they lead.
func (k kustomizeFS) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	abs := k.abs(name)
	for range 40 {
		li, err := k.fs.Lstat(abs)
		if err != nil {
			return "", "", err
		}
		if li.Mode()&fs.ModeSymlink == 0 {
			if li.IsDir() {
				return filesys.ConfirmedDir(abs), "", nil
			}
			dir, base := path.Split(abs)
			return filesys.ConfirmedDir(path.Clean(dir)), base, nil
		}
		target, err := k.fs.Readlink(abs)
		if err != nil {
			return "", "", err
		}
		abs = vfs.Abs(path.Dir(abs), target)
	}
	return "", "", fmt.Errorf("%s: too many symbolic links", name)
}

func (k kustomizeFS) Exists(name string) bool {
	_, err := k.fs.Stat(k.abs(name))
	return err == nil
}

func (k kustomizeFS) Glob(pattern string) ([]string, error) {
	dir, base := path.Split(pattern)
	entries, err := k.fs.ReadDir(k.abs(dir))
	if err != nil {
		return nil, nil //nolint:nilerr // as filepath.Glob
	}
	var found []string
	for _, e := range entries {
		if ok, err := path.Match(base, e.Name()); err != nil {
			return nil, err
		} else if ok {
			found = append(found, dir+e.Name())
		}
	}
	return found, nil
}

func (k kustomizeFS) ReadFile(name string) ([]byte, error) {
	return k.fs.ReadFile(k.abs(name), 16<<20)
}

func (k kustomizeFS) WriteFile(name string, data []byte) error {
	return k.fs.WriteFile(k.abs(name), data, 0o644)
}

func (k kustomizeFS) Walk(name string, do filepath.WalkFunc) error {
	fi, err := k.fs.Lstat(k.abs(name))
	if err != nil {
		return do(name, nil, err)
	}
	return k.walk(name, fi, do)
}

func (k kustomizeFS) walk(name string, fi os.FileInfo, do filepath.WalkFunc) error {
	err := do(name, fi, nil)
	if err == filepath.SkipDir && fi.IsDir() {
		return nil
	}
	if err != nil || !fi.IsDir() {
		return err
	}
	entries, err := k.fs.ReadDir(k.abs(name))
	if err != nil {
		return do(name, fi, err)
	}
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil {
			continue
		}
		if err := k.walk(path.Join(name, e.Name()), fi, do); err != nil {
			return err
		}
	}
	return nil
}
