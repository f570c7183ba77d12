package server

import (
	"context"
	"fmt"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/protocol"
)

// warmUp makes clusters ahead, so that as many learners of the class as there are have one at once; 0 gives up those that
// are not ready yet.
func (c *classPage) warmUp(ctx context.Context, learners int) error {
	class, err := c.s.store.Class(ctx, c.id)
	if err != nil {
		return err
	}
	switch {
	case learners == 0:
		c.s.clusters.StopWarmUp()
	case learners < 0 || learners > class.Capacity:
		return fmt.Errorf("the class has places for %d learners: warm up for 1 to %d", class.Capacity, class.Capacity)
	default:
		c.s.clusters.StartWarmUp(learners)
	}
	return nil
}

// sendWarmUp tells an instructor's page how far a warm-up is.
func (p *page) sendWarmUp(w cluster.WarmUp) {
	data, err := protocol.Encode(protocol.ClassWarmUp{WarmUp: w})
	if err != nil {
		p.log.Error("tell of a warm-up", "error", err)
		return
	}
	p.Send("class.warmup", data)
}
