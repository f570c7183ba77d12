package cluster

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apilab/apilab/cluster/limits"
)

// ErrClosed is returned by a Manager that was closed.
var ErrClosed = errors.New("the server is stopping")

// Options configure a Manager; the zero value works.
type Options struct {
	Choices Choices                // where it is kept what is whose; nil: in memory
	Ports   func(id string) string // the folder of the learner's sockets, see Spec; nil: none
	Nodes   int                    // see Spec

	// FreezeAfter is how long a cluster that can sleep is idle before it is frozen, StopAfter before it is stopped with its
	// data; 0 means never. The clock starts at the claim, and again whenever somebody has used it.
	FreezeAfter, StopAfter time.Duration
	// Warm is how many clusters of the first backend are kept ready for learners who come, made in the background.
	Warm int
	// Budget is the memory that all clusters together may take, in bytes; 0: any. A start beyond it stops the cluster that
	// has been idle longest, with its data, or waits in the queue and says why.
	Budget int64
	// Limits hold each learner's cluster, and their shells, to a share of this machine; nil: they take what they get.
	Limits *limits.Limits

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

	pool      pool
	warming   warming
	reckoning sync.Mutex // held while memory is given

	mu       sync.Mutex
	closed   bool
	clusters map[string]*managed
	running  sync.WaitGroup // operations, and the filling of the pool
}

// NewManager returns a manager of the clusters of the backends, at least one; a learner begins with the first. By itself
// it starts none but those that are to be kept warm.
func NewManager(backends []Backend, o Options) *Manager {
	background := o.Choices != nil || o.Warm > 0
	if o.Choices == nil {
		o.Choices = &memory{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Ports == nil {
		o.Ports = func(string) string { return "" }
	}
	m := &Manager{o: o, clusters: map[string]*managed{}, pool: pool{spent: make(chan struct{}, 1)}}
	for _, b := range backends {
		m.backends = append(m.backends, newBackend(b))
	}
	m.life, m.end = context.WithCancel(context.Background())
	if background {
		m.running.Go(m.refill)
	}
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
	ctx, cancel := context.WithTimeout(m.life, getTime)
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
		return nil, m.stop(ctx, c, "it was stopped on request")
	}))
	return err
}

// Close stops all clusters and keeps their data. Starts under way are given up. No claim succeeds afterwards.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.end()
	m.running.Wait()

	all := m.all()
	errs := make([]error, len(all))
	var stopping sync.WaitGroup
	for i, c := range all {
		stopping.Go(func() { errs[i] = m.stop(ctx, c, ErrClosed.Error()) })
	}
	stopping.Wait()
	if err := m.o.Limits.Close(); err != nil {
		m.o.Logger.Debug("remove the control groups of shares", "error", err) // a shell still ends; the next run removes them
	}
	return errors.Join(errs...)
}

func (m *Manager) all() []*managed {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.clusters))
}

func (m *Manager) knows(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clusters[id] != nil
}

func (m *Manager) forget(c *managed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.clusters, c.id)
}

func (m *Manager) managed(id string) *managed {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.clusters[id]
	if c == nil {
		c = newManaged(id, m.o.Logger)
		c.ahead = strings.HasPrefix(id, aheadPrefix)
		c.tick = func() { m.tick(c) }
		m.clusters[id] = c
		if _, err := m.active(m.life, c); err != nil {
			c.log.Warn("find out which backend is the learner's", "error", err) // who starts the cluster is told
		}
	}
	return c
}
