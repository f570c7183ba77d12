package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// aheadPrefix begins the IDs of clusters that are made ahead, and no learner's. A cluster keeps its ID when it is given.
	aheadPrefix = "warm-"
	// refillPause is how long the pool waits after a cluster that could not be made.
	refillPause = time.Minute
)

// A pool has clusters of the first backend that are ready and nobody's yet.
type pool struct {
	mu    sync.Mutex
	ready []*managed
	spent chan struct{} // somebody wanted one; holds one
}

// refill keeps the pool as large as the Options say. It ends with the Manager.
func (m *Manager) refill() {
	if err := m.sweep(m.life); err != nil {
		m.o.Logger.Warn("remove clusters that an earlier run made ahead", "error", err)
	}
	for m.o.Warm > 0 && m.life.Err() == nil {
		var retry <-chan time.Time
		if m.pool.size() < m.o.Warm {
			err := m.makeAhead(m.life)
			if err == nil {
				continue
			}
			m.o.Logger.Info("no cluster could be made ahead", "error", err)
			retry = time.After(refillPause)
		}
		select {
		case <-m.pool.spent:
		case <-retry:
		case <-m.life.Done():
		}
	}
}

// sweep deletes what earlier runs made ahead and gave to nobody.
func (m *Manager) sweep(ctx context.Context) error {
	var errs []error
	for _, b := range m.backends {
		ids, err := b.Provider.List(ctx)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		// In this order: what is made or given meanwhile is known, or remembered before it is forgotten.
		ids = slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, aheadPrefix) || m.knows(id) })
		given, err := m.o.Choices.Clusters(ctx, b.Name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, id := range ids {
			if !slices.Contains(given, id) {
				errs = append(errs, b.Provider.Delete(ctx, id))
			}
		}
	}
	return errors.Join(errs...)
}

// makeAhead makes one more cluster, which launch puts into the pool. When ctx ends it is given up.
func (m *Manager) makeAhead(ctx context.Context) error {
	c := m.managed(aheadPrefix + strings.ToLower(rand.Text()[:10]))
	op := m.do(c, start, m.start)
	if _, err := wait(ctx, op); err != nil {
		err = fmt.Errorf("make a cluster ahead: %w", err)
		op.cancel()
		<-op.done
		if op.err == nil && !m.pool.drop(c) {
			return err // it became ready after all, and a learner has it
		}
		return errors.Join(err, m.discard(c))
	}
	return nil
}

// discard deletes a cluster that is nobody's.
func (m *Manager) discard(c *managed) error {
	_, err := wait(context.WithoutCancel(m.life), m.do(c, remove, func(ctx context.Context, c *managed) (Cluster, error) {
		return nil, m.remove(ctx, c, m.backends[0])
	}))
	if errors.Is(err, ErrClosed) {
		return nil // the next run's sweep does it
	}
	if err == nil {
		m.forget(c)
	}
	return err
}

// take gives the learner a cluster of the pool; nil if there is none for them. It is theirs when that is remembered: a
// crash in between leaves it to the sweep.
func (m *Manager) take(ctx context.Context, c *managed, b *backend) (Cluster, error) {
	if c.ahead || b != m.backends[0] {
		return nil, nil
	}
	for {
		spare := m.pool.next()
		select {
		case m.pool.spent <- struct{}{}:
		default:
		}
		if spare == nil {
			return nil, nil
		}
		up, err := m.give(ctx, spare, c, b)
		if err == nil {
			c.log.Info("given a cluster that was made ahead", "made", spare.id)
			c.adopt(up)
			m.forget(spare)
			return up, nil
		}
		c.log.Warn("a cluster made ahead was not given", "made", spare.id, "error", err)
		m.running.Go(func() { _ = m.discard(spare) })
		if ctx.Err() != nil {
			return nil, err
		}
	}
}

// give makes a spare cluster the learner's, awake. One that was not given is of no use to others: it may be linked, and
// even remembered, already.
func (m *Manager) give(ctx context.Context, spare, c *managed, b *backend) (Cluster, error) {
	if s := spare.status.Get(); s.State != Ready && s.State != Frozen {
		return nil, fmt.Errorf("it is %s (%s)", s.State, s.Reason)
	}
	if _, err := wait(ctx, m.do(spare, start, m.start)); err != nil { // wakes it
		return nil, err
	}
	if err := link(m.o.Ports(c.id), m.o.Ports(spare.id)); err != nil {
		return nil, err
	}
	if err := m.o.Choices.SetCluster(ctx, c.id, b.Name, spare.id); err != nil {
		return nil, err
	}
	return spare.release(), nil
}

// link lets a cluster that was made with one folder of sockets find a learner's. From its next start on it knows them.
func link(learners, made string) error {
	if learners == "" {
		return nil
	}
	unlink(made) // of a try before
	if err := os.MkdirAll(learners, 0o700); err != nil {
		return fmt.Errorf("make the learner's folder of sockets: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(made), 0o700); err != nil {
		return fmt.Errorf("make the folder of a link: %w", err)
	}
	if err := os.Symlink(learners, made); err != nil {
		return fmt.Errorf("link the learner's folder of sockets: %w", err)
	}
	return nil
}

// unlink removes what link has made, and nothing else.
func unlink(made string) {
	if target, err := os.Readlink(made); err == nil && target != "" {
		_ = os.Remove(made)
		_ = os.Remove(filepath.Dir(made)) // if it is empty
	}
}

func (p *pool) size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ready)
}

func (p *pool) add(c *managed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = append(p.ready, c)
}

// drop takes a cluster out, and tells whether it was there.
func (p *pool) drop(c *managed) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.ready, c)
	if i >= 0 {
		p.ready = slices.Delete(p.ready, i, i+1)
	}
	return i >= 0
}

// next takes a cluster out, the oldest one; nil if there is none.
func (p *pool) next() *managed {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ready) == 0 {
		return nil
	}
	c := p.ready[0]
	p.ready = p.ready[1:]
	return c
}
