package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// wakeTime bounds how long a cluster may take to wake, on a machine that is busy. One that takes longer is started again.
const wakeTime = 20 * time.Second

// getTime is how long Get waits for that; most take milliseconds, and who can wait longer claims.
const getTime = 5 * time.Second

// errUsed ends what would have put a cluster to rest that is not idle any more.
var errUsed = errors.New("the cluster is in use")

// Use says that the learner's cluster is in use until release is called: a page is open, a request or a command is under
// way. A cluster that sleeps is woken, without waiting for it; one that is stopped is not started: that is a Claim.
// What nobody uses is idle, and is frozen and then stopped when it has been so for as long as the Options say.
//
// Who calls it: the gateway for each request, for as long as that lasts; the hub for each open page, from Join to Leave,
// and for each terminal in which a command runs.
func (m *Manager) Use(id string) (release func()) {
	c := m.managed(id)
	c.mu.Lock()
	c.users++
	dozes := c.dozes()
	c.mu.Unlock()
	if dozes {
		m.do(c, start, m.start)
	}
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.users--
		c.used = time.Now()
	})
}

// Touch is a Use that is over at once, such as a keystroke. It costs little.
func (m *Manager) Touch(id string) { m.Use(id)() }

// idle returns for how long nobody has used the cluster, 0 while somebody does; mu is held.
func (c *managed) idle() time.Duration {
	if c.users > 0 {
		return 0
	}
	return time.Since(c.used)
}

// dozes tells whether the cluster sleeps or is being put to rest; mu is held.
func (c *managed) dozes() bool {
	return c.status.Get().State == Frozen || c.operation != nil && c.operation.kind.rests() && !c.operation.ended()
}

// tick puts a cluster to rest when it has been idle for long enough, and sets its clock for the next look.
func (m *Manager) tick(c *managed) {
	level, after, idle := m.rest(c)
	if level == "" {
		return
	}
	left := after - idle
	if left <= 0 {
		left = after
		op := m.try(c, level, func(ctx context.Context, c *managed) (Cluster, error) {
			if level == freeze {
				return nil, m.freeze(ctx, c, after)
			}
			return nil, m.hibernate(ctx, c, after, "hibernated after "+spell(after))
		})
		if op != nil {
			<-op.done
			if op.err == nil {
				left = 0 // the next level
			}
		}
	}
	c.wind(left)
}

// rest returns what comes next for a cluster that nobody uses, after which time, and how long it has been idle. A
// cluster made ahead sleeps as others do, but is not stopped.
func (m *Manager) rest(c *managed) (level kind, after, idle time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	idle = c.idle()
	stops := m.o.StopAfter > 0 && !c.ahead
	_, freezes := c.cluster.(Freezer)
	freezes = freezes && m.o.FreezeAfter > 0 && !(stops && max(idle, m.o.FreezeAfter) >= m.o.StopAfter)
	switch {
	case c.cluster == nil:
		return "", 0, idle
	case freezes && c.status.Get().State != Frozen:
		return freeze, m.o.FreezeAfter, idle
	case stops:
		return hibernate, m.o.StopAfter, idle
	}
	return "", 0, idle
}

// wind sets the clock of a cluster that is there.
func (c *managed) wind(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clock != nil {
		c.clock.Reset(d)
	}
}

// resting returns the cluster if it has been idle for that long, and is well.
func (c *managed) resting(after time.Duration) (Cluster, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	state := c.status.Get().State
	if c.cluster == nil || state != Ready && state != Frozen || c.idle() < after {
		return nil, errUsed
	}
	return c.cluster, nil
}

// freeze puts a cluster to sleep that has been idle for that long.
func (m *Manager) freeze(ctx context.Context, c *managed, after time.Duration) error {
	up, err := c.resting(after)
	if err != nil {
		return err
	}
	sleeper := up.(Freezer)
	if err = sleeper.Freeze(ctx); err == nil && !c.slept(up, "asleep after "+spell(after)) {
		err = errUsed
	}
	if err != nil { // it may sleep and nobody knows
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wakeTime)
		defer cancel()
		err = errors.Join(err, sleeper.Thaw(ctx))
		c.log.Warn("a cluster could not be frozen", "error", err)
	}
	return err
}

// slept enters the state of a cluster that was frozen, unless it is not ready any more.
func (c *managed) slept(up Cluster, reason string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.status.Get()
	if c.cluster != up || s.State != Ready {
		return false
	}
	c.to(Frozen, reason, s.Phases)
	return true
}

// thaw wakes a cluster if it sleeps.
func (c *managed) thaw(ctx context.Context, up Cluster) error {
	if c.status.Get().State != Frozen {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wakeTime, fmt.Errorf("it did not answer within %s", wakeTime))
	defer cancel()
	if err := up.(Freezer).Thaw(ctx); err != nil {
		return fmt.Errorf("wake cluster %s: %w", c.id, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.status.Get(); c.cluster == up && s.State == Frozen {
		c.to(Ready, "", s.Phases)
		c.used = time.Now()
		c.clock.Reset(0)
	}
	return nil
}

// hibernate stops a cluster, with its data, that has been idle for that long.
func (m *Manager) hibernate(ctx context.Context, c *managed, after time.Duration, reason string) error {
	if _, err := c.resting(after); err != nil {
		return err
	}
	return m.stop(ctx, c, reason)
}

// spell says an idle time in words.
func spell(d time.Duration) string {
	switch {
	case d%time.Minute != 0:
		return d.String() + " of idleness"
	case d == time.Minute:
		return "1 idle minute"
	default:
		return fmt.Sprintf("%d idle minutes", d/time.Minute)
	}
}
