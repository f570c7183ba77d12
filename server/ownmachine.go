package server

import (
	"context"
	"errors"

	"github.com/apilab/apilab/gateway"
	"github.com/apilab/apilab/server/store"
)

// ownKubeconfig is the file with which a learner's own kubectl reaches their cluster, until it is revoked.
func (s *Server) ownKubeconfig(ctx context.Context, learner string) ([]byte, error) {
	return s.gateway.OwnKubeconfig(ctx, learner, s.address)
}

// renewKubeconfig revokes every kubeconfig that a learner got before, and cuts what goes on with one. Their terminals go on.
func (s *Server) renewKubeconfig(ctx context.Context, learner string) error {
	generation, err := s.store.RevokeTokens(ctx, learner)
	if err != nil {
		return err
	}
	s.gateway.Revoke(learner, generation)
	return nil
}

// tokenGeneration is what the gateway asks about a learner's tokens.
func (s *Server) tokenGeneration(ctx context.Context, learner string) (int, error) {
	generation, err := s.store.TokenGeneration(ctx, learner)
	if errors.Is(err, store.ErrNotFound) {
		return 0, gateway.ErrNoLearner
	}
	return generation, err
}
