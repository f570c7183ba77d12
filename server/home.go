package server

import (
	"bytes"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
)

// home shows all tracks as cards, how far the learner is in them, and where to go on.
func (s *Server) home(c echo.Context) error {
	if err := s.prolong(c); err != nil {
		s.log.Warn("prolong a session", "error", err) // the page is worth more than the cookie
	}
	class := classOf(c)
	progress, err := s.progressOf(c.Request().Context(), learnerOf(c).ID, class)
	if err != nil {
		return err
	}
	library := s.library.current().only(class.Tracks)
	home := assets.Home{Page: s.page(c, "Home"), Class: class.Name, Continue: progress.next(library), Terms: len(library.curriculum.Glossary)}
	home.Closed = len(progress.closed) > 0
	home.Finished = home.Continue == nil && progress.last(library) != nil
	for _, track := range library.curriculum.Tracks {
		home.Tracks = append(home.Tracks, progress.track(library, track, home.Continue))
		home.References = append(home.References, references(track)...)
	}
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.Home(w, home) })
}
