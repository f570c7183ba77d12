// Package cluster provisions the learners' Kubernetes clusters: a Provider makes clusters of one kind, the Manager
// decides when, and of which backend. It knows nothing of lessons, checks or browsers.
package cluster

import (
	"context"
	"time"

	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/cluster/limits"
)

// A Provider makes clusters of one kind. Implementations: embedded.
type Provider interface {
	// Create makes a cluster and returns when it is ready for a learner. When it fails, it deletes what it made.
	// progress is called in order, from one goroutine.
	Create(ctx context.Context, spec Spec, progress func(Phase)) (Cluster, error)
	// Adopt takes over a cluster that an earlier process of the server made, starting it on its data if it is down.
	Adopt(ctx context.Context, spec Spec, progress func(Phase)) (Cluster, error)
	// List returns the IDs of all clusters with data, running or not.
	List(ctx context.Context) ([]string, error)
	// Delete removes the cluster and its data. Deleting one that does not exist is no error.
	Delete(ctx context.Context, id string) error
}

// A Checker is a Provider that can tell beforehand what would keep it from making a cluster, such as an engine that is
// not there. The Manager asks it before it stops another cluster for one that is to be made.
type Checker interface {
	// Check makes nothing. The error says what to do.
	Check(ctx context.Context, spec Spec) error
}

// Spec says what cluster is wanted.
type Spec struct {
	ID    string // DNS label of at most 40 characters, unique on this server
	Nodes int    // 0 means the provider's default
	// Ports is a folder of unix sockets named PORT.sock: what listens on localhost:PORT for this learner. The API
	// server's calls to webhooks and APIServices at localhost are dialled there, and nowhere else.
	Ports string
	// Share is what the cluster's processes may take of this machine together; nil: anything.
	Share *limits.Share
}

// A Phase is one step of a cluster's start, as the learner sees it.
type Phase struct {
	Name    string        `json:"name"`              // stable identifier, e.g. "apiserver"
	Says    string        `json:"says"`              // for the learner, e.g. "API server answers"
	Elapsed time.Duration `json:"elapsed,omitempty"` // since the start began, when the phase ended; 0 while it runs
	Done    bool          `json:"done"`
}

// A Cluster is one learner's running cluster. It stays valid when its process dies and is healed.
type Cluster interface {
	ID() string
	// Config is the platform's own access, with all rights; not recorded. It survives restarts of the cluster.
	Config() *rest.Config
	// LearnerConfig is the identity with which the gateway forwards the learner's requests (user "learner").
	LearnerConfig() *rest.Config
	Capabilities() Capabilities
	// Health is called on each change: nil when (again) ready, the reason when not. It returns a stop function.
	Health(func(Health)) (stop func())
	// Usage returns what the cluster takes from the machine now.
	Usage(context.Context) (Usage, error)
	// Stop ends the process and keeps the data.
	Stop(context.Context) error
}

// A Freezer is a Cluster that can sleep: it keeps its memory, takes no CPU, and its connections stay open, unanswered.
// The Manager never freezes one that is in use, and thaws it before it stops or deletes it, so that neither needs to know.
type Freezer interface {
	// Freeze puts a ready cluster to sleep. One that is being healed is not frozen: that is an error. While it sleeps,
	// nobody takes its silence for a death; its health is told only if it really dies.
	Freeze(context.Context) error
	// Thaw wakes it; when it returns, the cluster answers as it did before, its nodes Ready. Waking one that is awake is
	// no error.
	Thaw(context.Context) error
}

// Capabilities say what a learner may expect of a cluster.
type Capabilities struct {
	Backend  string `json:"backend"`  // "embedded", "kind", "pods"
	Version  string `json:"version"`  // Kubernetes version, "v1.37.2"
	Nodes    int    `json:"nodes"`    // that it was made with
	RealPods bool   `json:"realPods"` // containers really run
	Logs     bool   `json:"logs"`     // kubectl logs and exec work
}

// Health is one observation of a running cluster.
type Health struct {
	Ready  bool    `json:"ready"`
	Reason string  `json:"reason,omitempty"` // why it is not ready, with the process's last words
	Fatal  bool    `json:"fatal,omitempty"`  // healing was given up; a reset or a retry is needed
	Phases []Phase `json:"phases,omitempty"` // of the start under way
}

// Usage is what a cluster costs.
type Usage struct {
	PrivateBytes int64         `json:"privateBytes"` // anonymous memory
	PSSBytes     int64         `json:"pssBytes"`
	CPU          time.Duration `json:"cpu"`       // since its process started
	DiskBytes    int64         `json:"diskBytes"` // its data folder
}
