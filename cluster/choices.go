package cluster

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// Choices remember over restarts of the server which backend each learner chose, and which clusters are theirs.
type Choices interface {
	// Backend returns the name of the learner's backend, "" when they have chosen none.
	Backend(ctx context.Context, learner string) (string, error)
	SetBackend(ctx context.Context, learner, name string) error
	// Cluster returns the ID of the learner's cluster of a backend, "" when it is the learner's own: only a cluster that
	// was made before it was anybody's has another.
	Cluster(ctx context.Context, learner, backend string) (id string, err error)
	// SetCluster gives the learner a cluster, which is nobody else's; "" takes it away again.
	SetCluster(ctx context.Context, learner, backend, id string) error
	// Clusters returns the IDs of all clusters that were given to learners.
	Clusters(ctx context.Context, backend string) ([]string, error)
}

// memory are Choices for as long as the process lives.
type memory struct {
	mu       sync.Mutex
	backends map[string]string            // by learner
	clusters map[string]map[string]string // by backend and learner
}

func (m *memory) Backend(_ context.Context, learner string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.backends[learner], nil
}

func (m *memory) SetBackend(_ context.Context, learner, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.backends == nil {
		m.backends = map[string]string{}
	}
	m.backends[learner] = name
	return nil
}

func (m *memory) Cluster(_ context.Context, learner, backend string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clusters[backend][learner], nil
}

func (m *memory) SetCluster(_ context.Context, learner, backend, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clusters == nil {
		m.clusters = map[string]map[string]string{}
	}
	if m.clusters[backend] == nil {
		m.clusters[backend] = map[string]string{}
	}
	if m.clusters[backend][learner] = id; id == "" {
		delete(m.clusters[backend], learner)
	}
	return nil
}

func (m *memory) Clusters(_ context.Context, backend string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.clusters[backend])), nil
}
