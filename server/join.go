package server

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/server/store"
)

// maxName bounds a person's name, in characters.
const maxName = 60

// joinPage asks for a join code and a name. The address in the QR code has the join code in it.
func (s *Server) joinPage(c echo.Context) error {
	page := assets.Join{}
	code := store.ParseCode(c.Param("code"))
	if code == "" {
		return s.showJoin(c, http.StatusOK, page)
	}
	page.Code = code.String()
	var class store.Class
	err := s.attempts.try(c.Request().Context(), c.RealIP(), func() (err error) {
		class, err = s.store.ClassByJoinCode(c.Request().Context(), code)
		return err
	})
	if err == nil {
		page.Class = class.Name
		err = class.CanJoin(time.Now())
	}
	return s.refuseJoin(c, page, err)
}

// join makes a learner of a name, in the class of a join code. A personal code in its place brings its owner back.
func (s *Server) join(c echo.Context) error {
	typed, name := c.FormValue("code"), cleanName(c.FormValue("name"))
	page := assets.Join{Code: typed, Name: name}
	code := store.ParseCode(typed)
	if len(code) == store.PersonalCodeLength {
		return s.comeBack(c)
	}
	if who, err := s.session(c); err == nil {
		// The form was sent twice, by a reload or by two taps.
		if class, err := s.store.ClassOf(c.Request().Context(), who.ID); err == nil && class.JoinCode == code {
			return c.Redirect(http.StatusSeeOther, "/")
		}
	}
	switch {
	case code == "":
		page.Problem = "Type the join code that your instructor shows."
		return s.showJoin(c, http.StatusBadRequest, page)
	case name == "":
		page.Problem = "Type your name, as your instructor is to see it."
		return s.showJoin(c, http.StatusBadRequest, page)
	}
	var joined store.Joined
	err := s.attempts.try(c.Request().Context(), c.RealIP(), func() (err error) {
		joined, err = s.store.Join(c.Request().Context(), code, name, sessionTime)
		return err
	})
	if err != nil {
		return s.refuseJoin(c, page, err)
	}
	if err := s.endSession(c); err != nil {
		return err
	}
	s.setCookie(c, joined.Token, sessionTime)
	s.tellRoom(c.Request().Context(), joined.Class.ID)
	c.Set(learnerKey, joined.Learner)
	welcome := assets.Joined{Page: s.plainPage(c, "Welcome"), Name: name, Class: joined.Class.Name, Code: joined.PersonalCode.String()}
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.Joined(w, welcome) })
}

// comeBack signs in by a personal code.
func (s *Server) comeBack(c echo.Context) error {
	typed := c.FormValue("code")
	var token string
	err := s.attempts.try(c.Request().Context(), c.RealIP(), func() (err error) {
		token, err = s.store.RedeemPersonalCode(c.Request().Context(), store.ParseCode(typed), sessionTime)
		return err
	})
	page := assets.Join{Personal: typed}
	if errors.Is(err, store.ErrNotFound) {
		page.Problem = "This is nobody's personal code. Look at it again; if you made another one later, only that one is good. Your instructor can give you a new one."
		return s.showJoin(c, http.StatusNotFound, page)
	}
	if err != nil {
		return s.refuseJoin(c, page, err)
	}
	return s.begin(c, token)
}

// refuseJoin shows the join page with what stands in the way, if anything.
func (s *Server) refuseJoin(c echo.Context, page assets.Join, err error) error {
	var many *tooManyError
	code := http.StatusOK
	switch {
	case err == nil:
	case errors.As(err, &many):
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(many.seconds()))
		code, page.Problem = http.StatusTooManyRequests, many.Error()
	case errors.Is(err, store.ErrNotFound):
		code, page.Problem = http.StatusNotFound, "No class has this code. Look at it again: it has eight letters and digits, such as ACDE-FGHJ."
	case errors.Is(err, store.ErrClassFull):
		code, page.Problem = http.StatusConflict, "The class is full: all of its places are taken. Your instructor can add more."
	case errors.Is(err, store.ErrClassClosed):
		code, page.Problem = http.StatusForbidden, "The class is closed: nobody else can join. Your instructor can open it again. If you have joined before, come back with your personal code."
	case errors.Is(err, store.ErrNotBegun):
		code, page.Problem = http.StatusForbidden, "The class has not begun yet."
		if class, err := s.store.ClassByJoinCode(c.Request().Context(), store.ParseCode(page.Code)); err == nil {
			page.Problem = fmt.Sprintf("The class has not begun yet: it begins on %s.", moment(class.Starts))
		}
	case errors.Is(err, store.ErrOver):
		code, page.Problem = http.StatusGone, "The class is over, and nobody else can join."
	default:
		return err
	}
	return s.showJoin(c, code, page)
}

func (s *Server) showJoin(c echo.Context, code int, page assets.Join) error {
	if who, err := s.session(c); err == nil {
		c.Set(learnerKey, who)
		page.As = who.Name
	}
	page.Page = s.plainPage(c, "Join a class")
	s.write(c, code, func(w *echo.Response) error { return s.renderer.Join(w, page) }, func() string {
		if page.Problem != "" {
			return page.Problem
		}
		return "Join a class at " + s.o.Public.link("/join") + "."
	})
	return nil
}

// cleanName makes a name fit to be shown among others: one line, without what is not seen or changes the direction of what
// stands beside it.
func cleanName(name string) string {
	if !utf8.ValidString(name) {
		return ""
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == '\u200d' || r == '\u200c': // within words of some scripts
			return r
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if runes := []rune(name); len(runes) > maxName {
		name = strings.TrimSpace(string(runes[:maxName]))
	}
	return strings.Trim(name, "\u200d\u200c")
}
