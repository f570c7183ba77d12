package server

import (
	"context"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/server/store"
	"github.com/apilab/apilab/shell"
)

// hub returns a learner's hub. It is made when first asked for and lives as long as the server, or until its learner is
// removed; there is none for one who was.
func (s *Server) hub(learner store.Learner) (*hub.Hub, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, ok := s.hubs[learner.ID]; ok {
		return h, nil
	}
	h, err := s.newHub(learner)
	if err != nil {
		return nil, err
	}
	s.hubs[learner.ID] = h
	return h, nil
}

func (s *Server) newHub(learner store.Learner) (*hub.Hub, error) {
	if _, err := s.store.Learner(context.Background(), learner.ID); err != nil {
		return nil, err
	}
	home, err := shell.NewFiles(s.homeDir(learner.ID), 0)
	if err != nil {
		return nil, err
	}
	records := s.gateway.Recorder(learner.ID)
	class, err := s.shared(context.Background(), learner.ID)
	if err != nil {
		return nil, err
	}
	h := hub.New(hub.Options{
		Learner:  learner,
		Version:  s.o.Version,
		Host:     s.o.HostShell,
		Preview:  s.o.Preview,
		Clusters: s.clusters,
		Records:  records,
		Progress: s.store,
		Exercise: func(id string) *exercises.Exercise { return s.library.current().exercise(id) },
		Session:  func(platform *rest.Config) hub.Session { return s.judge(learner, platform) },
		Newest:   newestVersion,
		Shell: func(ctx context.Context, size hub.Size, edit hub.EditFunc) (hub.Shell, error) {
			return s.shell(ctx, learner, size, edit)
		},
		Files: files{home},
		Kubeconfig: func(ctx context.Context, renew bool) ([]byte, error) {
			if renew {
				if err := s.revokeKubeconfig(ctx, learner.ID); err != nil {
					return nil, err
				}
			}
			return s.ownKubeconfig(ctx, learner.ID)
		},
		Report: func(r hub.Report) { s.rooms.Follow(learner.ID, r) },
		Logger: s.log,
	})
	h.SetClass(class)
	return h, nil
}

// startSession is the judge that is no test's.
func (s *Server) startSession(learner store.Learner, platform *rest.Config) hub.Session {
	return checker.NewSession(checker.Options{
		Learner: learner.ID,
		Config:  platform,
		Records: s.gateway.Recorder(learner.ID),
		Run:     s.runner(learner, platform),
		Logger:  s.log,
	})
}

// newestVersion asks a cluster for its newest resourceVersion, by a list of one object.
func newestVersion(ctx context.Context, platform *rest.Config) (string, error) {
	client, err := metadata.NewForConfig(platform)
	if err != nil {
		return "", err
	}
	list, err := client.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", err
	}
	return list.ResourceVersion, nil
}

// contentChanged is called when an author changed the content.
func (s *Server) contentChanged() {
	mistake := s.library.mistake()
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
