package cluster

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/apilab/apilab/cluster/observe"
)

// managed is what a Manager knows of one cluster.
type managed struct {
	id     string
	log    *slog.Logger
	status observe.Value[Status]
	tick   func() // looks whether the cluster is idle
	ahead  bool   // made ahead, for nobody yet
	pooled bool   // was put into the pool, once

	mu        sync.Mutex
	operation *operation // the newest
	cluster   Cluster    // that it has; nil while there is none running
	unwatch   func()     // ends the following of the cluster's health
	reserved  int64      // memory that the start under way is reckoned with
	users     int
	used      time.Time   // when somebody used it last
	clock     *time.Timer // runs tick while there is a cluster
}

func newManaged(id string, log *slog.Logger) *managed {
	c := &managed{id: id, log: log.With("cluster", id), tick: func() {}}
	c.status.Set(Status{ID: id, State: Absent, Since: time.Now()})
	return c
}

// to enters a state. The phases of a start are kept in the states that it leads to.
func (c *managed) to(state State, reason string, phases []Phase) {
	c.status.Update(func(s Status) Status {
		if !s.State.may(state) {
			c.log.Error("a transition that the state machine does not know", "from", s.State, "to", state)
		}
		if s.State != state {
			s.Since = time.Now()
			c.log.Info("cluster "+string(state), "from", s.State, "reason", reason)
		}
		s.State, s.Reason, s.Position, s.Phases = state, reason, 0, phases
		return s
	})
}

// use makes the cluster one of a backend, of which none runs yet.
func (c *managed) use(backend string) {
	c.status.Update(func(s Status) Status {
		s.Backend, s.Capabilities = backend, Capabilities{}
		return s
	})
}

// runs returns the cluster, ready or not; nil while there is none running.
func (c *managed) runs() Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cluster
}

// progress adds a phase of the start under way to the status.
func (c *managed) progress(p Phase) {
	c.status.Update(func(s Status) Status {
		phases := append([]Phase(nil), s.Phases...)
		if n := len(phases); n > 0 && phases[n-1].Name == p.Name {
			phases[n-1] = p
		} else {
			phases = append(phases, p)
		}
		s.Phases = phases
		return s
	})
}

// moved is told the place in the queue, and why there is one.
func (c *managed) moved(position int, reason string) {
	c.status.Update(func(s Status) Status {
		s.Position, s.Reason = position, reason
		return s
	})
}

// adopt takes a cluster that is ready, and follows its health from then on.
func (c *managed) adopt(up Cluster) {
	c.mu.Lock()
	c.cluster, c.used, c.clock = up, time.Now(), time.AfterFunc(0, c.tick)
	c.mu.Unlock()
	c.status.Update(func(s Status) Status {
		s.Capabilities = up.Capabilities()
		return s
	})
	c.to(Ready, "", c.status.Get().Phases)
	unwatch := up.Health(func(h Health) { c.observe(up, h) })
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cluster != up { // it has ended already
		unwatch()
		return
	}
	c.unwatch = unwatch
}

// observe turns the health of a cluster into the state of ours.
func (c *managed) observe(up Cluster, h Health) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cluster != up {
		return // it was released
	}
	phases := h.Phases
	switch {
	case h.Ready:
		if s := c.status.Get(); s.State == Healing {
			c.to(Ready, "", s.Phases)
			c.used = time.Now()
			c.clock.Reset(0)
		}
	case h.Fatal:
		c.drop()
		c.to(Failed, h.Reason, phases)
	default:
		c.to(Healing, h.Reason, phases)
	}
}

// ready returns the cluster if it is ready, waiting for the end of a healing; nil if there is none.
func (c *managed) ready(ctx context.Context) Cluster {
	settled := make(chan struct{})
	var once sync.Once
	unfollow := c.status.Follow(func(s Status) {
		if s.State != Healing {
			once.Do(func() { close(settled) })
		}
	})
	defer unfollow()
	select {
	case <-settled:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cluster
}

// release gives the cluster up, so that its health is not ours any more, and returns it.
func (c *managed) release() Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	up := c.cluster
	c.drop()
	return up
}

// drop forgets the cluster; c.mu is held.
func (c *managed) drop() {
	c.cluster = nil
	if c.clock != nil {
		c.clock.Stop()
		c.clock = nil
	}
	if c.unwatch != nil {
		c.unwatch()
		c.unwatch = nil
	}
}

// fail ends an operation with an error. If it failed because it was cancelled, that is no failure: the cluster is then
// in the state undone.
func (c *managed) fail(ctx context.Context, err error, undone State) error {
	if ctx.Err() != nil {
		return c.giveUp(ctx, undone)
	}
	c.to(Failed, err.Error(), c.status.Get().Phases)
	return err
}

func (c *managed) giveUp(ctx context.Context, undone State) error {
	c.to(undone, "its start was given up", nil)
	return errors.Join(ErrCancelled, context.Cause(ctx))
}

// ErrCancelled is returned to those who waited for an operation that another one replaced.
var ErrCancelled = errors.New("the operation was given up for another one")
