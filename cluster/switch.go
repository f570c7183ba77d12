package cluster

import (
	"context"
	"errors"
	"fmt"
)

// Switch makes the learner's cluster one of another backend: it stops the one that runs, keeping its data, and starts the
// one they have there, or makes it. It returns when that is ready. When that fails, the one before is there again, as
// it was, and the error says why. A switch to the backend that they are on is a Claim.
func (m *Manager) Switch(ctx context.Context, id, to string) error {
	if _, err := m.backend(to); err != nil {
		return err
	}
	_, err := wait(ctx, m.do(m.managed(id), switching(to), func(ctx context.Context, c *managed) (Cluster, error) {
		return m.switchTo(ctx, c, to)
	}))
	return err
}

// check looks at whether the learner can have a cluster of the backend, if it is one that would have to be made.
func (m *Manager) check(ctx context.Context, c *managed, to string) error {
	b, err := m.backend(to)
	if err != nil {
		return err
	}
	checker, ok := b.Provider.(Checker)
	if !ok {
		return nil
	}
	p, err := m.planOf(ctx, c, b)
	if err != nil || p.state != Creating {
		return err
	}
	return checker.Check(ctx, p.spec)
}

func (m *Manager) switchTo(ctx context.Context, c *managed, to string) (Cluster, error) {
	before := c.status.Get()
	if before.Backend == to {
		return m.start(ctx, c)
	}
	ran := c.runs()
	if err := m.check(ctx, c, to); err != nil {
		err = fmt.Errorf("switch to %s: %w", to, err)
		c.to(before.State, err.Error(), before.Phases)
		return ran, err
	}
	if err := m.stop(ctx, c, "switching to "+to); err != nil {
		up := c.runs()
		return up, fmt.Errorf("switch to %s: %w", to, err)
	}
	c.use(to)
	up, err := m.start(ctx, c)
	if err == nil {
		// The next start of the server would go back to the one before, and lose nothing.
		if err := m.o.Choices.SetBackend(ctx, c.id, to); err != nil {
			c.log.Error("remember the choice of a backend", "backend", to, "error", err)
		}
		return up, nil
	}
	err = fmt.Errorf("switch to %s: %w", to, err)
	c.use(before.Backend)
	if before.State != Absent {
		before.State = Stopped
	}
	if ctx.Err() != nil {
		c.to(before.State, "the switch to "+to+" was given up", nil)
		return nil, err
	}
	c.to(before.State, err.Error(), nil)
	if ran == nil {
		return nil, err
	}
	up, again := m.start(ctx, c)
	if again != nil {
		return nil, errors.Join(err, fmt.Errorf("go back to %s: %w", before.Backend, again))
	}
	c.to(Ready, err.Error(), c.status.Get().Phases)
	return up, err
}
