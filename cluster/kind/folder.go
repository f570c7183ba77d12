package kind

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A folder is what we keep of one cluster. Its data are in the nodes.
type folder string

func (f folder) description() string { return filepath.Join(string(f), "cluster.json") }
func (f folder) kubeconfig() string  { return filepath.Join(string(f), "kubeconfig") }

// shared is the part of the folder that every node sees; nothing secret is in it.
func (f folder) shared() string { return filepath.Join(string(f), "node") }
func (f folder) egress() string { return filepath.Join(f.shared(), egressSocket) }

// format is the layout of the folder; it is raised by a change that older versions cannot read.
const format = 1

// A description is what cluster.json holds.
type description struct {
	Format   int       `json:"format"`
	Created  time.Time `json:"created"`
	Engine   Engine    `json:"engine"` // that has the nodes, whichever is in use now
	Image    string    `json:"image"`
	Nodes    int       `json:"nodes"`
	Ready    bool      `json:"ready"`            // it was, once; what never was is of no use to anybody
	Server   string    `json:"server,omitempty"` // the API server's address on this machine
	CA       []byte    `json:"ca,omitempty"`
	Platform keyPair   `json:"platform,omitzero"` // the platform's access, and the learner's
	Learner  keyPair   `json:"learner,omitzero"`
}

// A keyPair is a client certificate and its key, PEM.
type keyPair struct {
	Cert []byte `json:"cert"`
	Key  []byte `json:"key"`
}

// make makes the folder of a cluster that is about to be made.
func (f folder) make(d description) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	// The nodes' root is another user here, under some engines. The folder above lets nobody else in.
	if err := os.MkdirAll(f.shared(), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(f.shared(), egressConfigFile), []byte(egressConfig), 0o644); err != nil {
		return err
	}
	return f.write(d)
}

func (f folder) read() (description, error) {
	var d description
	text, err := os.ReadFile(f.description())
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	switch {
	case err != nil:
		return d, fmt.Errorf("what is known of the cluster cannot be read (%w): %w", err, ErrGone)
	case d.Format > format:
		return d, fmt.Errorf("a newer apilab made the cluster (format %d, this one knows %d): update apilab, or reset the cluster", d.Format, format)
	}
	return d, nil
}

// write replaces the description as a whole.
func (f folder) write(d description) error {
	d.Format = format
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

// halfMade tells whether the cluster never was ready, and so is nobody's. One that cannot be read may have been.
func (f folder) halfMade() bool {
	d, err := f.read()
	return errors.Is(err, os.ErrNotExist) || err == nil && !d.Ready
}

func (f folder) exists() bool {
	_, err := os.Lstat(string(f))
	return !errors.Is(err, os.ErrNotExist)
}
