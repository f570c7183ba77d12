package inventory

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What is deleted goes within clearFor or not at all, and what a controller has to set back is back within mendFor.
// firstLook is how soon it is looked at, each time twice as late.
const (
	clearFor  = time.Minute
	mendFor   = 3 * time.Second
	firstLook = 100 * time.Millisecond
)

// Clear deletes what was not there at first, whatever holds it, and returns in what the cluster still differs from then:
// it does not mend what was changed or deleted. Nobody else may use the cluster meanwhile.
func (c *Cluster) Clear(ctx context.Context, first Inventory) ([]Change, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, clearFor, fmt.Errorf("it is not clear after %s", clearFor))
	defer cancel()
	armed, removed := true, time.Now()
	for pause := firstLook; ; pause *= 2 {
		var now Inventory
		var err error
		if armed {
			err = c.disarm(ctx, first)
			armed = err != nil
		}
		if !armed {
			now, err = c.Take(ctx)
		}
		if err == nil {
			changes := Compare(first, now)
			added := now.without(first)
			if len(added) == 0 && (len(changes) == 0 || time.Since(removed) > mendFor) || lost(changes) {
				return changes, nil
			}
			if len(added) > 0 {
				removed = time.Now()
				err = c.remove(ctx, added)
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), err)
		}
	}
}

// lost reports whether something that was there at first is gone.
func lost(changes []Change) bool {
	for _, change := range changes {
		if change.Kind == Removed || change.Kind == Replaced {
			return true
		}
	}
	return false
}

// without returns what is in the inventory and not in the other, also what passes.
func (i Inventory) without(other Inventory) Inventory {
	rest := Inventory{}
	for key, object := range i {
		if _, is := other[key]; !is {
			rest[key] = object
		}
	}
	return rest
}
