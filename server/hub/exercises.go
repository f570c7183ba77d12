package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/server/store"
)

// maxOpen bounds the exercises that are open at once. Beyond it the one opened longest ago is closed; it opens again,
// with what was saved of it, when its page comes back.
const maxOpen = 24

var errNoCluster = errors.New("the cluster is not ready yet; wait until it is, then try again")

// An exercise is open: some page has shown it.
type exercise struct {
	def   *exercises.Exercise
	state checker.ExerciseState // as the pages know it
	// session is where it is open, or being opened. It is nil as long as there is no cluster.
	session *session
	// base is added to the revisions that the session counts, so that a check's states stay in order over sessions and
	// restarts of the server, whatever the clock does in between.
	base uint64
}

// OpenExercise opens an exercise, now or as soon as the cluster is ready, and returns how it stands. Opening an open one
// changes nothing.
func (h *Hub) OpenExercise(ctx context.Context, id string) (checker.ExerciseState, error) {
	def := h.o.Exercise(id)
	if def == nil {
		return checker.ExerciseState{}, fmt.Errorf("there is no exercise %q", id)
	}
	if err := wants(def, h.o.Clusters.Status(h.id).Backend); err != nil {
		return checker.ExerciseState{}, err
	}
	saved, err := h.saver.read(ctx, id)
	if err != nil {
		return checker.ExerciseState{}, err
	}
	if saved.OpenedAt.IsZero() {
		h.saver.begin(ctx, id)
	}
	h.Start()

	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.exercises[id]
	if e != nil && e.def != def { // the content was reloaded: the session opens it anew
		e.def, e.session = def, nil
	}
	if e == nil {
		e = &exercise{def: def, state: savedState(def, saved)}
		h.exercises[id] = e
	}
	h.opened = append(slices.DeleteFunc(h.opened, func(other string) bool { return other == id }), id)
	for len(h.opened) > maxOpen {
		h.closeExercise(h.opened[0])
	}
	if s := h.session; s != nil && e.session == nil && wants(def, s.backend) == nil {
		h.openIn(s, e)
	}
	return e.state, nil
}

// wants returns an error where an exercise cannot be done on a cluster of the backend.
func wants(def *exercises.Exercise, backend string) error {
	wanted := def.Cluster.Wants()
	if wanted == "" || wanted == backend {
		return nil
	}
	return fmt.Errorf("this exercise needs a cluster of the %s backend; switch to one in the cluster menu", wanted)
}

// ContentChanged opens anew what is open and has changed, and tells the pages.
func (h *Hub) ContentChanged() {
	h.mu.Lock()
	open := slices.Clone(h.opened)
	h.mu.Unlock()
	for _, id := range open {
		if h.o.Exercise(id) == nil {
			continue // it stays as it was until its pages are loaded again
		}
		if _, err := h.OpenExercise(h.ctx, id); err != nil {
			h.log.Warn("open a changed exercise", "exercise", id, "error", err)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broadcast("content", protocol.ContentChanged{Reload: h.o.Preview})
}

// openIn opens the exercise in the session, which runs its setup; mu is held.
func (h *Hub) openIn(s *session, e *exercise) {
	e.session = s
	h.revision = max(h.revision, uint64(time.Now().UnixMilli()))
	e.base = h.revision
	h.spawn(func() {
		err := h.openSaved(s, e)
		if err == nil || s.ctx.Err() != nil {
			return
		}
		h.log.Warn("open an exercise", "exercise", e.def.ID, "error", err)
		h.mu.Lock()
		defer h.mu.Unlock()
		if e.session == s && e.state.Phase != checker.Error {
			e.state.Phase, e.state.Error = checker.Error, err.Error()
			h.tellExercise(e)
		}
	})
}

func (h *Hub) openSaved(s *session, e *exercise) error {
	saved, err := h.saver.read(s.ctx, e.def.ID)
	if err != nil {
		return err
	}
	return s.Open(s.ctx, e.def, fromStore(saved))
}

// closeExercise forgets an open exercise; what the learner did in it is saved. mu is held.
func (h *Hub) closeExercise(id string) {
	e := h.exercises[id]
	delete(h.exercises, id)
	h.opened = slices.DeleteFunc(h.opened, func(other string) bool { return other == id })
	if s := e.session; s != nil {
		h.spawn(func() {
			h.saver.flush()
			if err := s.CloseExercise(id); err != nil && !errors.Is(err, checker.ErrClosed) {
				h.log.Warn("close an exercise", "exercise", id, "error", err)
			}
		})
	}
}

// ResetExercise undoes what the learner did in an exercise, in the cluster and in their progress.
// It goes on to its end when the page that asked leaves.
func (h *Hub) ResetExercise(id string) (checker.ExerciseState, error) {
	e, s, err := h.openExercise(id)
	if err != nil {
		return checker.ExerciseState{}, err
	}
	h.mu.Lock()
	h.report(&e.state, true)
	h.mu.Unlock()
	if err := s.Reset(s.ctx, id); err != nil {
		return checker.ExerciseState{}, err
	}
	if err := h.saver.forget(s.ctx, id); err != nil {
		return checker.ExerciseState{}, err
	}
	return h.stateOf(e), nil
}

// Answer takes what the learner typed or picked.
func (h *Hub) Answer(ctx context.Context, id, check, value string) (checker.ExerciseState, error) {
	e, s, err := h.openExercise(id)
	if err != nil {
		return checker.ExerciseState{}, err
	}
	if err := s.Answer(ctx, id, check, value); err != nil {
		return checker.ExerciseState{}, err
	}
	return h.stateOf(e), nil
}

// Hint tells one more hint of a check.
func (h *Hub) Hint(id, check string) (checker.ExerciseState, error) {
	e, s, err := h.openExercise(id)
	if err != nil {
		return checker.ExerciseState{}, err
	}
	if err := s.Hint(id, check); err != nil {
		return checker.ExerciseState{}, err
	}
	return h.stateOf(e), nil
}

// Solution reveals the solution, and remembers that it did.
func (h *Hub) Solution(id string) (string, error) {
	_, s, err := h.openExercise(id)
	if err != nil {
		return "", err
	}
	return s.RevealSolution(id)
}

// openExercise returns an exercise that is open in a session.
func (h *Hub) openExercise(id string) (*exercise, *session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.exercises[id]
	if e == nil {
		return nil, nil, fmt.Errorf("the exercise %q is not open; load the page again", id)
	}
	if e.session == nil {
		return nil, nil, cmp.Or(wants(e.def, h.status.Backend), errNoCluster)
	}
	return e, e.session, nil
}

// sessionOf returns where an exercise is open, or nil.
func (h *Hub) sessionOf(id string) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.exercises[id]; e != nil {
		return e.session
	}
	return nil
}

func (h *Hub) stateOf(e *exercise) checker.ExerciseState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return e.state
}

// exerciseChanged is called by the session, in order, and must not block.
func (h *Hub) exerciseChanged(s *session, state checker.ExerciseState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.exercises[state.ID]
	if e == nil || e.session != s {
		return
	}
	state.Checks = slices.Clone(state.Checks)
	for i := range state.Checks {
		state.Checks[i].Revision += e.base
	}
	e.state = state
	h.tellExercise(e)
	h.saver.save(state.ID)
}

// tellExercise sends an exercise's state; mu is held.
func (h *Hub) tellExercise(e *exercise) {
	for _, c := range e.state.Checks {
		h.revision = max(h.revision, c.Revision)
	}
	h.broadcast("exercise "+e.def.ID, protocol.ExerciseChanged{State: e.state})
	h.report(&e.state, false)
}

// savedState is how an exercise stands before a session judges it.
func savedState(def *exercises.Exercise, saved store.Exercise) checker.ExerciseState {
	known := make(map[string]store.Check, len(saved.Checks))
	for _, c := range saved.Checks {
		known[c.ID] = c
	}
	state := checker.ExerciseState{ID: def.ID, Phase: checker.Preparing, Solution: saved.Solution}
	if !saved.PassedAt.IsZero() {
		state.PassedAt = &saved.PassedAt
	}
	for _, c := range def.Checks {
		status := checker.CheckStatus{ID: c.ID, Says: c.Says, Kind: c.Kind(), State: checker.Waiting, Since: time.Now(), Answered: known[c.ID].Answer}
		if passed := known[c.ID].PassedAt; !passed.IsZero() {
			status.State, status.Since = checker.Passing, passed
		}
		state.Checks = append(state.Checks, status)
	}
	return state
}
