package cluster

import (
	"context"
	"errors"
	"fmt"
)

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
		errs = append(errs, m.removeOf(ctx, c, b))
	}
	if err := errors.Join(errs...); err != nil {
		return c.fail(ctx, err, Failed)
	}
	c.to(Absent, "", nil)
	return nil
}

func (m *Manager) removeOf(ctx context.Context, c *managed, b *backend) error {
	id, err := m.clusterOf(ctx, c, b)
	if err != nil {
		return err
	}
	if err := b.Provider.Delete(ctx, id); err != nil {
		return err
	}
	unlink(m.o.Ports(id))
	if id == c.id {
		return nil
	}
	return m.o.Choices.SetCluster(ctx, c.id, b.Name, "")
}
