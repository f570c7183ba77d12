package server

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/content"
	"github.com/apilab/apilab/exercises"
)

// cards returns what fills a lesson's exercise slots for a learner whose cluster is of the backend active.
func (s *Server) cards(library *library, progress progress, active string) func(id string) (template.HTML, error) {
	return func(id string) (template.HTML, error) {
		exercise := library.exercise(id)
		if exercise == nil {
			// The lesson is worth more than its one broken card; lint names the mistake to the author.
			return template.HTML(fmt.Sprintf("<p>The exercise <code>%s</code> is not there.</p>", template.HTMLEscapeString(id))), nil
		}
		return s.renderer.Exercise(card(library, progress, exercise, active))
	}
}

func card(library *library, progress progress, exercise *exercises.Exercise, active string) assets.ExerciseCard {
	done := progress.passed(exercise.ID)
	card := assets.ExerciseCard{ID: exercise.ID, Title: exercise.Title, Task: content.RenderMarkdown(exercise.Task), Done: done, Wants: wanted(exercise.Cluster.Wants(), active)}
	for _, id := range exercise.Needs {
		before := library.exercise(id)
		lesson := library.curriculum.LessonOf(id)
		if before == nil || lesson == nil || progress.passed(id) {
			continue
		}
		card.Needs = append(card.Needs, assets.Link{URL: lessonURL(lesson.ID) + "#" + exerciseAnchor(id), Title: before.Title})
	}
	for _, c := range exercise.Controllers {
		card.Simulated = append(card.Simulated, content.RenderInline(c.Says))
	}
	passed := make(map[string]bool)
	for _, c := range progress.exercises[exercise.ID].Checks {
		passed[c.ID] = !c.PassedAt.IsZero()
	}
	for _, c := range exercise.Checks {
		card.Checks = append(card.Checks, check(c, done || passed[c.ID]))
	}
	return card
}

// wanted says of a backend, "" for any, whether it is the one that the learner's cluster is of.
func wanted(backend, active string) *assets.Wanted {
	if backend == "" {
		return nil
	}
	return &assets.Wanted{Backend: backend, Here: backend == active}
}

func check(c exercises.Check, passed bool) assets.Check {
	line := assets.Check{ID: c.ID, Says: c.Says, Kind: c.Kind(), Mode: string(c.Mode), Passed: passed}
	switch {
	case c.Answer != nil:
		line.Prompt = content.RenderInline(c.Answer.Prompt)
		line.Placeholder = strings.ReplaceAll(c.Answer.Placeholder, "`", "") // it cannot show code
	case c.Choice != nil:
		line.Prompt = content.RenderInline(c.Choice.Prompt)
		for _, o := range c.Choice.Options {
			line.Options = append(line.Options, assets.Option{ID: o.ID, Text: content.RenderInline(o.Text)})
		}
	}
	return line
}
