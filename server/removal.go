package server

import (
	"context"
	"errors"
	"math"
	"os"

	"github.com/apilab/apilab/server/hub"
)

// clearRemoved ends at once what the learners do here whom the store has removed from their classes, and then deletes what
// they have: cluster, files, progress. That goes on after it has returned; what a stop of the server interrupts is done
// after the next start.
func (s *Server) clearRemoved(ctx context.Context) error {
	removed, err := s.store.Removed(ctx)
	if err != nil {
		return err
	}
	gone := make(map[string]bool)
	for _, id := range removed {
		gone[id] = true
	}
	s.endVisits(func(v *visit) bool { return gone[v.learner] })
	for _, id := range removed {
		s.gateway.Revoke(id, math.MaxInt) // whatever the generation of the token
	}
	s.removals.Go(func() {
		s.clearing.Lock()
		defer s.clearing.Unlock()
		for _, id := range removed {
			if err := s.clear(s.live, id); err != nil && s.live.Err() == nil {
				s.log.Error("delete what a removed learner has; it is tried again at the next start", "learner", id, "error", err)
			}
		}
	})
	return nil
}

// clear deletes what a removed learner has. The store's row goes last: it tells that there is something left.
func (s *Server) clear(ctx context.Context, learner string) error {
	if h := s.dropHub(learner); h != nil {
		h.Close()
	}
	err := errors.Join(s.clusters.Delete(ctx, learner), os.RemoveAll(s.learnerDir(learner)))
	if err != nil {
		return err
	}
	return s.store.DeleteLearner(ctx, learner)
}

// dropHub takes a learner's hub away, if there is one.
func (s *Server) dropHub(learner string) *hub.Hub {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hubs[learner]
	delete(s.hubs, learner)
	return h
}
