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

// lintCurriculum checks what lessons say of each other.
func lintCurriculum(c *Curriculum) []Problem {
	var problems []Problem
	for _, t := range c.Tracks {
		for _, l := range t.Lessons {
			for _, id := range l.Needs {
				switch {
				case id == l.ID:
					problems = append(problems, Problem{l.Source, 1, "needs itself"})
				case c.Lesson(id) == nil:
					problems = append(problems, Problem{l.Source, 1, "needs an unknown lesson " + id})
				}
			}
			problems = append(problems, c.deadLinks(l)...)
		}
	}
	return problems
}

func (c *Curriculum) deadLinks(from *Lesson) []Problem {
	var problems []Problem
	for _, t := range from.body.targets {
		to := from
		if t.lesson != "" {
			if to = c.Lesson(t.lesson); to == nil {
				problems = append(problems, Problem{from.Source, t.line, "links to an unknown lesson " + t.lesson})
				continue
			}
		}
		known := slices.ContainsFunc(to.Headings, func(h Heading) bool { return h.ID == t.anchor })
		if t.anchor != "" && !known {
			problems = append(problems, Problem{from.Source, t.line, "links to a heading that " + to.ID + " does not have: #" + t.anchor})
		}
	}
	return problems
}
