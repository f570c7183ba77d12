package server

import (
	"bytes"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
)

// home shows all tracks, how far the learner is in them, and where to go on.
func (s *Server) home(c echo.Context) error {
	if err := s.prolong(c); err != nil {
		s.log.Warn("prolong a session", "error", err) // the page is worth more than the cookie
	}
	progress, err := s.progressOf(c.Request().Context(), learnerOf(c).ID)
	if err != nil {
		return err
	}
	library := s.library.current()
	home := assets.Home{Page: s.page(c, "Home"), Continue: progress.next(library)}
	for _, track := range library.curriculum.Tracks {
		item := assets.Track{ID: track.ID, Title: track.Title, Summary: track.Summary, Outcome: track.Outcome}
		for _, lesson := range track.Lessons {
			item.Lessons = append(item.Lessons, progress.lesson(library, lesson))
		}
		home.Tracks = append(home.Tracks, item)
	}
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.Home(w, home) })
}
