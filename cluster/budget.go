package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"
)

const (
	// leastIdle is how long a cluster must have been idle before it makes way for another: less would only make the two
	// learners push each other out.
	leastIdle = time.Minute
	// lookEvery is how often a start that waits for memory looks again.
	lookEvery = 5 * time.Second
)

// A shortageError says that the budget has no memory for one more cluster.
type shortageError struct {
	clusters      int
	taken, budget int64
}

func (e *shortageError) Error() string {
	takers := "1 cluster"
	if e.clusters != 1 {
		takers = fmt.Sprintf("%d clusters", e.clusters)
	}
	return fmt.Sprintf("no memory for one more cluster: %d of %d MiB are taken, by %s", e.taken>>20, e.budget>>20, takers)
}

// afford waits until the budget has memory for one more cluster, which is then reckoned to c until settle is called. For
// a learner it makes room by what costs others least: clusters that are nobody's yet, then those idle for longest. What
// is made ahead waits for nothing, and fails instead.
func (m *Manager) afford(ctx context.Context, c *managed, b *backend) (settle func(), err error) {
	if m.o.Budget == 0 {
		return func() {}, nil
	}
	for {
		short := m.reserve(ctx, c, b.Memory)
		if short == nil {
			return func() { c.reserve(0) }, nil
		}
		if c.ahead {
			return nil, short
		}
		if m.makeRoom(ctx, c) {
			continue
		}
		c.to(Queued, short.Error()+", all of them in use; waits for one that is not", nil)
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// reserve reckons memory to c that it does not take yet, if the budget has it. A lone cluster is always afforded.
func (m *Manager) reserve(ctx context.Context, c *managed, memory int64) error {
	m.reckoning.Lock() // or two would be given the same
	defer m.reckoning.Unlock()
	var taken int64
	clusters := 0
	for _, other := range m.all() {
		if cost := m.cost(ctx, other); cost > 0 {
			taken += cost
			clusters++
		}
	}
	if clusters > 0 && taken+memory > m.o.Budget {
		return &shortageError{clusters: clusters, taken: taken, budget: m.o.Budget}
	}
	c.reserve(memory)
	return nil
}

func (c *managed) reserve(memory int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reserved = memory
}

// cost is the memory of a cluster: what it takes, and at least what its backend reckons with.
func (m *Manager) cost(ctx context.Context, c *managed) int64 {
	c.mu.Lock()
	up, reserved := c.cluster, c.reserved
	c.mu.Unlock()
	if up == nil {
		return reserved
	}
	b, err := m.active(ctx, c)
	if err != nil {
		return reserved
	}
	used, err := up.Usage(ctx)
	if err != nil {
		c.log.Debug("read the cluster's usage", "error", err)
	}
	return max(used.PrivateBytes, b.Memory, 1)
}

// makeRoom ends one cluster, and tells whether it did.
func (m *Manager) makeRoom(ctx context.Context, c *managed) bool {
	if spare := m.pool.next(); spare != nil {
		return m.discard(spare) == nil
	}
	idlest := slices.SortedFunc(slices.Values(m.all()), func(a, b *managed) int { return a.lastUse().Compare(b.lastUse()) })
	for _, other := range idlest {
		if _, err := other.resting(leastIdle); err != nil || other == c || other.ahead {
			continue
		}
		op := m.try(other, hibernate, func(ctx context.Context, other *managed) (Cluster, error) {
			return nil, m.hibernate(ctx, other, leastIdle, "hibernated to make room for another learner's, as it had been idle longest")
		})
		if op == nil {
			continue
		}
		if _, err := wait(ctx, op); err == nil {
			return true
		}
	}
	return false
}

func (c *managed) lastUse() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}
