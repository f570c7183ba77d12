package server

import (
	"bytes"
	"cmp"
	"context"
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

// signIn takes the one-time link that `apilab` prints and opens. On a server of classes, links are sent to people, and what
// looks into messages opens them too: there it is a button that uses the link up.
func (s *Server) signIn(c echo.Context) error {
	if speculative(c.Request()) {
		return c.NoContent(http.StatusServiceUnavailable) // a preview must not use the code up
	}
	if s.isPublic() {
		return s.confirmSignIn(c)
	}
	return s.redeemSignIn(c)
}

// redeemSignIn uses a sign-in code up.
func (s *Server) redeemSignIn(c echo.Context) error {
	var token string
	err := s.attempts.try(c.Request().Context(), c.RealIP(), func() (err error) {
		token, err = s.store.RedeemSignInCode(c.Request().Context(), c.Param("code"), sessionTime)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return s.usedUp(c)
	}
	if err != nil {
		return err
	}
	return s.begin(c, token)
}

// usedUp answers to a link that does not work, or no longer.
func (s *Server) usedUp(c echo.Context) error {
	if _, err := s.session(c); err == nil {
		return c.Redirect(http.StatusSeeOther, "/") // the link was opened again in a browser that it has signed in
	}
	problem := "This sign-in link was used before, or is older than ten minutes."
	if s.isPublic() {
		problem = "This sign-in link was used before, or is too old. Ask whoever gave it to you for another."
	}
	s.showSignIn(c, problem)
	return nil
}

// confirmSignIn asks who opens a sign-in link whether it is them.
func (s *Server) confirmSignIn(c echo.Context) error {
	code := c.Param("code")
	var who store.Learner
	err := s.attempts.try(c.Request().Context(), c.RealIP(), func() (err error) {
		who, err = s.store.SignInCodeOf(c.Request().Context(), code)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return s.usedUp(c)
	}
	if err != nil {
		return err
	}
	page := assets.SignInAs{Page: s.plainPage(c, "Sign in"), Name: who.Name, Role: string(who.Role), Code: code}
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.SignInAs(w, page) })
}

// begin signs the browser in with a new session, in place of the one that it may have.
func (s *Server) begin(c echo.Context, token string) error {
	if err := s.endSession(c); err != nil {
		return err
	}
	s.setCookie(c, token, sessionTime)
	return c.Redirect(http.StatusSeeOther, "/")
}

// speculative tells whether the browser asks before its user does.
func speculative(r *http.Request) bool {
	return r.Method != http.MethodGet || strings.Contains(r.Header.Get("Sec-Purpose"), "prefetch") || r.Header.Get("X-Moz") == "prefetch"
}

// showSignIn tells how to get in.
func (s *Server) showSignIn(c echo.Context, problem string) {
	if s.isPublic() {
		s.showJoin(c, http.StatusUnauthorized, assets.Join{Problem: problem})
		return
	}
	command := "apilab open" + s.o.CommandFlags
	page := assets.SignIn{Page: s.page(c, "Sign in"), Problem: problem, Command: command}
	s.write(c, http.StatusUnauthorized, func(w *echo.Response) error { return s.renderer.SignIn(w, page) }, func() string {
		return cmp.Or(problem, "This browser is not signed in.") + " Run \"" + command + "\" and open the link that it prints."
	})
}

// signOut ends the browser's session, or all of its owner's, and the pages that are open by them.
func (s *Server) signOut(c echo.Context) error {
	if c.FormValue("everywhere") == "" {
		if err := s.endSession(c); err != nil {
			return err
		}
	} else if err := s.endSessions(c.Request().Context(), learnerOf(c).ID); err != nil {
		return err
	}
	s.setCookie(c, "", -1)
	return c.Redirect(http.StatusSeeOther, "/")
}

// endSession ends the session of the browser, if it has one.
func (s *Server) endSession(c echo.Context) error {
	token := s.token(c)
	if token == "" {
		return nil
	}
	if err := s.store.EndSession(c.Request().Context(), token); err != nil {
		return err
	}
	s.endVisits(func(v *visit) bool { return v.token == token })
	return nil
}

// endSessions signs a person out everywhere, on machines of their own, too.
func (s *Server) endSessions(ctx context.Context, learner string) error {
	if err := s.store.EndSessions(ctx, learner); err != nil {
		return err
	}
	s.endVisits(func(v *visit) bool { return v.learner == learner })
	return s.revokeKubeconfig(ctx, learner)
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
	return s.learnerBy(c.Request().Context(), s.token(c))
}

func (s *Server) learnerBy(ctx context.Context, token string) (store.Learner, error) {
	if token == "" {
		return store.Learner{}, errSignedOut
	}
	learner, err := s.store.LearnerBySession(ctx, token)
	if errors.Is(err, store.ErrNotFound) {
		return store.Learner{}, errSignedOut
	}
	return learner, err
}

// token is that of the session in the request's cookie, "" for none.
func (s *Server) token(c echo.Context) string {
	cookie, err := c.Cookie(s.cookie)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// prolong keeps a browser signed in that comes back.
func (s *Server) prolong(c echo.Context) error {
	token := s.token(c)
	if token == "" {
		return nil
	}
	if err := s.store.ProlongSession(c.Request().Context(), token, sessionTime); err != nil {
		return err
	}
	s.setCookie(c, token, sessionTime)
	return nil
}

// setCookie gives the browser a session for some time, or takes it away for a negative one.
func (s *Server) setCookie(c echo.Context, token string, lasts time.Duration) {
	cookie := &http.Cookie{
		Name:     s.cookie,
		Value:    token,
		Path:     "/",
		MaxAge:   int(lasts / time.Second),
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
	if lasts < 0 {
		cookie.MaxAge = -1
	}
	if s.isPublic() {
		// Instructors send links to lessons; who follows one is signed in. What changes anything is protected by the origin.
		cookie.SameSite = http.SameSiteLaxMode
		cookie.Secure = s.o.Public.Secure()
	}
	c.SetCookie(cookie)
}

// cookieName differs between data folders: browsers share cookies among the ports of a host. The prefix has a browser take
// the cookie from this very host alone, and by HTTPS.
func (s *Server) cookieName(instance string) string {
	name := "apilab-session-" + instance
	if s.isPublic() && s.o.Public.Secure() {
		return "__Host-" + name
	}
	return name
}
