package verify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/apilab/apilab/checker/verify/inventory"
)

// goneWithin is how long what a reset deleted may take to go.
const goneWithin = 10 * time.Second

// list is what is in the lab's cluster, nil where others use it too.
func (l *Lab) list(ctx context.Context) (inventory.Inventory, error) {
	if l.Shared {
		return nil, nil
	}
	cluster, err := inventory.Connect(l.Config)
	if err != nil {
		return nil, err
	}
	defer cluster.Close()
	return cluster.Take(ctx)
}

// leavesNothing wants the cluster to be as it was when the exercise was opened: what a reset leaves behind, a learner stumbles
// over in the next exercise.
func (t *trial) leavesNothing(ctx context.Context, opened inventory.Inventory) error {
	if opened == nil {
		return nil
	}
	limit := time.Now().Add(goneWithin)
	for {
		now, err := t.lab.list(ctx)
		if err != nil {
			return fmt.Errorf("look for what was left: %w", err)
		}
		left := leftovers(opened, now)
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(limit) {
			for _, change := range left {
				t.fail("%s: after the solution was reset, and unlike when the exercise was opened, %s", t.exercise.ID, change)
			}
			return nil
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leftovers are the differences that a reset is to blame for. It may make things anew, and what controllers make for an
// object comes and goes with it.
func leftovers(opened, now inventory.Inventory) []inventory.Change {
	return slices.DeleteFunc(inventory.Compare(opened, now), func(c inventory.Change) bool {
		return c.Kind == inventory.Replaced || follows(c.Key) || opened[c.Key].Owned || now[c.Key].Owned
	})
}

// follows reports whether an object comes with another one without being owned by it.
func follows(k inventory.Key) bool {
	switch k.Resource {
	case schema.GroupResource{Resource: "configmaps"}:
		return k.Name == "kube-root-ca.crt"
	case schema.GroupResource{Resource: "serviceaccounts"}:
		return k.Name == "default"
	case schema.GroupResource{Resource: "endpoints"},
		schema.GroupResource{Group: "networking.k8s.io", Resource: "ipaddresses"},
		schema.GroupResource{Group: "apiregistration.k8s.io", Resource: "apiservices"}:
		return true
	}
	return false
}
