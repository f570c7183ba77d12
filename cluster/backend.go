package cluster

import (
	"context"
	"fmt"
	"runtime"
	"strings"
)

// A Backend is one kind of clusters that a server offers its learners.
type Backend struct {
	Name     string // as learners and exercises call it, such as "embedded"
	Provider Provider
	Parallel int // starts at the same time; 0 means one for each processor, which a start keeps busy for a half of its time
	// Memory is what a cluster is reckoned with in the budget, in bytes, as long as it takes no more; 0: what it takes.
	Memory int64
}

// backend is a Backend with its starts.
type backend struct {
	Backend
	starts *queue
}

func newBackend(b Backend) *backend {
	if b.Parallel <= 0 {
		b.Parallel = runtime.GOMAXPROCS(0)
	}
	return &backend{Backend: b, starts: &queue{free: b.Parallel}}
}

// busy says why a start has to wait for its turn.
func (b *backend) busy() string {
	if b.Parallel == 1 {
		return "another cluster is being started, and this machine's processors bear one at a time"
	}
	return fmt.Sprintf("%d clusters are being started, as many as this machine's processors bear at a time", b.Parallel)
}

// An UnknownBackendError says that a backend was asked for that the server does not have.
type UnknownBackendError struct {
	Name  string
	Known []string
}

func (e *UnknownBackendError) Error() string {
	return fmt.Sprintf("there is no backend %q on this server; it has %s", e.Name, strings.Join(e.Known, ", "))
}

// Backends returns the names of the backends, that of who has chosen none first.
func (m *Manager) Backends() []string {
	names := make([]string, len(m.backends))
	for i, b := range m.backends {
		names[i] = b.Name
	}
	return names
}

// backend returns the one with the name, or an *UnknownBackendError.
func (m *Manager) backend(name string) (*backend, error) {
	for _, b := range m.backends {
		if b.Name == name {
			return b, nil
		}
	}
	return nil, &UnknownBackendError{Name: name, Known: m.Backends()}
}

// active returns the backend of the learner's cluster. What they chose in an earlier run may be unknown in this one:
// their data are there, so nobody else's cluster takes its place.
func (m *Manager) active(ctx context.Context, c *managed) (*backend, error) {
	name := c.status.Get().Backend
	if name == "" {
		chosen, err := m.o.Choices.Backend(ctx, c.id)
		if err != nil {
			return nil, err
		}
		if name = chosen; name == "" {
			name = m.backends[0].Name
		}
		c.use(name)
	}
	return m.backend(name)
}
