package server

import (
	"net/http"
	"testing"
	"time"

	"github.com/apilab/apilab/cluster"
)

func TestAnOpenPageKeepsTheClusterAwake(t *testing.T) {
	t.Parallel()
	const idle = 300 * time.Millisecond
	s := start(t, func(o *Options) { o.Clusters.StopAfter = idle })
	v := s.learner(t)
	tab := v.open(t)
	states := make(chan cluster.State, 100)
	defer s.clusters.Subscribe(localLearner, func(s cluster.Status) { states <- s.State })()
	becomes := func(want cluster.State) {
		t.Helper()
		for late := time.After(patience); ; {
			select {
			case state := <-states:
				if state == want {
					return
				}
			case <-late:
				t.Fatalf("the cluster is not %s: %+v", want, s.clusters.Status(localLearner))
			}
		}
	}
	becomes(cluster.Ready)
	select {
	case state := <-states:
		t.Errorf("with an open page the cluster became %s", state)
	case <-time.After(5 * idle):
	}
	tab.leave()
	becomes(cluster.Stopped)
	if got := s.clusters.Status(localLearner).Reason; got != "hibernated after 300ms of idleness" {
		t.Errorf("the reason is %q", got)
	}
	v.get("/lessons/basics/second").wants(t, http.StatusOK)
	becomes(cluster.Ready)
}
