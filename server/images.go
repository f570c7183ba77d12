package server

import (
	"errors"

	"github.com/apilab/apilab/cluster"
)

// Images are those on the nodes of the local learner's cluster. The error says what to do when there are none.
func (s *Server) Images() (cluster.Images, error) {
	if s.isPublic() {
		return nil, errOfClasses
	}
	up, ready := s.clusters.Get(localLearner)
	if !ready {
		return nil, errors.New("your cluster is not ready: open its page (`apilab open" + s.o.CommandFlags + "`), and wait until it is")
	}
	images, ok := up.(cluster.Images)
	if !ok {
		return nil, errors.New("the nodes of your cluster are simulated and hold no images: switch to a kind cluster in the cluster menu of the page, or start apilab with --provider kind")
	}
	return images, nil
}
