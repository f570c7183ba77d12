package server

import (
	"bytes"
	"context"
	"net/http"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/classroom"
	"github.com/apilab/apilab/server/store"
)

// A classPage is an instructor's page of a class, as far as its requests need it.
type classPage struct {
	s      *Server
	room   *classroom.Room
	id     string // of the class
	person store.Learner
}

// classroomPage shows a class to its instructor; its own code draws what is live.
func (s *Server) classroomPage(c echo.Context) error {
	class, err := s.ownClass(c.Request().Context(), learnerOf(c).ID, c.Param("class"))
	if err != nil {
		return err
	}
	handouts := []assets.Handout{}
	library := s.library.current()
	for _, lesson := range s.lessons(class.Tracks) {
		for _, e := range lesson.Exercises {
			if def := library.exercise(e.ID); def.Setup != "" {
				handouts = append(handouts, assets.Handout{ID: e.ID, Title: lesson.Title + ": " + e.Title})
			}
		}
	}
	page := assets.Classroom{Page: s.page(c, class.Name), ID: class.ID, Name: class.Name, Handouts: handouts}
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.Classroom(w, page) })
}

// watchClass returns the page of an instructor who looks at a class.
func (s *Server) watchClass(c echo.Context, class string) (func(*websocket.Conn) *page, error) {
	person := learnerOf(c)
	allowed := func(ctx context.Context) error {
		_, err := s.ownClass(ctx, person.ID, class)
		return err
	}
	if err := allowed(c.Request().Context()); err != nil {
		return nil, err
	}
	room, err := s.rooms.Room(c.Request().Context(), class)
	if err != nil {
		return nil, err
	}
	return func(conn *websocket.Conn) *page {
		p := newPage(conn, nil, s.log)
		p.requests, p.allowed = classRequests, s.stillSignedIn(c, allowed)
		p.class = &classPage{s: s, room: room, id: class, person: person}
		p.join = func() (leave func()) {
			room.Join(p)
			stop := s.clusters.FollowWarmUp(func(w cluster.WarmUp) { p.sendWarmUp(w) })
			return func() {
				stop()
				room.Leave(p)
			}
		}
		return p
	}, nil
}

// lessons are those of tracks, all there are for none, as rooms know them.
func (s *Server) lessons(tracks []string) []classroom.Lesson {
	library := s.library.current()
	wanted := make(map[string]bool)
	for _, id := range tracks {
		wanted[id] = true
	}
	var all []classroom.Lesson
	for _, track := range library.curriculum.Tracks {
		if len(tracks) > 0 && !wanted[track.ID] {
			continue
		}
		for _, lesson := range track.Lessons {
			l := classroom.Lesson{ID: lesson.ID, Title: lesson.Title, Track: track.Title}
			for _, id := range lesson.ExerciseIDs {
				def := library.exercise(id)
				if def == nil {
					continue
				}
				e := classroom.Exercise{ID: id, Title: def.Title}
				for _, check := range def.Checks {
					e.Checks = append(e.Checks, classroom.Check{ID: check.ID, Says: check.Says})
				}
				l.Exercises = append(l.Exercises, e)
			}
			all = append(all, l)
		}
	}
	return all
}
