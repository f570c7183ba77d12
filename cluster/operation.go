package cluster

import "context"

// A kind of operation on a cluster.
type kind string

const (
	start  kind = "start"
	reset  kind = "reset"
	remove kind = "delete"
	stop   kind = "stop"

	freeze    kind = "freeze"
	hibernate kind = "hibernate"
)

// switching is the kind of a switch to a backend.
func switching(to string) kind { return kind("switch to " + to) }

// brings tells whether the operation ends with a cluster that is ready, so that a claim need but wait for it.
func (k kind) brings() bool { return k != remove && k != stop && !k.rests() }

// rests tells whether the operation puts an idle cluster to rest.
func (k kind) rests() bool { return k == freeze || k == hibernate }

// An operation is under way on a cluster, or has ended.
type operation struct {
	kind   kind
	cancel context.CancelFunc
	done   chan struct{}
	result Cluster // valid once done is closed, as err
	err    error
}

// do begins an operation, or joins one that comes to the same. One that is different replaces what is under way: a
// start is given up for a reset.
func (m *Manager) do(c *managed, k kind, run func(context.Context, *managed) (Cluster, error)) *operation {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.operation
	if before != nil && !before.ended() {
		if before.kind == k || k == start && before.kind.brings() {
			return before
		}
		before.cancel()
	}
	return m.begin(c, k, run)
}

// try begins an operation, unless one is under way: then it returns nil.
func (m *Manager) try(c *managed, k kind, run func(context.Context, *managed) (Cluster, error)) *operation {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.operation != nil && !c.operation.ended() {
		return nil
	}
	return m.begin(c, k, run)
}

// begin begins an operation that runs when the one before has ended; c.mu is held.
func (m *Manager) begin(c *managed, k kind, run func(context.Context, *managed) (Cluster, error)) *operation {
	before := c.operation
	op := &operation{kind: k, done: make(chan struct{})}
	ctx, cancel := context.WithCancel(m.life)
	op.cancel = cancel
	c.operation = op

	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		cancel()
		op.err = ErrClosed
		close(op.done)
		return op
	}
	m.running.Go(func() {
		defer cancel()
		defer close(op.done)
		if before != nil {
			<-before.done
		}
		op.result, op.err = run(ctx, c)
	})
	return op
}

func (o *operation) ended() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// wait returns the operation's outcome, or leaves it to itself when ctx ends.
func wait(ctx context.Context, o *operation) (Cluster, error) {
	select {
	case <-o.done:
		return o.result, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
