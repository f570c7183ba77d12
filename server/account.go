package server

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/server/store"
)

// account shows a person who they are here, and how they leave and come back.
func (s *Server) account(c echo.Context) error { return s.showAccount(c, "") }

// newOwnCode makes another personal code for who asks, and shows it.
func (s *Server) newOwnCode(c echo.Context) error {
	code, err := s.store.NewPersonalCode(c.Request().Context(), learnerOf(c).ID)
	if err != nil {
		return err
	}
	return s.showAccount(c, code.String())
}

func (s *Server) showAccount(c echo.Context, code string) error {
	who := learnerOf(c)
	page := assets.AccountPage{Page: s.plainPage(c, "Your account"), Name: who.Name, Role: string(who.Role), Code: code}
	class, err := s.store.ClassOf(c.Request().Context(), who.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	page.Class = class.Name
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.Account(w, page) })
}
