package server

import (
	"fmt"
	"maps"
	"sync"

	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/protocol"
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

// contentChanged is called when an author changed the content, with the mistakes in it.
func (s *Server) contentChanged(problems []string) {
	mistake := ""
	switch n := len(problems); n {
	case 0:
	case 1:
		mistake = "There is a mistake in " + problems[0]
	default:
		mistake = fmt.Sprintf("There are %d mistakes in the content, all of them in the log. The first is in %s", n, problems[0])
	}
	s.mu.Lock()
	hubs := maps.Clone(s.hubs)
	s.mu.Unlock()
	for _, h := range hubs {
		h.ContentChanged()
		if mistake != "" {
			h.Notify(protocol.Warning, mistake)
		}
	}
}

// stopHubs ends terminals and sessions and saves progress.
func (s *Server) stopHubs() {
	s.mu.Lock()
	hubs := maps.Clone(s.hubs)
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, h := range hubs {
		closing.Go(h.Close)
	}
	closing.Wait()
}
