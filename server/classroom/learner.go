package classroom

import (
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/server/store"
)

// A learner is what a room knows of one.
type learner struct {
	id, name    string
	hand        time.Time // up since
	active      time.Time
	pages, busy int
	lesson      string // opened last
	cluster     cluster.State
	attempts    map[string]*attempt // by exercise
	progressed  time.Time           // when a check of any exercise passed last
}

// An attempt is a learner's work on one exercise since it was opened, or reset.
type attempt struct {
	opened time.Time
	passed time.Time        // all of it
	marks  map[string]*mark // by check
	live   bool             // a hub has told of it, which knows more than the store
}

// A mark is where an attempt stands with one check.
type mark struct {
	state protocol.CellState
	since time.Time // passing: since then. Else when it turned red again; zero: it has not passed before
	why   string
	first string    // the why that there was when the exercise was opened
	tried time.Time // when the learner first did something about it: the why changed, or they answered
}

func newLearner(id string) *learner {
	return &learner{id: id, cluster: cluster.Absent, attempts: make(map[string]*attempt)}
}

func (l *learner) attempt(exercise string) *attempt {
	a := l.attempts[exercise]
	if a == nil {
		a = &attempt{marks: make(map[string]*mark)}
		l.attempts[exercise] = a
	}
	return a
}

// follow takes a report.
func (l *learner) follow(r hub.Report, now time.Time) {
	l.pages, l.busy, l.cluster = r.Pages, r.Busy, r.Cluster
	if !r.Active.IsZero() {
		l.active = r.Active
	}
	if r.Lesson != "" {
		l.lesson = r.Lesson
	}
	switch {
	case r.Exercise == nil:
	case r.Reset:
		l.attempts[r.Exercise.ID] = &attempt{opened: now, marks: make(map[string]*mark), live: true}
	default:
		l.attempt(r.Exercise.ID).follow(*r.Exercise, now)
		l.progress(r.Exercise.ID)
	}
}

// progress remembers when the learner got on last.
func (l *learner) progress(exercise string) {
	for _, m := range l.attempts[exercise].marks {
		if m.state == protocol.CellPassing {
			l.progressed = later(l.progressed, m.since)
		}
	}
}

// recall takes what the store has of an attempt, unless a hub has told of it.
func (a *attempt) recall(e store.Exercise, reset time.Time) {
	if a.opened.IsZero() || !a.live {
		a.opened = later(e.OpenedAt, reset)
	}
	if a.live {
		return
	}
	a.passed, a.marks = e.PassedAt, make(map[string]*mark)
	for _, c := range e.Checks {
		if !c.PassedAt.IsZero() {
			a.marks[c.ID] = &mark{state: protocol.CellPassing, since: c.PassedAt}
		}
	}
}

// follow takes the state of the exercise. As long as nobody judges it, because it is prepared or its cluster rests, what
// was known stays.
func (a *attempt) follow(e checker.ExerciseState, now time.Time) {
	a.live = true
	if a.opened.IsZero() {
		a.opened = now
	}
	a.passed = time.Time{}
	if e.PassedAt != nil {
		a.passed = *e.PassedAt
	}
	for _, c := range e.Checks {
		m := a.marks[c.ID]
		if m == nil {
			m = &mark{state: protocol.CellWaiting}
			a.marks[c.ID] = m
		}
		if e.Phase == checker.Open || c.State == checker.Passing {
			m.follow(c, now)
		}
	}
}

func (m *mark) follow(c checker.CheckStatus, now time.Time) {
	before := m.state
	m.state, m.why = protocol.CellState(c.State), c.Why
	switch c.State {
	case checker.Passing:
		m.why = ""
		if before != protocol.CellPassing {
			m.since = c.Since
			if m.since.IsZero() || m.since.After(now) {
				m.since = now
			}
		}
	default:
		if before == protocol.CellPassing {
			m.since = now
		}
		if m.first == "" {
			m.first = c.Why
		}
		if m.tried.IsZero() && (c.Why != m.first || c.Answered != "") {
			m.tried = now
		}
	}
}

// cells is where the learner stands with the checks of a lesson. Stuck is who does not pass what they are at: the first
// exercise that is not passed, and everything that they have tried. It counts since the exercise was opened or the learner
// last got on, in whatever exercise.
func (l *learner) cells(lesson Lesson) []protocol.ClassCell {
	cells := make([]protocol.ClassCell, 0, 24)
	front := true
	for _, e := range lesson.Exercises {
		a := l.attempts[e.ID]
		all := true
		for _, c := range e.Checks {
			cell := l.cell(a, c.ID, front)
			all = all && cell.State == protocol.CellPassing
			cells = append(cells, cell)
		}
		front = front && all
	}
	return cells
}

func (l *learner) cell(a *attempt, check string, front bool) protocol.ClassCell {
	if a == nil {
		return protocol.ClassCell{State: protocol.CellClosed}
	}
	m := a.marks[check]
	if m == nil { // it is as the store knows it
		if !a.passed.IsZero() {
			return protocol.ClassCell{State: protocol.CellPassing, Since: second(a.passed)}
		}
		return protocol.ClassCell{State: protocol.CellWaiting}
	}
	cell := protocol.ClassCell{State: m.state, Why: m.why}
	switch m.state {
	case protocol.CellPassing:
		cell.Since = second(m.since)
	case protocol.CellFailing, protocol.CellBroken:
		if front || !m.tried.IsZero() || !m.since.IsZero() {
			cell.Since = second(later(m.since, later(a.opened, l.progressed)))
		}
	}
	return cell
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
