package server

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apilab/apilab/server/store"
)

// isCleared waits until nothing is left of a learner who was removed.
func (s *testServer) isCleared(t *testing.T, learner string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		removed, err := s.store.Removed(t.Context())
		_, files := os.Stat(s.learnerDir(learner))
		switch {
		case err == nil && len(removed) == 0 && os.IsNotExist(files) && s.hubOf(learner) == nil:
			return
		case time.Now().After(deadline):
			t.Fatalf("left: %q, %v; the learner's folder: %v; a hub: %t\n%s", removed, err, files, s.hubOf(learner) != nil, s.log)
		}
	}
}

func TestARemovedLearnerLeavesNothing(t *testing.T) {
	t.Parallel()
	p := &provider{t: t}
	r := startRoom(t, func(o *Options) { o.Backends[0].Provider = p })
	ada, id := r.learner("Ada")
	bob, other := r.learner("Bob")
	bob.open(t).openExercise("basics/pick")
	page, grid := ada.open(t), r.watch(r.grace)
	page.openExercise("basics/say")
	terminal := page.openTerminal()
	page.typeLine(terminal, 0, "echo here > file.txt; while :; do sleep 1; done")
	page.until("a file", func() bool {
		_, err := os.Stat(filepath.Join(r.homeDir(id), "file.txt"))
		return err == nil
	})
	h := r.hubOf(id)
	running, err := h.Terminal(terminal)
	if err != nil {
		t.Fatal(err)
	}

	r.grace.post(r.grace.memberPath(t, "/classes/"+r.class, "Ada"), nil).wants(t, http.StatusSeeOther)
	r.isCleared(t, id)
	select {
	case <-running.Done():
	case <-time.After(patience):
		t.Error("the loop in a terminal goes on")
	}
	page.until("the end of the page", func() bool { return page.closed != nil })
	if _, deleted := p.count(); deleted != 1 {
		t.Errorf("%d clusters were deleted", deleted)
	}
	if _, err := r.hub(store.Learner{ID: id}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a hub of who is gone: %v", err)
	}
	if progress, err := r.store.Progress(t.Context(), id); err != nil || len(progress) > 0 {
		t.Errorf("progress of who is gone: %v, %v", progress, err)
	}
	grid.until("the grid without her", func() bool { return len(grid.grid().Rows) == 1 })
	bob.get("/lessons/basics/first").wants(t, http.StatusOK)
	if progress, err := r.store.Progress(t.Context(), other); err != nil || len(progress) != 1 {
		t.Errorf("the other's progress: %v, %v", progress, err)
	}
}

func TestADeletedClassLeavesNothing(t *testing.T) {
	t.Parallel()
	r := startRoom(t)
	ada, id := r.learner("Ada")
	ada.open(t).openExercise("basics/say")
	page, path := r.watch(r.grace), "/classes/"+r.class
	r.grace.post(path+"/delete", url.Values{"confirm": {"Wednesday"}}).wants(t, http.StatusBadRequest, "Nothing was deleted")
	ada.get("/").wants(t, http.StatusOK)
	r.grace.post(path+"/delete", url.Values{"confirm": {" Tuesday "}}).wants(t, http.StatusSeeOther)
	r.isCleared(t, id)
	ada.get("/").wants(t, http.StatusUnauthorized)
	r.grace.get(path).wants(t, http.StatusNotFound, "no such class")
	page.refuses("class.message", map[string]any{"text": "Is anybody there?"}, "no such class")
	r.visitor(t).post("/join", url.Values{"code": {r.code}, "name": {"Late"}}).wants(t, http.StatusNotFound)
	if room := r.rooms.Of(id); room != nil {
		t.Error("the class is still followed")
	}
}

// What a stop of the server interrupts is done at the next start.
func TestRemovalGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	first := startRoom(t, func(o *Options) { o.DataDir = data })
	ada, id := first.learner("Ada")
	ada.open(t).openExercise("basics/say")
	if err := first.store.RemoveMember(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(first.homeDir(id)); err != nil {
		t.Fatal(err)
	}
	first.stop()
	startPublic(t, func(o *Options) { o.DataDir = data }).isCleared(t, id)
}
