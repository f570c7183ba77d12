// Package workspace lays out projects on which learners work with their own tools, on their own machine. It knows nothing
// of clusters. It never takes anything away: a file that was changed since it was laid out is its owner's.
package workspace

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/rogpeppe/go-internal/txtar"
)

// operator is generated of the reference operator and its skeleton; the package's tests write it with -update. An archive,
// because files of a Go module of its own cannot be embedded as they are.
//
//go:embed operator.txtar
var operator []byte

// marker is the file by which a folder is known to be laid out: the checksums of the files as they were then, by name.
const marker = ".apilab-workspace"

// Kubeconfig is the file with a learner's access to their cluster.
const Kubeconfig = "apilab.kubeconfig"

// ErrForeign says that there is something in the folder that was not laid out.
var ErrForeign = errors.New("the folder is not empty, and not one that apilab laid out")

// A Layout is what came of laying out a project: files by their names, with slashes, sorted.
type Layout struct {
	Written []string
	Kept    []string // were there, and differ from what would have been written
}

// Operator lays out the operator project in a folder, which is made if it is not there. In a folder that it laid out before
// it brings back what is missing and renews what nobody has changed. Another folder has to be empty, unless force is set;
// then what is there is kept.
func Operator(dir string, force bool) (Layout, error) { return layOut(dir, operator, force) }

func layOut(dir string, archive []byte, force bool) (layout Layout, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return layout, fmt.Errorf("make the folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return layout, fmt.Errorf("open the folder: %w", err)
	}
	defer root.Close()
	before, err := laidOut(root, force)
	if err != nil {
		return layout, err
	}
	after := map[string]string{}
	for _, file := range txtar.Parse(archive).Files {
		written, err := place(root, file, before[file.Name])
		switch {
		case err != nil:
			return layout, fmt.Errorf("write %s: %w", file.Name, err)
		case written:
			layout.Written = append(layout.Written, file.Name)
			after[file.Name] = sum(file.Data)
		default:
			if !same(root, file) {
				layout.Kept = append(layout.Kept, file.Name)
			}
			after[file.Name] = before[file.Name]
			if after[file.Name] == "" && same(root, file) {
				after[file.Name] = sum(file.Data)
			}
		}
	}
	slices.Sort(layout.Written)
	slices.Sort(layout.Kept)
	data, err := json.MarshalIndent(after, "", "  ")
	if err != nil {
		return layout, err
	}
	return layout, replace(root, marker, append(data, '\n'), 0o644)
}

// laidOut returns the checksums of the files that were laid out before; none in a folder that is empty.
func laidOut(root *os.Root, force bool) (map[string]string, error) {
	data, err := root.ReadFile(marker)
	if err == nil {
		var sums map[string]string
		if err := json.Unmarshal(data, &sums); err != nil {
			return nil, fmt.Errorf("read %s: %w", marker, err)
		}
		return sums, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 && !force {
		return nil, ErrForeign
	}
	return nil, nil
}

// place writes a file where there is none, or where there is one that was laid out and is as it was then.
func place(root *os.Root, file txtar.File, before string) (written bool, err error) {
	if dir := path.Dir(file.Name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return false, err
		}
	}
	data, err := root.ReadFile(file.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, replace(root, file.Name, file.Data, 0o644)
	case err != nil:
		return false, err
	case sum(data) == before && sum(file.Data) != before:
		return true, replace(root, file.Name, file.Data, 0o644)
	}
	return false, nil
}

func same(root *os.Root, file txtar.File) bool {
	data, err := root.ReadFile(file.Name)
	return err == nil && sum(data) == sum(file.Data)
}

// WriteKubeconfig writes the learner's access into a folder that was laid out. Only they can read it.
func WriteKubeconfig(dir string, data []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	defer root.Close()
	return replace(root, Kubeconfig, data, 0o600)
}

// replace writes a file whole or not at all, with this mode, whatever there was.
func replace(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	part := name + ".part"
	if err := root.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := root.WriteFile(part, data, mode); err != nil {
		return err
	}
	return root.Rename(part, name)
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
