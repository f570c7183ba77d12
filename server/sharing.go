package server

import (
	"context"
	"errors"
	"slices"

	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/server/store"
)

// sharing is what a learner shares with their class: their hand, and what instructors write. It is in the store, so that it
// outlives this server; the hub has a copy for its pages.
type sharing struct {
	s       *Server
	learner string
}

// raiseHand raises the learner's hand, or takes it down.
func (h sharing) raiseHand(ctx context.Context, up bool) error {
	return h.s.moveHand(ctx, h.learner, up)
}

// dismiss takes a message off all of the learner's pages.
func (h sharing) dismiss(ctx context.Context, message int64) error {
	if err := h.s.store.DismissMessage(ctx, h.learner, message); err != nil {
		return err
	}
	return h.s.share(ctx, h.learner)
}

// errClosedExercise is for a page that was loaded before its lesson was closed.
var errClosedExercise = errors.New("its lesson is closed for now; your instructor opens it when the class comes to it")

// mayOpen returns an error for an exercise all of whose lessons are closed for the learner's class.
func (h sharing) mayOpen(ctx context.Context, exercise string) error {
	member, err := h.s.store.Member(ctx, h.learner)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	closed, err := h.s.store.ClosedLessons(ctx, member.Class)
	if err != nil {
		return err
	}
	hidden := false
	for _, lesson := range h.s.library.current().lessons() {
		if !slices.Contains(lesson.ExerciseIDs, exercise) {
			continue
		}
		if !slices.Contains(closed, lesson.ID) {
			return nil
		}
		hidden = true
	}
	if hidden {
		return errClosedExercise
	}
	return nil
}

// moveHand shows a learner's hand, up or down, to them and to their class.
func (s *Server) moveHand(ctx context.Context, learner string, up bool) error {
	move := s.store.LowerHand
	if up {
		move = s.store.RaiseHand
	}
	err := move(ctx, learner)
	if errors.Is(err, store.ErrNotFound) {
		return errors.New("there is no class whose instructor could see the hand")
	}
	if err != nil {
		return err
	}
	member, err := s.store.Member(ctx, learner)
	if err != nil {
		return err
	}
	if room := s.rooms.Of(learner); room != nil {
		room.SetHand(learner, member.HandAt)
	}
	return s.share(ctx, learner)
}

// share tells a learner's pages what they share with their class, where they have a hub.
func (s *Server) share(ctx context.Context, learner string) error {
	h := s.hubOf(learner)
	if h == nil {
		return nil
	}
	class, err := s.shared(ctx, learner)
	if err != nil {
		return err
	}
	h.SetClass(class)
	return nil
}

// shareAll is share for all learners of a class. It goes on where one fails.
func (s *Server) shareAll(ctx context.Context, class string) error {
	members, err := s.store.Members(ctx, class)
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range members {
		errs = append(errs, s.share(ctx, m.ID))
	}
	return errors.Join(errs...)
}

// shared reads what a learner shares with their class.
func (s *Server) shared(ctx context.Context, learner string) (protocol.Class, error) {
	member, err := s.store.Member(ctx, learner)
	if errors.Is(err, store.ErrNotFound) {
		return protocol.Class{}, nil
	}
	if err != nil {
		return protocol.Class{}, err
	}
	c := protocol.Class{Member: true, HandAt: member.HandAt}
	messages, err := s.store.Messages(ctx, learner)
	if err != nil {
		return protocol.Class{}, err
	}
	for _, m := range messages {
		c.Messages = append(c.Messages, protocol.ClassMessage{ID: m.ID, From: m.Sender, Text: m.Text, At: m.SentAt})
	}
	c.Closed, err = s.store.ClosedLessons(ctx, member.Class)
	return c, err
}

// hubOf returns a learner's hub, nil where they have not been here since the server started.
func (s *Server) hubOf(learner string) *hub.Hub {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hubs[learner]
}

// reportHub lets a learner's hub report all that it knows.
func (s *Server) reportHub(learner string) {
	if h := s.hubOf(learner); h != nil {
		h.Report()
	}
}

// classChanged is called when a class's members, lessons or dates have changed: its instructors and its learners are told.
func (s *Server) classChanged(ctx context.Context, class string) {
	s.tellRoom(ctx, class)
	if err := s.shareAll(ctx, class); err != nil {
		s.log.Error("tell the learners of a change of their class", "class", class, "error", err)
	}
}

// tellRoom is classChanged for instructors alone.
func (s *Server) tellRoom(ctx context.Context, class string) {
	if err := s.rooms.Refresh(ctx, class); err != nil {
		s.log.Error("tell the instructors of a change of a class", "class", class, "error", err)
	}
}
