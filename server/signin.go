package server

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/server/store"
)

const (
	codeTime    = 10 * time.Minute
	sessionTime = 90 * 24 * time.Hour // since the last visit of the home page
)

// signIn takes the one-time link that `apilab` prints and opens.
func (s *Server) signIn(c echo.Context) error {
	if speculative(c.Request()) {
		return c.NoContent(http.StatusServiceUnavailable) // a preview must not use the code up
	}
	token, err := s.store.RedeemSignInCode(c.Request().Context(), c.Param("code"), sessionTime)
	if errors.Is(err, store.ErrNotFound) {
		if _, err := s.session(c); err == nil {
			return c.Redirect(http.StatusSeeOther, "/") // the link was opened again in a browser that it has signed in
		}
		s.showSignIn(c, "This sign-in link was used before, or is older than ten minutes.")
		return nil
	}
	if err != nil {
		return err
	}
	s.setCookie(c, token)
	return c.Redirect(http.StatusSeeOther, "/")
}

// speculative tells whether the browser asks before its user does.
func speculative(r *http.Request) bool {
	return r.Method != http.MethodGet || strings.Contains(r.Header.Get("Sec-Purpose"), "prefetch") || r.Header.Get("X-Moz") == "prefetch"
}

// showSignIn tells how to get in.
func (s *Server) showSignIn(c echo.Context, problem string) {
	page := assets.SignIn{Page: s.page(c, "Sign in"), Problem: problem, Command: "apilab open"}
	s.write(c, http.StatusUnauthorized, func(w *echo.Response) error { return s.renderer.SignIn(w, page) }, func() string {
		return cmp.Or(problem, "This browser is not signed in.") + " Run \"apilab open\" and open the link that it prints."
	})
}

// signedIn lets only a learner's own browser pass.
func (s *Server) signedIn(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		learner, err := s.session(c)
		if err != nil {
			return err
		}
		c.Set(learnerKey, learner)
		return next(c)
	}
}

const learnerKey = "learner"

// learnerOf returns who asks; behind signedIn it is always someone.
func learnerOf(c echo.Context) store.Learner {
	learner, _ := c.Get(learnerKey).(store.Learner)
	return learner
}

// session returns whose cookie the request carries, or errSignedOut.
func (s *Server) session(c echo.Context) (store.Learner, error) {
	cookie, err := c.Cookie(s.cookie)
	if err != nil {
		return store.Learner{}, errSignedOut
	}
	learner, err := s.store.LearnerBySession(c.Request().Context(), cookie.Value)
	if errors.Is(err, store.ErrNotFound) {
		return store.Learner{}, errSignedOut
	}
	return learner, err
}

// prolong keeps a browser signed in that comes back.
func (s *Server) prolong(c echo.Context) error {
	cookie, err := c.Cookie(s.cookie)
	if err != nil {
		return nil
	}
	if err := s.store.ProlongSession(c.Request().Context(), cookie.Value, sessionTime); err != nil {
		return err
	}
	s.setCookie(c, cookie.Value)
	return nil
}

func (s *Server) setCookie(c echo.Context, token string) {
	c.SetCookie(&http.Cookie{
		Name:     s.cookie,
		Value:    token,
		Path:     "/",
		MaxAge:   int(sessionTime / time.Second),
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	})
}
