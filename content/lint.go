package content

import (
	"fmt"
	"slices"
)

// Lint checks a curriculum against the exercises that exist: none unknown, none twice, none left out. Load has checked
// the rest.
func (c *Curriculum) Lint(exercises []string) []Problem {
	exist := map[string]bool{}
	for _, id := range exercises {
		exist[id] = true
	}
	var problems []Problem
	shown := map[string]string{} // exercise → where
	for _, t := range c.Tracks {
		for _, l := range t.Lessons {
			for _, e := range l.body.exercises {
				where := fmt.Sprintf("%s:%d", l.Source, e.line)
				if !exist[e.message] {
					problems = append(problems, Problem{l.Source, e.line, "unknown exercise " + e.message})
				} else if first, twice := shown[e.message]; twice {
					problems = append(problems, Problem{l.Source, e.line, "exercise " + e.message + " is already at " + first})
				}
				shown[e.message] = where
			}
		}
	}
	for _, id := range exercises {
		if _, ok := shown[id]; !ok {
			problems = append(problems, Problem{"../exercises/" + id + ".yaml", 0, "no lesson shows this exercise"})
		}
	}
	sortProblems(problems)
	return problems
}

// lintCurriculum checks what tracks and pages say of each other.
func lintCurriculum(c *Curriculum) []Problem {
	var problems []Problem
	pages := c.pages()
	for i, t := range c.Tracks {
		problems = append(problems, c.lintNeeds(i)...)
		for _, l := range t.Lessons {
			for _, id := range l.Needs {
				switch {
				case id == l.ID:
					problems = append(problems, Problem{l.Source, 1, "needs itself"})
				case c.Lesson(id) == nil:
					problems = append(problems, Problem{l.Source, 1, "needs an unknown lesson " + id})
				}
			}
			problems = append(problems, deadLinks(l.Source, l.body, pages)...)
		}
		for _, r := range t.References {
			problems = append(problems, deadLinks(r.Source, r.body, pages)...)
		}
	}
	return problems
}

// lintNeeds checks the needs of the track at place i.
func (c *Curriculum) lintNeeds(i int) []Problem {
	var problems []Problem
	t := c.Tracks[i]
	for _, id := range t.Needs {
		var message string
		switch place := slices.IndexFunc(c.Tracks, func(t *Track) bool { return t.ID == id }); {
		case place < 0:
			message = "needs an unknown track " + id
		case place == i:
			message = "needs itself"
		case place > i:
			message = "needs the track " + id + ", which comes after it; order says which comes first"
		default:
			continue
		}
		problems = append(problems, Problem{t.ID + "/track.yaml", 1, message})
	}
	return problems
}

// pages are all bodies by their URL.
func (c *Curriculum) pages() map[string]*document {
	pages := map[string]*document{}
	for _, t := range c.Tracks {
		for _, l := range t.Lessons {
			pages[lessonURL(l.ID)] = l.body
		}
		for _, r := range t.References {
			pages[referenceURL(r.ID)] = r.body
		}
	}
	return pages
}

func deadLinks(source string, from *document, pages map[string]*document) []Problem {
	var problems []Problem
	for _, t := range from.targets {
		to, name := from, "this page"
		if t.page != "" {
			to, name = pages[t.page], t.name
		}
		switch {
		case to == nil:
			problems = append(problems, Problem{source, t.line, "links to an unknown " + name})
		case t.anchor != "" && !slices.ContainsFunc(to.headings, func(h Heading) bool { return h.ID == t.anchor }):
			problems = append(problems, Problem{source, t.line, "links to a heading that " + name + " does not have: #" + t.anchor})
		}
	}
	return problems
}
