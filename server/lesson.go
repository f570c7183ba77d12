package server

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
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
	if err := s.store.VisitLesson(ctx, learner, lesson.ID); err != nil {
		s.log.Warn("remember a visit", "lesson", lesson.ID, "error", err) // reading must work on a full disk
	}
	progress, err := s.progressOf(ctx, learner)
	if err != nil {
		return err
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
	hub.Start()

	var body strings.Builder
	slots := content.Slots{Exercise: s.cards(library, progress), Diagram: s.renderer.Diagram}
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
	}
	for _, objective := range lesson.Objectives {
		page.Objectives = append(page.Objectives, content.RenderInline(objective))
	}
	for _, id := range lesson.Needs {
		if before := library.curriculum.Lesson(id); before != nil {
			page.Needs = append(page.Needs, assets.Link{URL: lessonURL(id), Title: before.Title})
		}
	}
	for _, h := range lesson.Headings {
		if h.Level <= 3 {
			page.Headings = append(page.Headings, assets.Heading{ID: h.ID, Text: h.Text, Level: h.Level})
		}
	}
	if track := library.curriculum.Track(lesson.Track); track != nil {
		place(&page, library, progress, track, lesson)
	}
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.Lesson(w, page) })
}

// place sets where in its track a lesson stands.
func place(page *assets.Lesson, library *library, progress progress, track *content.Track, lesson *content.Lesson) {
	page.Track = assets.Link{URL: "/#" + track.ID, Title: track.Title}
	page.Count = len(track.Lessons)
	for i, sibling := range track.Lessons {
		item := progress.lesson(library, sibling)
		item.Current = sibling == lesson
		page.Siblings = append(page.Siblings, item)
		if sibling != lesson {
			continue
		}
		page.Number = i + 1
		if i > 0 {
			page.Prev = linkTo(track.Lessons[i-1])
		}
		if i+1 < len(track.Lessons) {
			page.Next = linkTo(track.Lessons[i+1])
		}
	}
}

func linkTo(lesson *content.Lesson) *assets.Link {
	return &assets.Link{URL: lessonURL(lesson.ID), Title: lesson.Title}
}
