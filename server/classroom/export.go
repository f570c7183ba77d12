package classroom

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apilab/apilab/server/protocol"
)

// An Export is a class's progress at one time: what its learners have opened.
type Export struct {
	Class    string          `json:"class"`
	At       time.Time       `json:"at"`
	Learners []ExportLearner `json:"learners"` // in the order in which they joined
}

// An ExportLearner is the progress of one.
type ExportLearner struct {
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Exercises []ExportExercise `json:"exercises"` // in the order of the lessons
}

// An ExportExercise is one that a learner has opened.
type ExportExercise struct {
	Track    string        `json:"track"` // title
	Lesson   string        `json:"lesson"`
	Exercise string        `json:"exercise"`
	Title    string        `json:"title"`
	OpenedAt time.Time     `json:"openedAt"`
	PassedAt time.Time     `json:"passedAt,omitzero"` // all of its checks
	Checks   []ExportCheck `json:"checks"`
}

// An ExportCheck is how a learner stands with one check.
type ExportCheck struct {
	Check    string             `json:"check"`
	Says     string             `json:"says"`
	State    protocol.CellState `json:"state"`
	PassedAt time.Time          `json:"passedAt,omitzero"`
	Why      string             `json:"why,omitempty"`
}

// Export returns the class's progress in the lessons that it has.
func (r *Room) Export() Export {
	r.mu.Lock()
	defer r.mu.Unlock()
	export := Export{Class: r.info.Name, At: second(time.Now()), Learners: make([]ExportLearner, 0, len(r.order))}
	for _, id := range r.order {
		l := r.learners[id]
		one := ExportLearner{ID: id, Name: l.name, Exercises: []ExportExercise{}}
		for _, lesson := range r.lessons {
			cells := l.cells(lesson)
			for _, e := range lesson.Exercises {
				its := cells[:len(e.Checks)]
				cells = cells[len(e.Checks):]
				if a := l.attempts[e.ID]; a != nil {
					one.Exercises = append(one.Exercises, exported(lesson, e, a, its))
				}
			}
		}
		export.Learners = append(export.Learners, one)
	}
	return export
}

func exported(lesson Lesson, e Exercise, a *attempt, cells []protocol.ClassCell) ExportExercise {
	one := ExportExercise{Track: lesson.Track, Lesson: lesson.ID, Exercise: e.ID, Title: e.Title, OpenedAt: second(a.opened), PassedAt: second(a.passed)}
	for i, c := range e.Checks {
		check := ExportCheck{Check: c.ID, Says: c.Says, State: cells[i].State, Why: cells[i].Why}
		if check.State == protocol.CellPassing {
			check.PassedAt = cells[i].Since
		}
		one.Checks = append(one.Checks, check)
	}
	return one
}

// csvColumns are the first line of the CSV file.
var csvColumns = []string{"learner", "name", "track", "lesson", "exercise", "check", "says", "state", "opened", "passed", "minutes", "why"}

// WriteCSV writes a line for each check of what was opened, and one for each learner who has opened nothing.
func (e Export) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	line := func(fields ...string) {
		for i := range fields {
			fields[i] = harmless(fields[i])
		}
		_ = out.Write(fields) // the writer keeps the error
	}
	line(slices.Clone(csvColumns)...)
	for _, l := range e.Learners {
		if len(l.Exercises) == 0 {
			line(l.ID, l.Name, "", "", "", "", "", "", "", "", "", "")
		}
		for _, x := range l.Exercises {
			for _, c := range x.Checks {
				line(l.ID, l.Name, x.Track, x.Lesson, x.Exercise, c.Check, c.Says, string(c.State),
					moment(x.OpenedAt), moment(c.PassedAt), minutes(x.OpenedAt, c.PassedAt), c.Why)
			}
		}
	}
	out.Flush()
	return out.Error()
}

// harmless is a text that no spreadsheet takes for a formula: what begins like one gets an apostrophe before it, also
// behind white space, which some trim (OWASP, CSV injection).
func harmless(text string) string {
	trimmed := strings.TrimLeft(text, " \t\r\n\u00a0\ufeff")
	if trimmed != "" && strings.ContainsRune("=+-@＝＋－＠|%", []rune(trimmed)[0]) || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "\r") {
		return "'" + text
	}
	return text
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// minutes is how long something took, with one digit behind the point.
func minutes(from, to time.Time) string {
	if from.IsZero() || to.IsZero() || to.Before(from) {
		return ""
	}
	return strconv.FormatFloat(to.Sub(from).Minutes(), 'f', 1, 64)
}
