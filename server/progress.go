package server

import (
	"context"
	"slices"
	"strings"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/content"
	"github.com/apilab/apilab/server/store"
)

// progress is how far a learner is. It may know lessons and exercises that the library no longer has; these are left
// out wherever the library's are counted.
type progress struct {
	exercises map[string]store.Exercise // with their checks where a card shows them
	visited   []string                  // lessons, the last one first
	closed    []string                  // lessons that the learner's class has not opened
}

// progressOf returns that of a learner in a class, whose zero value is none.
func (s *Server) progressOf(ctx context.Context, learner string, class store.Class) (p progress, err error) {
	if p.exercises, err = s.store.Progress(ctx, learner); err != nil {
		return progress{}, err
	}
	if p.visited, err = s.store.Visited(ctx, learner); err != nil {
		return progress{}, err
	}
	if class.ID != "" {
		p.closed, err = s.store.ClosedLessons(ctx, class.ID)
	}
	return p, err
}

func (p progress) passed(exercise string) bool { return !p.exercises[exercise].PassedAt.IsZero() }

// track returns a track with its lessons, of which the one where the learner goes on is marked.
func (p progress) track(library *library, track *content.Track, here *assets.Continue) assets.Track {
	t := assets.Track{ID: track.ID, URL: trackURL(track.ID), Title: track.Title, Summary: track.Summary, Outcome: track.Outcome}
	for _, lesson := range track.Lessons {
		item := p.lesson(library, lesson)
		item.Current = here != nil && here.ID == lesson.ID
		t.Current = t.Current || item.Current
		t.Lessons = append(t.Lessons, item)
	}
	for _, id := range track.Needs {
		if before := library.curriculum.Track(id); before != nil {
			t.Needs = append(t.Needs, assets.Need{Link: assets.Link{URL: trackURL(id), Title: before.Title}, Done: p.finished(library, before)})
		}
	}
	return t
}

// finished tells whether a track has nothing left to do.
func (p progress) finished(library *library, track *content.Track) bool {
	for _, lesson := range track.Lessons {
		for _, item := range p.items(library, lesson) {
			if !item.Done {
				return false
			}
		}
	}
	return true
}

// lesson returns a lesson's line in a list.
func (p progress) lesson(library *library, lesson *content.Lesson) assets.LessonItem {
	return assets.LessonItem{
		ID:         lesson.ID,
		URL:        lessonURL(lesson.ID),
		Title:      lesson.Title,
		Summary:    lesson.Summary,
		Minutes:    lesson.Duration,
		Difficulty: string(lesson.Difficulty),
		Exercises:  p.items(library, lesson),
		RealNodes:  library.realNodes(lesson),
		Closed:     p.isClosed(lesson),
	}
}

func (p progress) isClosed(lesson *content.Lesson) bool { return slices.Contains(p.closed, lesson.ID) }

// items returns a lesson's exercises, without those that the library does not have.
func (p progress) items(library *library, lesson *content.Lesson) []assets.ExerciseItem {
	var items []assets.ExerciseItem
	for _, id := range lesson.ExerciseIDs {
		if exercise := library.exercise(id); exercise != nil {
			items = append(items, assets.ExerciseItem{
				ID: id, Title: exercise.Title, Done: p.passed(id),
				RealNodes: exercise.Cluster.Wants() == kindBackend && lesson.Backend != kindBackend,
			})
		}
	}
	return items
}

// last returns the lesson visited last that there still is, or nil.
func (p progress) last(library *library) *content.Lesson {
	for _, id := range p.visited {
		if lesson := library.curriculum.Lesson(id); lesson != nil {
			return lesson
		}
	}
	return nil
}

// next says where the learner goes on: in the lesson visited last while it has something left to do, else in the next
// one, in the curriculum's order, that has or was never opened. It is nil for who has not begun, or has finished.
func (p progress) next(library *library) *assets.Continue {
	last := p.last(library)
	if last == nil {
		return nil
	}
	return p.from(library, library.lessons(), last)
}

// nextIn says where the learner goes on in a track, be it at its beginning. It is nil for who has finished the track.
func (p progress) nextIn(library *library, track *content.Track) *assets.Continue {
	for _, id := range p.visited {
		if lesson := library.curriculum.Lesson(id); lesson != nil && lesson.Track == track.ID {
			return p.from(library, track.Lessons, lesson)
		}
	}
	if len(track.Lessons) == 0 {
		return nil
	}
	here := p.from(library, track.Lessons, track.Lessons[0])
	if here != nil {
		here.Begin = here.ID == track.Lessons[0].ID
	}
	return here
}

// from returns the first of the open lessons with something left, from the given one on and then around to those before it.
func (p progress) from(library *library, lessons []*content.Lesson, lesson *content.Lesson) *assets.Continue {
	at := max(0, slices.Index(lessons, lesson)) // who was in a lesson of another class begins at the beginning
	for i := range lessons {
		lesson := lessons[(at+i)%len(lessons)]
		if p.isClosed(lesson) {
			continue
		}
		if here := p.goOn(library, lesson); here.Done < here.Total || !slices.Contains(p.visited, lesson.ID) {
			return here
		}
	}
	return nil
}

func (p progress) goOn(library *library, lesson *content.Lesson) *assets.Continue {
	here := &assets.Continue{URL: lessonURL(lesson.ID), Lesson: lesson.Title, ID: lesson.ID}
	if track := library.curriculum.Track(lesson.Track); track != nil {
		here.Track = track.Title
	}
	for _, item := range p.items(library, lesson) {
		here.Total++
		switch {
		case item.Done:
			here.Done++
		case here.Next == "":
			here.Next = item.Title
			if here.Done > 0 { // who has begun goes to the card, who has not reads first
				here.URL += "#" + exerciseAnchor(item.ID)
			}
		}
	}
	return here
}

func lessonURL(id string) string { return "/lessons/" + id }

// exerciseAnchor is the card's element ID, as the templates of assets write it.
func exerciseAnchor(id string) string { return "exercise-" + strings.ReplaceAll(id, "/", "-") }
