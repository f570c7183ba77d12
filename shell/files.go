package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apilab/apilab/shell/vfs"
)

// MaxFile bounds a file that the page reads or writes, in bytes.
const MaxFile = 1 << 20

const (
	maxListed = 2000 // entries of a list
	maxDepth  = 32   // parts of a name
	maxPath   = 1024 // bytes of a name
	maxPart   = 200  // bytes of a part of a name: file systems take 255, and a new content has a longer name at first
)

// Errors of Files besides fs.ErrNotExist, fs.ErrExist and *vfs.QuotaError.
var (
	ErrChanged  = errors.New("the file was changed since it was read")
	ErrTooLarge = errors.New("the file is larger than 1 MiB")
	ErrNotText  = errors.New("the file is not a text")
	ErrBadName  = errors.New("not a name of a file in the home")
)

// File is an entry of the page's list.
type File struct {
	Path     string    `json:"path"` // relative to the home, with slashes
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Dir      bool      `json:"dir"`
}

// Files is the page's way to the learner's home. It is safe for concurrent use, also with shells in the same home.
type Files struct {
	fs *vfs.FS
}

// NewFiles opens the home, which is made if it is missing. quota bounds it in bytes; 0 means 256 MiB.
func NewFiles(home string, quota int64) (*Files, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("open files: %w", err)
	}
	if quota == 0 {
		quota = defaultQuota
	}
	v, err := vfs.New(home, vfs.Options{Limit: quota})
	if err != nil {
		return nil, fmt.Errorf("open files: %w", err)
	}
	return &Files{v}, nil
}

// Close releases the home.
func (f *Files) Close() error { return f.fs.Close() }

// name turns a path of the page into a virtual one.
func name(p string) (string, error) {
	if p == "" || !utf8.ValidString(p) || strings.ContainsRune(p, 0) || !fs.ValidPath(p) || p == "." {
		return "", ErrBadName
	}
	parts := strings.Split(p, "/")
	tooLong := func(part string) bool { return len(part) > maxPart }
	if len(p) > maxPath || len(parts) > maxDepth || slices.ContainsFunc(parts, tooLong) {
		return "", fmt.Errorf("%w: it is too long or too deep", ErrBadName)
	}
	return path.Join(vfs.Home, p), nil
}

// List returns the files and folders of the home, each folder before what is in it, without those whose names start
// with a dot, and at most 2,000.
func (f *Files) List() ([]File, error) {
	var all []File
	var walk func(dir string) error
	walk = func(dir string) error {
		entries, err := f.fs.ReadDir(path.Join(vfs.Home, dir))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") || len(all) >= maxListed {
				continue
			}
			fi, err := e.Info()
			if err != nil || !fi.IsDir() && !fi.Mode().IsRegular() {
				continue
			}
			p := path.Join(dir, e.Name())
			all = append(all, File{Path: p, Size: fi.Size(), Modified: fi.ModTime(), Dir: fi.IsDir()})
			if fi.IsDir() {
				if err := walk(p); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := walk(""); err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	return all, nil
}

// version identifies a content.
func version(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// Read returns a text and its version.
func (f *Files) Read(p string) (text, ver string, err error) {
	data, err := f.read(p)
	if err != nil {
		return "", "", err
	}
	if !utf8.Valid(data) || strings.ContainsRune(string(data), 0) {
		return "", "", ErrNotText
	}
	return string(data), version(data), nil
}

func (f *Files) read(p string) ([]byte, error) {
	n, err := name(p)
	if err != nil {
		return nil, err
	}
	fi, err := f.fs.Stat(n)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p, clean(err))
	}
	if !fi.Mode().IsRegular() {
		return nil, ErrNotText
	}
	if fi.Size() > MaxFile {
		return nil, ErrTooLarge
	}
	data, err := f.fs.ReadFile(n, MaxFile)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p, clean(err))
	}
	return data, nil
}

// Write replaces a file or makes one, with the folders above it. If ver is not empty, the file's version has to be it.
func (f *Files) Write(p, text, ver string) (newVersion string, err error) {
	if len(text) > MaxFile {
		return "", ErrTooLarge
	}
	n, err := name(p)
	if err != nil {
		return "", err
	}
	if ver != "" {
		data, err := f.read(p)
		if err != nil && !errors.Is(err, ErrTooLarge) && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if err != nil || version(data) != ver {
			return "", ErrChanged
		}
	}
	if err := f.fs.MkdirAll(path.Dir(n), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("write %s: %w", p, clean(err))
	}
	if err := f.fs.WriteFile(n, []byte(text), 0o644); err != nil {
		return "", fmt.Errorf("write %s: %w", p, clean(err))
	}
	return version([]byte(text)), nil
}

// Delete removes a file, or a folder with all in it. One that is not there is no error.
func (f *Files) Delete(p string) error {
	n, err := name(p)
	if err != nil {
		return err
	}
	if err := f.fs.RemoveAll(n); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete %s: %w", p, clean(err))
	}
	return nil
}

// clean leaves an error's cause; the name is in front of it already.
func clean(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
