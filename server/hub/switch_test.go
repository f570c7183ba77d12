package hub

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/protocol"
)

// switchTo lets the learner have a cluster of another backend, which was made before.
func (s *stage) switchTo(backend string) {
	s.clusters.turn(cluster.Stopped, nil)
	s.clusters.on(backend)
	for _, state := range []cluster.State{cluster.Stopped, cluster.Queued, cluster.Starting} {
		s.clusters.turn(state, nil)
	}
	s.clusters.turn(cluster.Ready, &aCluster{})
	synctest.Wait()
}

// last is the newest state of an exercise that the page was told.
func (s *stage) last(t *testing.T, id string) checker.ExerciseState {
	t.Helper()
	for _, m := range slices.Backward(s.page.of("exercise")) {
		var told protocol.ExerciseChanged
		if err := json.Unmarshal([]byte(m), &told); err != nil {
			t.Fatal(err)
		}
		if told.State.ID == id {
			return told.State
		}
	}
	t.Fatalf("nothing was told of %s", id)
	return checker.ExerciseState{}
}

func TestASwitchIsAnotherCluster(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.newest = "900"
		s.clusters.turn(cluster.Ready, &aCluster{})
		s.open(t, "t/00")
		s.newest = "12"
		s.switchTo("kind")
		if len(s.judges) != 2 || !s.judges[0].closed {
			t.Fatalf("%d sessions, the first one is closed: %v", len(s.judges), s.judges[0].closed)
		}
		if got := s.judges[1].opened; !slices.Equal(got, []string{"t/00"}) {
			t.Errorf("the new session opened %v", got)
		}
		if s.version.newest != "12" {
			t.Errorf("the newest version is %s", s.version.newest)
		}
	})
}

func TestWhatWantsAnotherBackendWaitsForIt(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.library["t/01"].Cluster.Backend = "kind"
		s.clusters.turn(cluster.Ready, &aCluster{})
		synctest.Wait()
		if _, err := s.OpenExercise(t.Context(), "t/01"); err == nil || !strings.Contains(err.Error(), "kind") {
			t.Errorf("opened on the embedded cluster: %v", err)
		}
		if len(s.progress.saved) != 0 {
			t.Error("the exercise counts as opened")
		}

		s.switchTo("kind")
		s.open(t, "t/00")
		s.open(t, "t/01")
		if got := s.judges[1].opened; !slices.Equal(got, []string{"t/00", "t/01"}) {
			t.Errorf("on kind, opened %v", got)
		}
		s.switchTo("embedded")
		if got := s.judges[2].opened; !slices.Equal(got, []string{"t/00"}) {
			t.Errorf("back on the embedded cluster, opened %v", got)
		}
		if state := s.last(t, "t/01"); state.Phase != checker.Closed {
			t.Errorf("what wants kind is %s", state.Phase)
		}
		if _, err := s.ResetExercise("t/01"); err == nil || !strings.Contains(err.Error(), "kind") {
			t.Errorf("reset of it: %v", err)
		}
		s.switchTo("kind")
		if got := s.judges[3].opened; len(got) != 2 {
			t.Errorf("on kind again, opened %v", got)
		}
	})
}

func TestACancelledSwitchGoesBack(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.clusters.turn(cluster.Ready, &aCluster{})
		if _, err := s.SwitchCluster("docker"); err == nil || !strings.Contains(err.Error(), "embedded, kind") {
			t.Errorf("an unknown backend: %v", err)
		}
		s.CancelStart() // nothing is under way
		for range 2 {
			if _, err := s.SwitchCluster("kind"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			s.clusters.on("kind")
			s.clusters.turn(cluster.Creating, nil)
		}
		s.CancelStart()
		synctest.Wait()
		if got := s.clusters.switches; !slices.Equal(got, []string{"kind", "kind", "embedded"}) {
			t.Errorf("switches: %v", got)
		}
		s.clusters.on("kind")
		s.clusters.turn(cluster.Ready, &aCluster{})
		s.clusters.turn(cluster.Stopped, nil)
		s.clusters.turn(cluster.Starting, nil) // a start, and no switch
		s.CancelStart()
		synctest.Wait()
		if s.clusters.stops != 1 || len(s.clusters.switches) != 3 {
			t.Errorf("%d stops, switches: %v", s.clusters.stops, s.clusters.switches)
		}
	})
}
