package server

import (
	"maps"

	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/store"
)

// hub returns a learner's hub. It is made when first asked for and lives as long as the server.
func (s *Server) hub(learner store.Learner) *hub.Hub {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.hubs[learner.ID]
	if !ok {
		h = s.newHub(learner)
		s.hubs[learner.ID] = h
	}
	return h
}

// contentChanged is called when an author changed the content.
func (s *Server) contentChanged() {
	s.mu.Lock()
	hubs := maps.Clone(s.hubs)
	s.mu.Unlock()
	for _, h := range hubs {
		h.ContentChanged()
	}
}

// stopHubs ends terminals and sessions and saves progress.
func (s *Server) stopHubs() {
	s.mu.Lock()
	hubs := maps.Clone(s.hubs)
	s.mu.Unlock()
	for _, h := range hubs {
		h.Close()
	}
}
