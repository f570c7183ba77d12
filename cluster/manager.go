package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"sync"
)

// ErrClosed is returned by a Manager that was closed.
var ErrClosed = errors.New("the server is stopping")

// Options configure a Manager; the zero value works.
type Options struct {
	Parallel int                    // starts at the same time; 0 means half the processors, at least one
	Ports    func(id string) string // the folder of the learner's sockets, see Spec; nil: none
	Nodes    int                    // see Spec
	Logger   *slog.Logger
}

// A Manager decides when a Provider makes, starts, stops and deletes clusters, and tells where each stands. A cluster's
// operations follow one another; those of different clusters do not wait for each other but for their turn to start.
type Manager struct {
	provider Provider
	o        Options
	turns    chan struct{}   // holds one token per start under way
	life     context.Context // of all operations; they outlive the requests that began them
	end      context.CancelFunc

	mu       sync.Mutex
	closed   bool
	clusters map[string]*managed
	running  sync.WaitGroup // operations
}

// NewManager returns a manager of the clusters of p. It starts none by itself.
func NewManager(p Provider, o Options) *Manager {
	if o.Parallel <= 0 {
		o.Parallel = max(1, runtime.GOMAXPROCS(0)/2)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Ports == nil {
		o.Ports = func(string) string { return "" }
	}
	m := &Manager{provider: p, o: o, turns: make(chan struct{}, o.Parallel), clusters: map[string]*managed{}}
	m.life, m.end = context.WithCancel(context.Background())
	return m
}

// Claim returns the learner's cluster once it is ready, making or starting it if need be. Claims of one cluster share
// one start, which goes on when ctx ends: a page that is closed does not cancel it. After a failure, Claim tries again.
func (m *Manager) Claim(ctx context.Context, id string) (Cluster, error) {
	c := m.managed(id)
	return wait(ctx, m.do(c, start, m.start))
}

// Get returns the learner's cluster if it is ready.
func (m *Manager) Get(id string) (Cluster, bool) {
	c := m.managed(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cluster, c.cluster != nil && c.status.Get().State == Ready
}

// Status says where the learner's cluster stands.
func (m *Manager) Status(id string) Status { return m.managed(id).status.Get() }

// Subscribe calls fn with the current status and then at each change, in order and never concurrently.
func (m *Manager) Subscribe(id string, fn func(Status)) (stop func()) {
	return m.managed(id).status.Follow(fn)
}

// Retry tries a failed cluster again, with its data. On one that did not fail it is a Claim.
func (m *Manager) Retry(ctx context.Context, id string) error {
	_, err := m.Claim(ctx, id)
	return err
}

// Reset deletes the cluster with its data, in whatever state it is, and makes a new one. It returns when that is ready.
func (m *Manager) Reset(ctx context.Context, id string) error {
	_, err := wait(ctx, m.do(m.managed(id), reset, func(ctx context.Context, c *managed) (Cluster, error) {
		if err := m.remove(ctx, c); err != nil {
			return nil, err
		}
		return m.start(ctx, c)
	}))
	return err
}

// Delete deletes the cluster with its data.
func (m *Manager) Delete(ctx context.Context, id string) error {
	_, err := wait(ctx, m.do(m.managed(id), remove, func(ctx context.Context, c *managed) (Cluster, error) {
		return nil, m.remove(ctx, c)
	}))
	return err
}

// Stop ends the cluster's process and keeps its data.
func (m *Manager) Stop(ctx context.Context, id string) error {
	_, err := wait(ctx, m.do(m.managed(id), stop, func(ctx context.Context, c *managed) (Cluster, error) {
		return nil, m.stop(ctx, c)
	}))
	return err
}

// Close stops all clusters and keeps their data. Starts under way are given up. No claim succeeds afterwards.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	all := make([]*managed, 0, len(m.clusters))
	for _, c := range m.clusters {
		all = append(all, c)
	}
	m.mu.Unlock()
	m.end()
	m.running.Wait()

	errs := make([]error, len(all))
	var stopping sync.WaitGroup
	for i, c := range all {
		stopping.Go(func() { errs[i] = m.stop(ctx, c) })
	}
	stopping.Wait()
	return errors.Join(errs...)
}

func (m *Manager) managed(id string) *managed {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.clusters[id]
	if c == nil {
		c = newManaged(id, m.o.Logger)
		m.clusters[id] = c
	}
	return c
}

// start brings the cluster up, from its data if there are any.
func (m *Manager) start(ctx context.Context, c *managed) (Cluster, error) {
	if up := c.ready(ctx); up != nil {
		return up, nil
	}
	c.to(Queued, "", nil)
	select {
	case m.turns <- struct{}{}:
		defer func() { <-m.turns }()
	case <-ctx.Done():
		return nil, c.giveUp(ctx, Stopped)
	}
	ids, err := m.provider.List(ctx)
	if err != nil {
		return nil, c.fail(ctx, err, Stopped)
	}
	spec := Spec{ID: c.id, Nodes: m.o.Nodes, Ports: m.o.Ports(c.id)}
	state, begin, undone := Creating, m.provider.Create, Absent
	if slices.Contains(ids, c.id) {
		state, begin, undone = Starting, m.provider.Adopt, Stopped
	}
	c.to(state, "", nil)
	up, err := begin(ctx, spec, c.progress)
	if err != nil {
		return nil, c.fail(ctx, err, undone)
	}
	c.adopt(up)
	return up, nil
}

// remove deletes the cluster.
func (m *Manager) remove(ctx context.Context, c *managed) error {
	c.release()
	c.to(Deleting, "", nil)
	if err := m.provider.Delete(ctx, c.id); err != nil {
		return c.fail(ctx, err, Failed)
	}
	c.to(Absent, "", nil)
	return nil
}

func (m *Manager) stop(ctx context.Context, c *managed) error {
	up := c.release()
	if up == nil {
		return nil
	}
	if err := up.Stop(ctx); err != nil {
		return fmt.Errorf("stop cluster %s: %w", c.id, err)
	}
	c.to(Stopped, "", nil)
	return nil
}
