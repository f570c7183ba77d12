package server

import (
	"bytes"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/content"
)

// glossary shows all terms.
func (s *Server) glossary(c echo.Context) error {
	library := s.library.current()
	page := assets.Glossary{Page: s.page(c, "Glossary"), Terms: terms(library, library.curriculum.Glossary)}
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.Glossary(w, page) })
}

// terms returns terms as pages show them.
func terms(library *library, list []*content.Term) []assets.Term {
	var shown []assets.Term
	for _, t := range list {
		term := assets.Term{ID: t.ID, Name: t.Name, Also: t.Also, Text: t.Text}
		if lesson := library.first[t]; lesson != nil {
			term.In = &assets.Link{URL: lessonURL(lesson.ID), Title: lesson.Title}
		}
		shown = append(shown, term)
	}
	return shown
}
