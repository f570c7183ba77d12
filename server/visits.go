package server

import (
	"context"
	"fmt"
	"net/http"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"
)

// maxPages bounds the pages that one person has open at once.
const maxPages = 32

// statusSignedOut ends the websocket of a session that has ended; the page then finds out how to come back.
const statusSignedOut websocket.StatusCode = 4401

// A visit is an open websocket.
type visit struct {
	learner string // ID
	token   string // of its session
	end     context.CancelCauseFunc
}

// enter counts a person's page in. ctx ends when the visit is to.
func (s *Server) enter(c echo.Context) (ctx context.Context, leave func(), err error) {
	v := &visit{learner: learnerOf(c).ID, token: s.token(c)}
	ctx, v.end = context.WithCancelCause(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	open := 0
	for other := range s.visits {
		if other.learner == v.learner {
			open++
		}
	}
	if open >= maxPages {
		v.end(nil)
		return nil, nil, refusal{code: http.StatusTooManyRequests, text: fmt.Sprintf("%d pages are open already. Close one, then load this one again.", maxPages)}
	}
	s.visits[v] = true
	s.pages.Add(1)
	return ctx, func() {
		v.end(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.visits, v)
		s.pages.Done()
	}, nil
}

// endVisits ends the open websockets that which tells. Those on another server find out by themselves (stillSignedIn).
func (s *Server) endVisits(which func(*visit) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.visits {
		if which(v) {
			v.end(closing{statusSignedOut, "signed out"})
		}
	}
}
