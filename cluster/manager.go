package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// ErrClosed is returned by a Manager that was closed.
var ErrClosed = errors.New("the server is stopping")

// Options configure a Manager; the zero value works.
type Options struct {
	Choices Choices                // where each learner's choice of a backend is kept; nil: in memory
	Ports   func(id string) string // the folder of the learner's sockets, see Spec; nil: none
	Nodes   int                    // see Spec

	// FreezeAfter is how long a cluster that can sleep is idle before it is frozen, StopAfter before it is stopped with its
	// data; 0 means never. The clock starts at the claim, and again whenever somebody has used it.
	FreezeAfter, StopAfter time.Duration

	Logger *slog.Logger
}

// A Manager decides when Providers make, start, stop and delete clusters, and tells where each stands. A learner has one
// cluster at a time, of one of the backends; those that they had of others are stopped and keep their data. A learner's
// operations follow one another; those of different learners do not wait for each other but for their turn to start.
type Manager struct {
	backends []*backend // the first is that of who has chosen none
	o        Options
	life     context.Context // of all operations; they outlive the requests that began them
	end      context.CancelFunc

	mu       sync.Mutex
	closed   bool
	clusters map[string]*managed
	running  sync.WaitGroup // operations
}

// NewManager returns a manager of the clusters of the backends, at least one; a learner begins with the first. It starts
// none by itself.
func NewManager(backends []Backend, o Options) *Manager {
	if o.Choices == nil {
		o.Choices = &memory{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Ports == nil {
		o.Ports = func(string) string { return "" }
	}
	m := &Manager{o: o, clusters: map[string]*managed{}}
	for _, b := range backends {
		m.backends = append(m.backends, newBackend(b))
	}
	m.life, m.end = context.WithCancel(context.Background())
	return m
}

// Claim returns the learner's cluster once it is ready, waking, starting or making it if need be. Claims of one cluster
// share one start and its place in the queue. It goes on when ctx ends: a page that is closed and opened again has not
// lost its place. Stop and the others below give it up. After a failure, Claim tries again.
func (m *Manager) Claim(ctx context.Context, id string) (Cluster, error) {
	c := m.managed(id)
	c.mu.Lock()
	c.used = time.Now()
	c.mu.Unlock()
	up, err := wait(ctx, m.do(c, start, m.start))
	if up != nil {
		return up, nil // though a switch that it waited for may have failed
	}
	return nil, err
}

// Get returns the learner's cluster if it is ready. One that sleeps is woken for it.
func (m *Manager) Get(id string) (Cluster, bool) {
	c := m.managed(id)
	c.mu.Lock()
	up, ready, dozes := c.cluster, c.cluster != nil && c.status.Get().State == Ready, c.dozes()
	if ready {
		c.used = time.Now()
	}
	c.mu.Unlock()
	if !dozes {
		return up, ready
	}
	ctx, cancel := context.WithTimeout(m.life, wakeTime)
	defer cancel()
	up, err := m.Claim(ctx, id)
	return up, err == nil
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

// Reset deletes the cluster with its data, in whatever state it is, and makes a new one of the same backend. It returns
// when that is ready. What the learner has of other backends stays.
func (m *Manager) Reset(ctx context.Context, id string) error {
	_, err := wait(ctx, m.do(m.managed(id), reset, func(ctx context.Context, c *managed) (Cluster, error) {
		active, err := m.active(ctx, c)
		if err != nil {
			return nil, err
		}
		if err := m.remove(ctx, c, active); err != nil {
			return nil, err
		}
		return m.start(ctx, c)
	}))
	return err
}

// Delete deletes all that the learner has, of all backends, with its data.
func (m *Manager) Delete(ctx context.Context, id string) error {
	_, err := wait(ctx, m.do(m.managed(id), remove, func(ctx context.Context, c *managed) (Cluster, error) {
		return nil, m.remove(ctx, c, m.backends...)
	}))
	return err
}

// Stop ends the cluster's process and keeps its data.
func (m *Manager) Stop(ctx context.Context, id string) error {
	_, err := wait(ctx, m.do(m.managed(id), stop, func(ctx context.Context, c *managed) (Cluster, error) {
		return nil, m.stop(ctx, c, "")
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
		stopping.Go(func() { errs[i] = m.stop(ctx, c, ErrClosed.Error()) })
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
		c.tick = func() { m.tick(c) }
		m.clusters[id] = c
		if _, err := m.active(m.life, c); err != nil {
			c.log.Warn("find out which backend is the learner's", "error", err) // who starts the cluster is told
		}
	}
	return c
}

// start brings the cluster up, from its data if there are any.
func (m *Manager) start(ctx context.Context, c *managed) (Cluster, error) {
	if up := c.ready(ctx); up != nil {
		err := c.thaw(ctx, up)
		if err == nil {
			return up, nil
		}
		if ctx.Err() == nil {
			err = m.stop(ctx, c, err.Error()) // and start it on its data
		}
		if err != nil {
			return nil, err
		}
	}
	c.to(Queued, "", nil)
	b, err := m.active(ctx, c)
	if err != nil {
		return nil, c.fail(ctx, err, Stopped)
	}
	ids, err := b.Provider.List(ctx)
	if err != nil {
		return nil, c.fail(ctx, err, Stopped)
	}
	spec := Spec{ID: c.id, Nodes: m.o.Nodes, Ports: m.o.Ports(c.id)}
	state, begin, undone := Creating, b.Provider.Create, Absent
	if slices.Contains(ids, c.id) {
		state, begin, undone = Starting, b.Provider.Adopt, Stopped
	}
	if err := b.starts.enter(ctx, c.ahead, c.moved); err != nil {
		return nil, c.giveUp(ctx, undone)
	}
	defer b.starts.leave()
	c.to(state, "", nil)
	up, err := begin(ctx, spec, c.progress)
	if err != nil {
		return nil, c.fail(ctx, err, undone)
	}
	c.adopt(up)
	return up, nil
}

// remove deletes what the learner has of the backends, and ends what runs.
func (m *Manager) remove(ctx context.Context, c *managed, backends ...*backend) error {
	if up := c.release(); up != nil {
		if err := c.thaw(ctx, up); err != nil {
			c.log.Warn("delete a cluster in its sleep", "error", err)
		}
	}
	c.to(Deleting, "", nil)
	var errs []error
	for _, b := range backends {
		errs = append(errs, b.Provider.Delete(ctx, c.id))
	}
	if err := errors.Join(errs...); err != nil {
		return c.fail(ctx, err, Failed)
	}
	c.to(Absent, "", nil)
	return nil
}

// stop ends the cluster and keeps its data. One that cannot be stopped goes on.
func (m *Manager) stop(ctx context.Context, c *managed, reason string) error {
	up := c.release()
	if up == nil {
		return nil
	}
	if err := c.thaw(ctx, up); err != nil {
		c.log.Warn("stop a cluster in its sleep", "error", err)
	}
	if err := up.Stop(ctx); err != nil {
		c.adopt(up)
		return fmt.Errorf("stop cluster %s: %w", c.id, err)
	}
	c.to(Stopped, reason, nil)
	return nil
}
