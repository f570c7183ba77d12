package server

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/content"
)

// lesson shows a lesson: its text with the exercises' cards, and the workbench beside it.
func (s *Server) lesson(c echo.Context) error {
	library := s.library.current()
	lesson := library.curriculum.Lesson(c.Param("track") + "/" + c.Param("slug"))
	if lesson == nil {
		return echo.ErrNotFound
	}
	ctx, learner := c.Request().Context(), learnerOf(c).ID
	class := classOf(c)
	progress, err := s.progressOf(ctx, learner, class)
	if err != nil {
		return err
	}
	if progress.isClosed(lesson) {
		return errClosed(lesson)
	}
	if err := s.store.VisitLesson(ctx, learner, lesson.ID); err != nil {
		s.log.Warn("remember a visit", "lesson", lesson.ID, "error", err) // reading must work on a full disk
	}
	for _, id := range lesson.ExerciseIDs {
		if progress.exercises[id], err = s.store.Exercise(ctx, learner, id); err != nil {
			return err
		}
	}
	hub, err := s.hub(learnerOf(c))
	if err != nil {
		return err
	}
	hub.Visit(lesson.ID)
	hub.Start()

	var body strings.Builder
	active := s.clusters.Status(learner).Backend
	slots := content.Slots{Exercise: s.cards(library, progress, active), Diagram: s.renderer.Diagram}
	if err := lesson.Render(&body, slots); err != nil {
		return fmt.Errorf("render lesson %s: %w", lesson.ID, err)
	}
	page := assets.Lesson{
		Page:       s.page(c, lesson.Title),
		ID:         lesson.ID,
		Name:       lesson.Title,
		Summary:    lesson.Summary,
		Minutes:    lesson.Duration,
		Difficulty: string(lesson.Difficulty),
		Body:       template.HTML(body.String()),
		Exercises:  progress.items(library, lesson),
		RealNodes:  library.realNodes(lesson),
	}
	if lesson.Backend != "any" {
		page.Wants = wanted(lesson.Backend, active)
	}
	for _, objective := range lesson.Objectives {
		page.Objectives = append(page.Objectives, content.RenderInline(objective))
	}
	for _, id := range lesson.Needs {
		if before := library.curriculum.Lesson(id); before != nil {
			page.Needs = append(page.Needs, assets.Link{URL: lessonURL(id), Title: before.Title})
		}
	}
	page.Headings = headings(lesson.Headings)
	page.Terms = terms(library, lesson.Terms)
	if track := library.curriculum.Track(lesson.Track); track != nil {
		if shown := library.only(class.Tracks); shown.curriculum.Track(track.ID) != nil {
			library = shown
		}
		place(&page, library, progress, track, lesson)
	}
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.Lesson(w, page) })
}

// errClosed says that the learner's class is not as far as a lesson.
func errClosed(lesson *content.Lesson) error {
	return refusal{
		code: http.StatusForbidden, heading: lesson.Title + " is closed for now",
		text:  "Your instructor opens lessons as the class goes on. What you did in this one is kept. Load this page again when it is open.",
		links: []assets.Link{{URL: trackURL(lesson.Track), Title: "The track"}},
	}
}

// headings are those that a page lists.
func headings(all []content.Heading) []assets.Heading {
	var listed []assets.Heading
	for _, h := range all {
		if h.Level <= 3 {
			listed = append(listed, assets.Heading{ID: h.ID, Text: h.Text, Level: h.Level})
		}
	}
	return listed
}

// place sets where in its track and among all lessons a lesson stands.
func place(page *assets.Lesson, library *library, progress progress, track *content.Track, lesson *content.Lesson) {
	page.Track = assets.Link{URL: trackURL(track.ID), Title: track.Title}
	page.Count = len(track.Lessons)
	for i, sibling := range track.Lessons {
		item := progress.lesson(library, sibling)
		item.Current = sibling == lesson
		page.Siblings = append(page.Siblings, item)
		if sibling == lesson {
			page.Number = i + 1
		}
	}
	all := library.lessons()
	at := slices.Index(all, lesson)
	if at > 0 {
		page.Prev = neighbour(library, all[at-1], lesson)
	}
	if at+1 < len(all) {
		page.Next = neighbour(library, all[at+1], lesson)
	}
}

// neighbour links to a lesson from the one beside it.
func neighbour(library *library, to, from *content.Lesson) *assets.Neighbour {
	n := &assets.Neighbour{Link: assets.Link{URL: lessonURL(to.ID), Title: to.Title}}
	if to.Track != from.Track {
		n.Track = library.curriculum.Track(to.Track).Title
	}
	return n
}
