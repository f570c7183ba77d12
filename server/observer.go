package server

import (
	"context"
	"errors"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/server/store"
)

// observe returns the page of an instructor who looks at a learner's terminals: it is sent what the learner's own pages are
// sent, and may do next to nothing.
func (s *Server) observe(c echo.Context, learner string) (func(*websocket.Conn) *page, error) {
	person := learnerOf(c)
	allowed := func(ctx context.Context) error {
		_, err := s.ownMember(ctx, person.ID, learner)
		return err
	}
	member, err := s.ownMember(c.Request().Context(), person.ID, learner)
	if err != nil {
		return nil, err
	}
	hub, err := s.hub(member.Learner)
	if err != nil {
		return nil, err
	}
	return func(conn *websocket.Conn) *page {
		p := newPage(conn, hub, s.log)
		p.requests, p.allowed = observerRequests, s.stillSignedIn(c, allowed)
		p.join = func() (leave func()) {
			p.observer = hub.Observe(p, person.Name)
			return func() { hub.Unobserve(p.observer) }
		}
		return p
	}, nil
}

// observerRequests are all that an observer can ask for.
var observerRequests = map[string]requestHandler{
	"ping":        ping,
	"term.attach": quick(func(ctx context.Context, p *page, a protocol.TerminalAttach) (any, error) { return p.attach(ctx, a) }),
	"observer.type": quick(func(ctx context.Context, p *page, a protocol.ObserverType) (any, error) {
		if err := p.allowed(ctx); err != nil {
			return nil, err
		}
		return nil, p.hub.AskToType(p.observer, a.Ask)
	}),
}

// stillSignedIn tells whether the browser that asked is still signed in as the same person, who is still allowed to.
func (s *Server) stillSignedIn(c echo.Context, allowed func(context.Context) error) func(context.Context) error {
	person := learnerOf(c).ID
	cookie, err := c.Cookie(s.cookie)
	if err != nil {
		return func(context.Context) error { return errSignedOut }
	}
	return func(ctx context.Context) error {
		now, err := s.store.LearnerBySession(ctx, cookie.Value)
		if errors.Is(err, store.ErrNotFound) || err == nil && now.ID != person {
			return errSignedOut
		}
		if err != nil {
			return err
		}
		return allowed(ctx)
	}
}
