package hub

import (
	"context"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cluster"
)

// A session is the checker's session on one cluster, as long as that lives.
type session struct {
	Session
	cluster     cluster.Cluster
	backend     string
	incarnation int
	// began keeps apart the requests to this cluster from those to one before.
	began time.Time
	over  bool // nothing it says counts any more; guarded by the hub's mu

	ctx    context.Context // ends with the session
	cancel context.CancelFunc
	stops  []func()
}

func (s *session) close() {
	s.cancel()
	for _, stop := range s.stops {
		stop()
	}
	s.Session.Close()
}

// beginSession judges on c from now on, and opens there what is open. What wants another backend waits for it.
func (h *Hub) beginSession(c cluster.Cluster, backend string, incarnation int) {
	now := time.Now()
	s := &session{Session: h.o.Session(c.Config()), cluster: c, backend: backend, incarnation: incarnation, began: now}
	s.ctx, s.cancel = context.WithCancel(h.ctx)
	s.stops = append(s.stops,
		s.Subscribe(func(state checker.ExerciseState) { h.exerciseChanged(s, state) }),
		s.SubscribeVersion(func(rv string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.versionSeen(s, rv)
		}))

	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		go s.close() // never with mu held
		return
	}
	h.session = s
	h.spawn(func() { h.askVersion(s) })
	for _, id := range h.opened {
		if e := h.exercises[id]; wants(e.def, backend) == nil {
			h.openIn(s, e)
		} else {
			e.state.Phase = checker.Closed
			h.tellExercise(e)
		}
	}
	h.tellBegun()
}

// endSession stops judging: what passes only while the cluster is so waits again. Where the cluster itself is gone, its
// requests and versions are of the past too.
func (h *Hub) endSession(s *session, clusterGone bool) {
	h.saver.flush() // what the session knows is lost with it
	h.mu.Lock()
	h.session, s.over = nil, true
	open := make(map[string]*exercise)
	for _, id := range h.opened {
		open[id] = h.exercises[id]
		open[id].session = nil
	}
	if clusterGone {
		h.forgetVersion()
	}
	h.mu.Unlock()
	if clusterGone {
		h.o.Records.Clear()
	}
	s.close()
	for id, e := range open {
		h.showSaved(id, e)
	}
}

// showSaved shows an open exercise as it is saved, until a session knows better.
func (h *Hub) showSaved(id string, e *exercise) {
	saved, err := h.saver.read(h.ctx, id)
	if err != nil {
		h.log.Warn("show an exercise as saved", "exercise", id, "error", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.session != nil || h.exercises[id] != e {
		return
	}
	before := e.state
	e.state = savedState(e.def, saved)
	for i := range e.state.Checks {
		if i < len(before.Checks) {
			c := before.Checks[i]
			e.state.Checks[i].Hints, e.state.Checks[i].HintsLeft, e.state.Checks[i].Revision = c.Hints, c.HintsLeft, c.Revision+1
		}
	}
	h.tellExercise(e)
}
