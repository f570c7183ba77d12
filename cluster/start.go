package cluster

import (
	"cmp"
	"context"
	"slices"
)

// start brings the cluster up: it wakes the one that is there, or starts it on its data, or makes it.
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
	p, err := m.plan(ctx, c)
	if err != nil {
		return nil, c.fail(ctx, err, Stopped)
	}
	up, err := m.launch(ctx, c, p)
	if err != nil {
		return nil, c.fail(ctx, err, p.undone)
	}
	return up, nil
}

// A plan says how a cluster is started.
type plan struct {
	*backend
	spec   Spec
	state  State // while it starts
	undone State // when it was given up
	begin  func(context.Context, Spec, func(Phase)) (Cluster, error)
}

func (m *Manager) plan(ctx context.Context, c *managed) (plan, error) {
	b, err := m.active(ctx, c)
	if err != nil {
		return plan{}, err
	}
	return m.planOf(ctx, c, b)
}

// planOf is the plan of a start of the learner's cluster of a backend.
func (m *Manager) planOf(ctx context.Context, c *managed, b *backend) (plan, error) {
	id, err := m.clusterOf(ctx, c, b)
	if err != nil {
		return plan{}, err
	}
	ids, err := b.Provider.List(ctx)
	if err != nil {
		return plan{}, err
	}
	spec := Spec{ID: id, Nodes: m.o.Nodes, Ports: m.o.Ports(c.id), Share: m.o.Limits.Cluster(id)}
	if slices.Contains(ids, id) {
		return plan{b, spec, Starting, Stopped, b.Provider.Adopt}, nil
	}
	return plan{b, spec, Creating, Absent, b.Provider.Create}, nil
}

// launch waits for a turn and for memory, and starts the cluster. One that is to be made may be taken from the pool.
func (m *Manager) launch(ctx context.Context, c *managed, p plan) (Cluster, error) {
	spare := func() (Cluster, error) {
		if p.state == Starting {
			return nil, nil
		}
		return m.take(ctx, c, p.backend)
	}
	if up, err := spare(); up != nil || err != nil {
		return up, err
	}
	if err := p.starts.enter(ctx, c.ahead, func(position int) { c.moved(position, p.busy()) }); err != nil {
		return nil, err
	}
	defer p.starts.leave()
	if up, err := spare(); up != nil || err != nil { // made while it waited
		return up, err
	}
	settle, err := m.afford(ctx, c, p.backend)
	if err != nil {
		return nil, err
	}
	defer settle()
	c.to(p.state, "", nil)
	up, err := p.begin(ctx, p.spec, c.progress)
	if err != nil {
		return nil, err
	}
	c.adopt(up)
	if c.ahead && !c.pooled {
		c.pooled = true
		m.pool.add(c) // before the turn ends: whoever has the next one finds it
	}
	return up, nil
}

// clusterOf returns the ID of the learner's cluster of a backend.
func (m *Manager) clusterOf(ctx context.Context, c *managed, b *backend) (string, error) {
	if c.ahead {
		return c.id, nil
	}
	id, err := m.o.Choices.Cluster(ctx, c.id, b.Name)
	return cmp.Or(id, c.id), err
}
