package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/server/store"
)

// learns lets who may use lessons and clusters pass: on a server of classes, members of one that takes place now, and who
// teaches. It comes after signedIn.
func (s *Server) learns(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		class, err := s.classFor(c.Request().Context(), learnerOf(c))
		if err != nil {
			return err
		}
		c.Set(classKey, class)
		return next(c)
	}
}

const classKey = "class"

// classOf returns the class of who asks, behind learns; its zero value for who is in none.
func classOf(c echo.Context) store.Class {
	class, _ := c.Get(classKey).(store.Class)
	return class
}

// classFor returns the class that a person learns in. The error is a refusal for who may not learn here now.
func (s *Server) classFor(ctx context.Context, who store.Learner) (store.Class, error) {
	if !s.isPublic() {
		return store.Class{}, nil
	}
	class, err := s.store.ClassOf(ctx, who.ID)
	switch {
	case who.Role.CanTeach() && (err == nil || errors.Is(err, store.ErrNotFound)):
		return class, nil
	case errors.Is(err, store.ErrNotFound):
		return store.Class{}, refusal{
			code: http.StatusForbidden, heading: "You are in no class",
			text:  "Lessons here are for members of a class. Your progress is kept. With a join code from an instructor you can join one.",
			links: []assets.Link{{URL: "/join", Title: "Join a class"}, {URL: "/me", Title: "Your account"}},
		}
	case err != nil:
		return store.Class{}, err
	}
	if err := class.Began(time.Now()); err != nil {
		r := refusal{code: http.StatusForbidden, links: []assets.Link{{URL: "/me", Title: "Your account"}}}
		if errors.Is(err, store.ErrNotBegun) {
			r.heading = "Your class begins later"
			r.text = fmt.Sprintf("%s begins on %s. Come back then: this browser stays signed in.", class.Name, moment(class.Starts))
		} else {
			r.heading = "Your class is over"
			r.text = fmt.Sprintf("%s ended on %s. Your progress and your cluster are kept; your instructor can extend the class.", class.Name, moment(class.Ends))
		}
		return store.Class{}, r
	}
	return class, nil
}

// moment writes a time for people, in the server's time zone.
func moment(t time.Time) string { return t.Local().Format("Monday, 2 January 2006, 15:04 MST") }

// teaches lets instructors and admins pass. It comes after signedIn.
func teaches(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !learnerOf(c).Role.CanTeach() {
			return errNotInstructor
		}
		return next(c)
	}
}

// administers lets admins pass. It comes after signedIn.
func administers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if learnerOf(c).Role != store.RoleAdmin {
			return refusal{code: http.StatusForbidden, text: "This is for admins."}
		}
		return next(c)
	}
}
