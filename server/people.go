package server

import (
	"bytes"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/server/store"
)

// linkTime is how long a sign-in link is good that is sent to an instructor.
const linkTime = 3 * 24 * time.Hour

// people shows admins and instructors to an admin.
func (s *Server) people(c echo.Context) error { return s.showPeople(c, http.StatusOK, assets.People{}) }

// addPerson makes an instructor, and shows the link that lets them in.
func (s *Server) addPerson(c echo.Context) error {
	name := cleanName(c.FormValue("name"))
	if name == "" {
		return s.showPeople(c, http.StatusBadRequest, assets.People{Problem: "Type the instructor's name."})
	}
	who, err := s.store.AddPerson(c.Request().Context(), name, store.RoleInstructor)
	if err != nil {
		return err
	}
	return s.showLink(c, who)
}

// newLink shows another sign-in link for a person.
func (s *Server) newLink(c echo.Context) error {
	who, err := s.colleague(c)
	if err != nil {
		return err
	}
	return s.showLink(c, who)
}

func (s *Server) showLink(c echo.Context, who store.Learner) error {
	link, err := s.signInLink(c.Request().Context(), who.ID, linkTime)
	if err != nil {
		return err
	}
	return s.showPeople(c, http.StatusOK, assets.People{Link: link, LinkFor: who.Name})
}

// signOutPerson signs somebody out everywhere.
func (s *Server) signOutPerson(c echo.Context) error {
	who, err := s.colleague(c)
	if err != nil {
		return err
	}
	if err := s.endSessions(c.Request().Context(), who.ID); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/people")
}

// setRole gives somebody another role. Who may do less than before is signed out everywhere.
func (s *Server) setRole(c echo.Context) error {
	who, err := s.colleague(c)
	if err != nil {
		return err
	}
	role := store.Role(c.FormValue("role"))
	if role != store.RoleAdmin && role != store.RoleInstructor && role != store.RoleLearner {
		return refusal{code: http.StatusBadRequest, text: "There is no such role."}
	}
	err = s.store.SetRole(c.Request().Context(), who.ID, role)
	if errors.Is(err, store.ErrLastAdmin) {
		return s.showPeople(c, http.StatusConflict, assets.People{Problem: who.Name + " is the only admin: make somebody else one first."})
	}
	if err != nil {
		return err
	}
	if role != store.RoleAdmin && role != who.Role {
		if err := s.endSessions(c.Request().Context(), who.ID); err != nil {
			return err
		}
	}
	return c.Redirect(http.StatusSeeOther, "/people")
}

// colleague is the admin or instructor that the address names.
func (s *Server) colleague(c echo.Context) (store.Learner, error) {
	who, err := s.store.Learner(c.Request().Context(), c.Param("person"))
	if err == nil && !who.Role.CanTeach() {
		err = store.ErrNotFound
	}
	return who, err
}

func (s *Server) showPeople(c echo.Context, code int, page assets.People) error {
	staff, err := s.store.Staff(c.Request().Context())
	if err != nil {
		return err
	}
	page.Page = s.plainPage(c, "People")
	for _, who := range staff {
		page.Staff = append(page.Staff, assets.Person{
			ID: who.ID, Name: who.Name, Role: string(who.Role), Since: who.CreatedAt, Self: who.ID == learnerOf(c).ID,
		})
	}
	return s.html(c, code, func(w *bytes.Buffer) error { return s.renderer.People(w, page) })
}
