package server

import (
	"bytes"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/server/store"
)

// classes lists an instructor's classes, or all to an admin.
func (s *Server) classes(c echo.Context) error {
	who := learnerOf(c)
	of := who.ID
	if who.Role == store.RoleAdmin {
		of = ""
	}
	ctx := c.Request().Context()
	classes, err := s.store.Classes(ctx, of)
	if err != nil {
		return err
	}
	page := assets.Classes{Page: s.plainPage(c, "Classes")}
	for _, class := range classes {
		item := assets.ClassItem{Class: shownClass(class)}
		if class.Instructor != who.ID {
			instructor, err := s.store.Learner(ctx, class.Instructor)
			if err != nil {
				return err
			}
			item.Instructor = instructor.Name
		}
		page.Classes = append(page.Classes, item)
	}
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.Classes(w, page) })
}

// newClass shows the form of a class that is not there yet.
func (s *Server) newClass(c echo.Context) error {
	return s.showSettings(c, http.StatusOK, store.Class{Capacity: defaultCapacity}, "")
}

// addClass makes a class of what was typed.
func (s *Server) addClass(c echo.Context) error {
	class := store.Class{Instructor: learnerOf(c).ID}
	if problem := s.readSettings(c, &class); problem != "" {
		return s.showSettings(c, http.StatusBadRequest, class, problem)
	}
	class, err := s.store.AddClass(c.Request().Context(), class)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/classes/"+class.ID+"/join")
}

// classInvitation is the page for the wall: how to join.
func (s *Server) classInvitation(c echo.Context) error {
	class, err := s.ownClass(c.Request().Context(), learnerOf(c).ID, c.Param("class"))
	if err != nil {
		return err
	}
	code, err := qrCode(s.o.Public.link("/join/" + string(class.JoinCode)))
	if err != nil {
		return err
	}
	page := assets.Invitation{Page: s.plainPage(c, "Join "+class.Name), Class: shownClass(class), Address: s.o.Public.link("/join"), QR: code}
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.Invitation(w, page) })
}

// shownClass is a class as pages show it.
func shownClass(class store.Class) assets.Class {
	shown := assets.Class{
		ID: class.ID, Name: class.Name, JoinCode: class.JoinCode.String(), Capacity: class.Capacity, Members: class.Members,
		Starts: class.Starts, Ends: class.Ends, Closed: class.Closed,
	}
	switch class.CanJoin(time.Now()) {
	case store.ErrClassFull:
		shown.State = "full"
	case store.ErrClassClosed:
		shown.State = "closed"
	case store.ErrNotBegun:
		shown.State = "not begun"
	case store.ErrOver:
		shown.State = "over"
	default:
		shown.State = "open"
	}
	return shown
}
