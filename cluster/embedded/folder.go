package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/apilab/apilab/cluster/embedded/kubeversion"
	"github.com/apilab/apilab/cluster/embedded/pki"
	"github.com/apilab/apilab/cluster/embedded/wire"
)

// A folder is the data of one cluster. The control plane's own names in it are those of package controlplane.
type folder string

func (f folder) description() string { return filepath.Join(string(f), "cluster.json") }
func (f folder) lock() string        { return filepath.Join(string(f), "lock") }
func (f folder) unready() string     { return filepath.Join(string(f), "unready") }
func (f folder) store() string       { return filepath.Join(string(f), "etcd") }
func (f folder) pki() pki.Dir        { return pki.Dir(filepath.Join(string(f), "pki")) }

// make makes the folder, marked as one whose cluster was never ready. Nothing in such a folder is a learner's, and
// half-written as it may be, it could not be started: what a crash leaves of it is removed. The mark is there from the first.
func (f folder) make() error {
	draft := folder(string(f) + trash)
	if err := os.RemoveAll(string(draft)); err != nil {
		return err
	}
	if err := os.MkdirAll(string(draft), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(draft.unready(), nil, 0o600); err != nil {
		return err
	}
	return os.Rename(string(draft), string(f))
}

// wasReady reports whether the cluster has ever been ready.
func (f folder) wasReady() bool {
	_, err := os.Lstat(f.unready())
	return err != nil
}

// format is the layout of the folder; it is raised by a change that older versions cannot read.
const format = 1

// A description is what cluster.json holds.
type description struct {
	Format     int         `json:"format"`
	Kubernetes string      `json:"kubernetes"` // the newest version that has written the data
	Created    time.Time   `json:"created"`
	Nodes      []wire.Node `json:"nodes"`
}

// read returns the description, checking that this program can take the data over.
func (f folder) read() (description, error) {
	var d description
	text, err := os.ReadFile(f.description())
	if errors.Is(err, os.ErrNotExist) {
		return d, fmt.Errorf("%w: %s has no cluster.json", ErrUnreadable, f)
	}
	if err != nil {
		return d, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return d, fmt.Errorf("%w: %s: %w", ErrUnreadable, f.description(), err)
	}
	if d.Format > format {
		return d, fmt.Errorf("%w: its folder has format %d, this apilab knows %d", ErrNewer, d.Format, format)
	}
	written, err := version.ParseSemantic(d.Kubernetes)
	if err != nil {
		return d, fmt.Errorf("%w: %s: %w", ErrUnreadable, f.description(), err)
	}
	own := version.MustParseSemantic(kubeversion.Version)
	if written.Major() != own.Major() || written.Minor() > own.Minor() {
		return d, fmt.Errorf("%w: Kubernetes %s wrote it, this apilab has %s", ErrNewer, d.Kubernetes, kubeversion.Version)
	}
	return d, nil
}

// write replaces the description as a whole.
func (f folder) write(d description) error {
	d.Format, d.Kubernetes = format, kubeversion.Version
	text, err := json.MarshalIndent(d, "", "\t")
	if err != nil {
		return err
	}
	draft := f.description() + ".new"
	if err := os.WriteFile(draft, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(draft, f.description())
}

// size is what the folder takes on the disk, in bytes.
func (f folder) size() (int64, error) {
	var total int64
	err := filepath.WalkDir(string(f), func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return nil // etcd removes files as it goes
			}
			return err
		}
		if info, err := entry.Info(); err == nil {
			total += allocated(info)
		}
		return nil
	})
	return total, err
}
