package hub

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/server/store"
)

// retryPause is how long the saver waits after a failure, such as a full disk.
const retryPause = 5 * time.Second

// A saver brings progress to the store: soon, and again until it is there, so that nothing is lost while the disk is full.
type saver struct {
	h *Hub

	writing sync.Mutex // held while the store is written; guards the next two
	pending map[string]store.Exercise
	written map[string]store.Exercise // the last ones

	mu    sync.Mutex
	dirty map[string]bool // what the session knows better than the store
	fails bool
	wake  chan struct{} // holds one
}

func newSaver(h *Hub) *saver {
	return &saver{
		h:       h,
		pending: make(map[string]store.Exercise),
		written: make(map[string]store.Exercise),
		dirty:   make(map[string]bool),
		wake:    make(chan struct{}, 1),
	}
}

// save marks an exercise to be saved as its session knows it then; it does not block.
func (s *saver) save(id string) {
	s.mu.Lock()
	s.dirty[id] = true
	s.mu.Unlock()
	s.nudge()
}

func (s *saver) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Flush saves the learner's progress, and tells whether all of it could be saved.
func (h *Hub) Flush() bool { return h.saver.flush() }

func (s *saver) run() {
	for {
		select {
		case <-s.h.ctx.Done():
			return
		case <-s.wake:
		}
		if s.flush() {
			continue
		}
		select {
		case <-s.h.ctx.Done():
			return
		case <-time.After(retryPause):
			s.nudge()
		}
	}
}

// flush writes what is marked and what could not be written before, and tells whether all of it is written now.
func (s *saver) flush() bool {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	dirty := s.dirty
	s.dirty = make(map[string]bool)
	s.mu.Unlock()
	for id := range dirty {
		s.collect(id)
	}
	err := s.write(context.WithoutCancel(s.h.ctx))
	s.tell(err)
	return err == nil
}

// collect takes an exercise's progress from its session; writing is held.
func (s *saver) collect(id string) {
	if session := s.h.sessionOf(id); session != nil {
		s.pending[id] = toStore(id, session.Saved(id))
	}
}

// write brings what is pending to the store; writing is held.
func (s *saver) write(ctx context.Context) error {
	var failure error
	for id, progress := range s.pending {
		if before, ok := s.written[id]; !ok || !reflect.DeepEqual(before, progress) {
			if err := s.h.o.Progress.SaveExercise(ctx, s.h.id, progress); err != nil {
				failure = err
				continue
			}
			s.written[id] = progress
		}
		delete(s.pending, id)
	}
	return failure
}

// read returns the progress in an exercise: the store's, unless a newer one could not be written yet.
func (s *saver) read(ctx context.Context, id string) (store.Exercise, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if progress, ok := s.pending[id]; ok {
		return progress, nil
	}
	return s.h.o.Progress.Exercise(ctx, s.h.id, id)
}

// begin writes that an exercise was opened.
func (s *saver) begin(ctx context.Context, id string) {
	s.tell(s.h.o.Progress.SaveExercise(ctx, s.h.id, store.Exercise{ID: id}))
}

// forget resets an exercise in the store, and writes how it stands now.
func (s *saver) forget(ctx context.Context, id string) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.h.o.Progress.ResetExercise(ctx, s.h.id, id); err != nil {
		return err
	}
	delete(s.written, id)
	s.collect(id)
	return s.write(ctx)
}

// tell lets the learner know when saving begins to fail, and when it works again.
func (s *saver) tell(failure error) {
	s.mu.Lock()
	before := s.fails
	s.fails = failure != nil
	s.mu.Unlock()
	switch {
	case failure != nil && !before:
		s.h.log.Error("save progress", "error", failure)
		s.h.Notify(protocol.Error, "Your progress cannot be saved at the moment: "+failure.Error()+". It is kept in memory and saved as soon as that works again; do not stop apilab before.")
	case failure == nil && before:
		s.h.Notify(protocol.Info, "Your progress is saved again.")
	}
}
