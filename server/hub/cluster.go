package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/protocol"
)

// Start claims the learner's cluster, if it is not there or on its way. It returns at once; the pages see the phases.
func (h *Hub) Start() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.starting || h.status.State == cluster.Ready || h.status.State == cluster.Failed {
		return
	}
	h.start(func(ctx context.Context) error {
		_, err := h.o.Clusters.Claim(ctx, h.id)
		return err
	})
}

// StartCluster is Start on the learner's own wish: it also tries again where starting was given up.
func (h *Hub) StartCluster() cluster.Status {
	h.mu.Lock()
	failed := h.status.State == cluster.Failed && !h.starting
	if failed {
		h.start(func(ctx context.Context) error { return h.o.Clusters.Retry(ctx, h.id) })
	}
	h.mu.Unlock()
	if !failed {
		h.Start()
	}
	return h.o.Clusters.Status(h.id)
}

// ResetCluster deletes the learner's cluster and makes a new one. It returns at once; what was open opens again when the
// new cluster is ready. A reset under way is not begun anew.
func (h *Hub) ResetCluster() cluster.Status {
	h.mu.Lock()
	if !h.resetting {
		h.resetting = true
		started := h.spawn(func() {
			err := h.o.Clusters.Reset(h.ctx, h.id)
			h.mu.Lock()
			h.resetting = false
			h.mu.Unlock()
			h.tellFailure("reset the cluster", err)
		})
		h.resetting = started
	}
	h.mu.Unlock()
	return h.o.Clusters.Status(h.id)
}

// SwitchCluster makes the learner's cluster one of another backend. It returns at once; the one before is stopped and
// keeps its data, and what is open opens again on the other, where it can be done there.
func (h *Hub) SwitchCluster(backend string) (cluster.Status, error) {
	if known := h.o.Clusters.Backends(); !slices.Contains(known, backend) {
		return cluster.Status{}, fmt.Errorf("this server has no clusters of the %q backend; it has %s", backend, strings.Join(known, ", "))
	}
	h.mu.Lock()
	switch from := h.status.Backend; {
	case backend == h.switchFrom:
		h.switchFrom = "" // back to it
	case h.switchFrom == "" && from != backend:
		h.switchFrom = from
	}
	h.spawn(func() { h.switchTo(backend) })
	h.mu.Unlock()
	return h.o.Clusters.Status(h.id), nil
}

func (h *Hub) switchTo(backend string) {
	err := h.o.Clusters.Switch(h.ctx, h.id, backend)
	if errors.Is(err, cluster.ErrCancelled) {
		return // whoever cancelled it has begun something else
	}
	h.mu.Lock()
	h.switchFrom = ""
	h.mu.Unlock()
	h.tellFailure("switch the cluster", err)
}

// CancelStart gives up a start that is under way, and goes back to the cluster that it was to take the place of. It
// returns at once.
func (h *Hub) CancelStart() cluster.Status {
	h.mu.Lock()
	switch h.status.State {
	case cluster.Queued, cluster.Creating, cluster.Starting:
		if from := h.switchFrom; from != "" {
			h.spawn(func() { h.switchTo(from) })
		} else {
			h.spawn(func() { h.tellFailure("stop the cluster", h.o.Clusters.Stop(h.ctx, h.id)) })
		}
	}
	h.mu.Unlock()
	return h.o.Clusters.Status(h.id)
}

// Usage returns what the learner's cluster takes from the machine.
func (h *Hub) Usage(ctx context.Context) (cluster.Usage, error) {
	c, ok := h.o.Clusters.Get(h.id)
	if !ok {
		return cluster.Usage{}, errNoCluster
	}
	return c.Usage(ctx)
}

// start runs one way of starting at a time; mu is held.
func (h *Hub) start(way func(context.Context) error) {
	h.starting = h.spawn(func() {
		err := way(h.ctx)
		h.mu.Lock()
		h.starting = false
		h.mu.Unlock()
		h.tellFailure("start the cluster", err)
	})
}

// tellFailure logs what the cluster's status tells the learner anyway.
func (h *Hub) tellFailure(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, cluster.ErrCancelled) {
		h.log.Error(what, "error", err)
	}
}

// clusterChanged is called by the manager, in order, and must not block.
func (h *Hub) clusterChanged(status cluster.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.status
	h.status = status
	switch status.State {
	case cluster.Absent, cluster.Creating, cluster.Deleting:
		h.incarnation++
	default:
		if status.Backend != before.Backend {
			h.incarnation++
		}
	}
	if status.State == cluster.Ready && status.Backend != h.switchFrom {
		h.switchFrom = ""
	}
	h.broadcast("cluster", protocol.Cluster{Status: status})
	h.report(nil, false)
	if status.State == cluster.Failed {
		h.tellBegun()
	}
	select {
	case h.changed <- struct{}{}:
	default: // whoever takes the one in there sees the newest status
	}
}

// followCluster keeps one session on the cluster as it is.
func (h *Hub) followCluster() {
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-h.changed:
			h.fitSession()
		}
	}
}

// fitSession ends the session of a cluster that is gone or was put to rest, and begins one on a cluster that is new or
// awake again. A cluster that is healed on its data stays the same: its session goes on.
func (h *Hub) fitSession() {
	h.mu.Lock()
	status, incarnation, old := h.status, h.incarnation, h.session
	h.mu.Unlock()

	var current cluster.Cluster
	if status.State == cluster.Ready {
		current, _ = h.o.Clusters.Get(h.id)
	}
	rests := status.State == cluster.Frozen || status.State == cluster.Stopped // its watches are not answered
	gone := old != nil && (old.incarnation != incarnation || rests || current != nil && current != old.cluster)
	if gone {
		h.endSession(old, old.incarnation != incarnation)
		old = nil
	}
	if old == nil && current != nil {
		h.beginSession(current, status.Backend, incarnation)
	}
}
