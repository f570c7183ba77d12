package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/protocol"
)

// sessionTime is how long an instructor's act waits for a cluster that has to wake first.
const sessionTime = 3 * time.Minute

// A reset is under way, for everybody who asks for it meanwhile.
type reset struct {
	by   string // name of who began it
	done chan struct{}
	err  error // set before done is closed
}

// ResetExerciseFor resets an exercise on an instructor's wish, also one that is not open now. Whoever asks while such a
// reset is under way gets that one, and the name of who began it. The learner is told.
func (h *Hub) ResetExerciseFor(ctx context.Context, who, id string) (by string, err error) {
	return h.shareReset(ctx, id, who, func() error {
		if err := h.reopen(h.ctx, id); err != nil {
			return err
		}
		if _, err := h.ResetExercise(id); err != nil {
			return err
		}
		h.Notify(protocol.Info, fmt.Sprintf("%s has reset the exercise %q for you.", who, h.titleOf(id)))
		return nil
	})
}

// ResetClusterFor resets the cluster on an instructor's wish, as ResetExerciseFor resets an exercise. It returns when the new
// one is ready, or was given up.
func (h *Hub) ResetClusterFor(ctx context.Context, who string) (by string, err error) {
	return h.shareReset(ctx, "", who, func() error {
		h.mu.Lock()
		if h.resetting {
			h.mu.Unlock()
			return errors.New("the learner is resetting the cluster themselves, right now")
		}
		h.resetting = true
		h.mu.Unlock()
		h.Notify(protocol.Warning, who+" is resetting your cluster. Your files and your progress stay.")
		err := h.o.Clusters.Reset(h.ctx, h.id)
		h.mu.Lock()
		h.resetting = false
		h.mu.Unlock()
		h.tellFailure("reset the cluster", err)
		return err
	})
}

// shareReset runs one reset of a thing at a time. It goes on when who asked for it leaves.
func (h *Hub) shareReset(ctx context.Context, thing, who string, do func() error) (by string, err error) {
	h.mu.Lock()
	r := h.resets[thing]
	if r != nil {
		by = r.by
	} else {
		r = &reset{by: who, done: make(chan struct{})}
		h.resets[thing] = r
		if !h.spawn(func() {
			r.err = do()
			h.mu.Lock()
			delete(h.resets, thing)
			h.mu.Unlock()
			close(r.done)
		}) {
			r.err = context.Canceled
			delete(h.resets, thing)
			close(r.done)
		}
	}
	h.mu.Unlock()
	select {
	case <-r.done:
		return by, r.err
	case <-ctx.Done():
		return by, ctx.Err()
	}
}

// reopen opens an exercise, and waits until the cluster judges it.
func (h *Hub) reopen(ctx context.Context, id string) error {
	if _, err := h.OpenExercise(ctx, id); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, sessionTime, errNoCluster)
	defer cancel()
	if _, err := h.o.Clusters.Claim(ctx, h.id); err != nil {
		return err
	}
	for {
		h.mu.Lock()
		e := h.exercises[id]
		ready, failed, told := e != nil && e.session != nil, h.status.State == cluster.Failed, h.begun
		h.mu.Unlock()
		switch {
		case ready:
			return nil
		case failed:
			return errors.New("the cluster does not start; reset the cluster instead")
		}
		select {
		case <-told:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (h *Hub) titleOf(id string) string {
	if def := h.o.Exercise(id); def != nil {
		return def.Title
	}
	return id
}

// tellBegun wakes who waits for a session; mu is held.
func (h *Hub) tellBegun() {
	close(h.begun)
	h.begun = make(chan struct{})
}
