package server

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/content"
)

// reference shows a page to look things up in, beside the workbench, since most of what is looked up there is then typed.
func (s *Server) reference(c echo.Context) error {
	library := s.library.current()
	reference := library.curriculum.Reference(c.Param("track") + "/" + c.Param("slug"))
	if reference == nil {
		return echo.ErrNotFound
	}
	hub, err := s.hub(learnerOf(c))
	if err != nil {
		return err
	}
	hub.Start()

	var body strings.Builder
	if err := reference.Render(&body, content.Slots{Diagram: s.renderer.Diagram}); err != nil {
		return err
	}
	page := assets.Reference{
		Page:     s.page(c, reference.Title),
		ID:       reference.ID,
		Name:     reference.Title,
		Summary:  reference.Summary,
		Headings: headings(reference.Headings),
		Body:     template.HTML(body.String()),
		Terms:    terms(library, reference.Terms),
	}
	if track := library.curriculum.Track(reference.Track); track != nil {
		page.Track = assets.Link{URL: trackURL(track.ID), Title: track.Title}
	}
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.Reference(w, page) })
}

func referenceURL(id string) string { return "/reference/" + id }
