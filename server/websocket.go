package server

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/server/protocol"
)

// maxPages bounds the pages that one learner has open at once.
const maxPages = 32

// websocket joins a page to its learner's hub.
func (s *Server) websocket(c echo.Context) error {
	r := c.Request()
	if err := ownOrigin(r); err != nil {
		return err
	}
	learner := learnerOf(c)
	leave, err := s.enter(learner.ID)
	if err != nil {
		return err
	}
	defer leave()
	hub, err := s.hub(learner)
	if err != nil {
		return err
	}
	conn, err := websocket.Accept(c.Response(), r, &websocket.AcceptOptions{
		Subprotocols:       []string{protocol.Subprotocol},
		InsecureSkipVerify: true, // ownOrigin is stricter, and clearer
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		s.log.Debug("accept a websocket", "error", err) // it has answered already
		return nil
	}
	if conn.Subprotocol() == "" {
		return conn.Close(websocket.StatusProtocolError, "this server speaks "+protocol.Subprotocol)
	}
	p := newPage(conn, hub, s.log)
	p.warning = s.library.mistake()
	p.run(s.live)
	return nil
}

// ownOrigin refuses pages that are not this server's: browsers let any page open a websocket to anywhere, with cookies.
func ownOrigin(r *http.Request) error {
	origin := r.Header.Get("Origin")
	u, err := url.Parse(origin)
	if origin == "" || err != nil || u.Host != r.Host {
		return refusal{http.StatusForbidden, fmt.Sprintf(
			"This websocket is for the pages of http://%s. The page that asked for it comes from %q.", r.Host, origin)}
	}
	return nil
}

// enter counts a page of the learner's in.
func (s *Server) enter(learner string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[learner] >= maxPages {
		return nil, refusal{http.StatusTooManyRequests, fmt.Sprintf("%d pages are open already. Close one, then load this one again.", maxPages)}
	}
	s.open[learner]++
	s.pages.Add(1)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open[learner]--
		s.pages.Done()
	}, nil
}
