package embedded

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/embedded/wire"
)

var _ cluster.Freezer = (*instance)(nil)

// Freeze implements cluster.Freezer.
func (i *instance) Freeze(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if health := i.health.Get(); !health.Ready {
		return fmt.Errorf("freeze cluster %s: it is not ready: %s", i.config.ID, health.Reason)
	}
	i.run.trim(ctx)
	if err := i.run.process.Freeze(); err != nil {
		return fmt.Errorf("freeze cluster %s: %w", i.config.ID, err)
	}
	return nil
}

// trimTime bounds the wait for memory to be given back. A cluster that is too busy for it sleeps with what it has.
const trimTime = 5 * time.Second

// trim lets the process give back memory that it does not need.
func (r *run) trim(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, trimTime)
	defer cancel()
	r.process.Tell(wire.Trim)
	for {
		select {
		case m, alive := <-r.messages:
			if m.Trimmed || !alive {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// Thaw implements cluster.Freezer.
func (i *instance) Thaw(ctx context.Context) error {
	i.mu.Lock()
	child := i.run.process
	i.mu.Unlock()
	if !child.Thaw() {
		return nil
	}
	client, err := rest.HTTPClientFor(i.admin)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := cluster.Probe(ctx, client, i.admin.Host+livez, thawTime)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-child.Done():
			return fmt.Errorf("thaw cluster %s: its process has ended", i.config.ID)
		case <-ctx.Done():
			return fmt.Errorf("thaw cluster %s: %w", i.config.ID, err)
		}
	}
}

// thawTime bounds one request to a cluster that wakes up.
const thawTime = 2 * time.Second
