package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/server/store"
)

// A refusal is an error that was made for the reader: its text is shown as it is.
type refusal struct {
	code    int    // HTTP status
	text    string // whole sentences
	heading string // "": that of the code
	links   []assets.Link
}

func (r refusal) Error() string { return r.text }

// errSignedOut says that the browser has no session.
var errSignedOut = errors.New("not signed in")

// showError turns every error of a handler into a page, or into one line for who did not ask for HTML.
func (s *Server) showError(err error, c echo.Context) {
	if c.Response().Committed || errors.Is(err, context.Canceled) && c.Request().Context().Err() != nil {
		return // too late, or nobody is there to read it
	}
	page := assets.ErrorPage{Page: s.page(c, ""), Code: http.StatusInternalServerError}
	var (
		refused refusal
		routing *echo.HTTPError
		many    *tooManyError
	)
	switch {
	case errors.Is(err, errSignedOut):
		s.showSignIn(c, "")
		return
	case errors.As(err, &many):
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(many.seconds()))
		page.Code, page.Message = http.StatusTooManyRequests, many.Error()
	case errors.Is(err, store.ErrNotFound):
		page.Code = http.StatusNotFound
	case errors.As(err, &refused):
		page.Code, page.Heading, page.Message, page.Links = refused.code, refused.heading, refused.text, refused.links
	case errors.As(err, &routing):
		page.Code = routing.Code
	}
	if page.Code >= http.StatusInternalServerError && refused.code == 0 {
		page.Request = newRequestID()
		s.log.Error("answer a request", "request", page.Request, "method", c.Request().Method, "route", c.Path(), "error", err)
	}
	s.write(c, page.Code, func(w *echo.Response) error { return s.renderer.Error(w, page) }, func() string {
		if page.Request != "" {
			return fmt.Sprintf("Something went wrong here. The log of apilab has more under %s.", page.Request)
		}
		return cmp.Or(page.Message, http.StatusText(page.Code)+".")
	})
}

// write answers with a page, or with a line of text where a program asks.
func (s *Server) write(c echo.Context, code int, page func(*echo.Response) error, line func() string) {
	w := c.Response()
	if !acceptsHTML(c.Request()) {
		if err := c.String(code, line()+"\n"); err != nil {
			s.log.Debug("write an answer", "error", err)
		}
		return
	}
	w.Header().Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
	w.WriteHeader(code)
	if c.Request().Method == http.MethodHead {
		return
	}
	if err := page(w); err != nil {
		s.log.Error("write a page", "route", c.Path(), "error", err)
	}
}

func acceptsHTML(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// recoverPanic turns a panic of a handler into an error that carries its stack to the log.
func recoverPanic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			switch cause := recover(); cause {
			case nil:
			case http.ErrAbortHandler:
				panic(cause) // this is how a handler hangs up, not a mistake
			default:
				err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
			}
		}()
		return next(c)
	}
}

// logRequest logs the route rather than the address, which may hold a sign-in code.
func (s *Server) logRequest(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		err := next(c)
		if err != nil {
			c.Error(err)
		}
		s.log.Log(c.Request().Context(), slog.LevelDebug, "request", "method", c.Request().Method, "route", c.Path(),
			"status", c.Response().Status, "duration", time.Since(start).Round(time.Microsecond))
		return nil
	}
}
