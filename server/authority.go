package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/apilab/apilab/server/store"
)

var (
	errNotInstructor = refusal{code: http.StatusForbidden, text: "This is for instructors. Your own lessons are on the home page."}
	// errNotYours does not tell a class of somebody else from one that is not there.
	errNotYours = refusal{code: http.StatusNotFound, text: "There is no such class, or it is another instructor's."}
)

// ownClass returns a class that the person may run: an instructor their own ones, an admin all, a learner none. It reads
// the role anew, so that who loses it loses the class at once.
func (s *Server) ownClass(ctx context.Context, person, class string) (store.Class, error) {
	who, err := s.store.Learner(ctx, person)
	if err != nil {
		return store.Class{}, err
	}
	if !who.Role.CanTeach() {
		return store.Class{}, errNotInstructor
	}
	c, err := s.store.Class(ctx, class)
	if errors.Is(err, store.ErrNotFound) || err == nil && who.Role != store.RoleAdmin && c.Instructor != person {
		return store.Class{}, errNotYours
	}
	return c, err
}

// ownMember returns a learner of a class that the person may run.
func (s *Server) ownMember(ctx context.Context, person, learner string) (store.Member, error) {
	who, err := s.store.Learner(ctx, person)
	if err != nil {
		return store.Member{}, err
	}
	if !who.Role.CanTeach() {
		return store.Member{}, errNotInstructor
	}
	member, err := s.store.Member(ctx, learner)
	if errors.Is(err, store.ErrNotFound) {
		return store.Member{}, errNotYours
	}
	if err != nil {
		return store.Member{}, err
	}
	_, err = s.ownClass(ctx, person, member.Class)
	return member, err
}
