package cluster

import (
	"context"
	"sync"
)

// Choices remember which backend each learner chose, over restarts of the server.
type Choices interface {
	// Backend returns the name of the learner's backend, "" when they have chosen none.
	Backend(ctx context.Context, learner string) (string, error)
	SetBackend(ctx context.Context, learner, name string) error
}

// memory are Choices for as long as the process lives.
type memory struct{ backends sync.Map }

func (m *memory) Backend(_ context.Context, learner string) (string, error) {
	name, _ := m.backends.Load(learner)
	chosen, _ := name.(string)
	return chosen, nil
}

func (m *memory) SetBackend(_ context.Context, learner, name string) error {
	m.backends.Store(learner, name)
	return nil
}
