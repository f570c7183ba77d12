package server

import (
	"bytes"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/content"
)

// track shows a track: what it is good for, what it takes, and its lessons with their exercises.
func (s *Server) track(c echo.Context) error {
	library := s.library.current()
	track := library.curriculum.Track(c.Param("track"))
	if track == nil {
		return echo.ErrNotFound
	}
	class := classOf(c)
	progress, err := s.progressOf(c.Request().Context(), learnerOf(c).ID, class)
	if err != nil {
		return err
	}
	here := progress.nextIn(library, track)
	page := assets.TrackPage{
		Page:       s.page(c, track.Title),
		Track:      progress.track(library, track, here),
		Continue:   here,
		References: references(track),
	}
	passed := false
	for _, t := range library.only(class.Tracks).curriculum.Tracks {
		if len(t.Lessons) == 0 {
			continue
		}
		page.Count++
		switch {
		case t == track:
			page.Number, passed = page.Count, true
		case passed && page.Next == nil:
			page.Next = &assets.Link{URL: trackURL(t.ID), Title: t.Title}
		}
	}
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.Track(w, page) })
}

// references returns a track's reference pages.
func references(track *content.Track) []assets.Summary {
	var pages []assets.Summary
	for _, r := range track.References {
		pages = append(pages, assets.Summary{Link: assets.Link{URL: referenceURL(r.ID), Title: r.Title}, Summary: r.Summary})
	}
	return pages
}

func trackURL(id string) string { return "/tracks/" + id }
