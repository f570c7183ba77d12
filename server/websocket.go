package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/server/protocol"
)

// websocket joins a page to what it shows: its learner's hub, or with ?learner=ID that of a learner whom an instructor
// observes, or with ?class=ID a class.
func (s *Server) websocket(c echo.Context) error {
	r := c.Request()
	if err := s.ownOrigin(r); err != nil {
		return err
	}
	newPage, err := s.pageOf(c)
	if err != nil {
		return err
	}
	welcome, leave, err := s.enter(c)
	if err != nil {
		return err
	}
	defer leave()
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
	p := newPage(conn)
	defer context.AfterFunc(welcome, func() { p.close(context.Cause(welcome)) })()
	p.run(s.live)
	return nil
}

// pageOf returns what makes the page that was asked for, of its websocket.
func (s *Server) pageOf(c echo.Context) (func(*websocket.Conn) *page, error) {
	if class := c.QueryParam("class"); class != "" {
		return s.watchClass(c, class)
	}
	if learner := c.QueryParam("learner"); learner != "" {
		return s.observe(c, learner)
	}
	who := learnerOf(c)
	allowed := func(ctx context.Context) error {
		_, err := s.classFor(ctx, who)
		return err
	}
	if err := allowed(c.Request().Context()); err != nil {
		return nil, err
	}
	hub, err := s.hub(who)
	if err != nil {
		return nil, err
	}
	return func(conn *websocket.Conn) *page {
		p := newPage(conn, hub, s.log)
		p.warning, p.shared = s.library.mistake(), sharing{s, who.ID}
		p.allowed = s.stillSignedIn(c, allowed)
		return p
	}, nil
}

// ownOrigin refuses pages that are not this server's: browsers let any page open a websocket to anywhere, with cookies.
func (s *Server) ownOrigin(r *http.Request) error {
	origin := r.Header.Get("Origin")
	u, err := url.Parse(origin)
	switch {
	case origin == "" || err != nil:
	case u.Host == r.Host:
		return nil
	case s.isPublic() && origin == s.o.Public.origin(): // behind a proxy, the host that is asked for may be another
		return nil
	}
	return refusal{code: http.StatusForbidden, text: fmt.Sprintf(
		"This websocket is for the pages of http://%s. The page that asked for it comes from %q.", r.Host, origin)}
}
