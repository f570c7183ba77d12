package class

import (
	"slices"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/gateway"
)

// A record is what the page was told of a request of the learner's: when it was answered, or had an event of its watch
// delivered, by the clock of the server, which is the learner's as well.
type record struct {
	line     string // "GET /api/v1/…"
	write    bool
	resource string
	name     string
	at       time.Time
}

func newRecord(r gateway.Record) record {
	return record{
		line:     r.Method + " " + r.Path,
		write:    slices.Contains([]string{"create", "update", "patch", "delete"}, r.Verb),
		resource: r.Resource,
		name:     r.Name,
		at:       r.Time.Add(r.Duration),
	}
}

// turn takes an exercise's new state, and notes which checks have become green; the state is locked.
func (l *learner) turn(state checker.ExerciseState, at time.Time) {
	for _, c := range state.Checks {
		key := state.ID + " " + c.ID
		switch _, known := l.green[key]; {
		case c.State != checker.Passing:
			delete(l.green, key)
		case !known && c.By != nil:
			l.green[key] = green{at: at, by: *c.By}
		}
	}
	l.exercises[state.ID] = state
}

// early is by how much a page may hear of a check before the request that made it green is answered in full.
const early = 20 * time.Millisecond

// reckon notes how long each check of an exercise took to be green in the page; the state is locked.
func (l *learner) reckon(s *script, answered map[string]time.Time) {
	tally := &l.room.tally
	for i := range s.def.Checks {
		c := &s.def.Checks[i]
		turned, ok := l.green[s.exercise+" "+c.ID]
		if !ok {
			continue // while no page was there
		}
		samples, fits := &tally.green, func(r record) bool { return false }
		switch {
		case c.Answer != nil || c.Choice != nil:
			samples = &tally.answered
		case c.Request != nil:
			fits = func(r record) bool { return r.line == turned.by.Request }
		case slices.Contains(s.written, c.ID):
			fits = func(r record) bool { return r.write && r.name == turned.by.Name }
		case c.Probe != nil:
			samples, fits = &tally.probed, func(r record) bool { return r.write }
		}
		done := answered[c.ID]
		for _, r := range l.records {
			if fits(r) && r.at.After(done) && !r.at.After(turned.at.Add(early)) {
				done = r.at
			}
		}
		if !done.IsZero() {
			tally.milliseconds(samples, max(0, turned.at.Sub(done)))
		}
	}
	l.records = nil
}
