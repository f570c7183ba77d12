package kind

import (
	"context"
	"errors"
	"fmt"

	"github.com/apilab/apilab/cluster"
)

var _ cluster.Freezer = (*instance)(nil)

// Freeze implements cluster.Freezer: the engine pauses the nodes.
func (i *instance) Freeze(ctx context.Context) error {
	if !i.health.Get().Ready {
		return errors.New("the cluster is being healed")
	}
	i.frozen.Store(true) // first, so that its silence is no death
	i.keepLearner(false)
	nodes, err := i.nodes(ctx)
	if err == nil {
		_, err = i.description().Engine.run(ctx, slow, append([]string{"pause"}, ids(nodes)...)...)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("freeze cluster %s: %w", i.id, err), i.Thaw(ctx))
	}
	return nil
}

// Thaw implements cluster.Freezer.
func (i *instance) Thaw(ctx context.Context) error {
	if !i.frozen.Load() {
		return nil
	}
	defer i.keepLearner(true)
	defer i.frozen.Store(false) // whatever it could not be woken from is the watch's to heal
	if err := i.start(ctx, newJournal(func(cluster.Phase) {})); err != nil {
		return fmt.Errorf("thaw cluster %s: %w", i.id, err)
	}
	return nil
}
