package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/apilab/apilab/checker/verify/inventory"
	"github.com/apilab/apilab/cluster"
)

// A pool is the clusters of labs. Who takes one finds nothing in it that others did: it is given to the next only if it
// could be brought back to how it was when it was made, and deleted otherwise.
type pool struct {
	clusters *cluster.Manager
	log      *slog.Logger

	mu   sync.Mutex
	made int
	free []*pooled
}

// A pooled cluster is in use by one lab, or free.
type pooled struct {
	cluster.Cluster
	objects *inventory.Cluster
	first   inventory.Inventory // what was in it when it was made
}

// take returns a free cluster, or a new one if there is none.
func (p *pool) take(ctx context.Context) (*pooled, error) {
	p.mu.Lock()
	if last := len(p.free) - 1; last >= 0 {
		c := p.free[last]
		p.free = p.free[:last]
		p.mu.Unlock()
		return c, nil
	}
	p.made++
	id := fmt.Sprintf("lab-%d", p.made)
	p.mu.Unlock()
	up, err := p.clusters.Claim(ctx, id)
	if err != nil {
		return nil, err
	}
	c := &pooled{Cluster: up}
	if c.objects, err = inventory.Connect(up.Config()); err == nil {
		c.first, err = c.objects.Settled(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, p.clusters.Delete(context.WithoutCancel(ctx), id))
	}
	return c, nil
}

// give takes back a cluster that nobody uses any more.
func (p *pool) give(ctx context.Context, c *pooled) error {
	changes, err := c.objects.Clear(ctx, c.first)
	if err == nil && len(changes) == 0 {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free = append(p.free, c)
		return nil
	}
	p.log.Info("a cluster is not as it was and is deleted", "cluster", c.ID(), "changes", changes, "error", err)
	c.objects.Close()
	return p.clusters.Delete(context.WithoutCancel(ctx), c.ID())
}

// close deletes the free clusters.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	errs := make([]error, len(p.free))
	var deleting sync.WaitGroup
	for i, c := range p.free {
		deleting.Go(func() {
			c.objects.Close()
			errs[i] = p.clusters.Delete(context.Background(), c.ID())
		})
	}
	deleting.Wait()
	p.free = nil
	return errors.Join(errs...)
}
