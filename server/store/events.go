package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// An EventKind says what a learner did.
type EventKind string

// The kinds of events.
const (
	Opened      EventKind = "opened"       // an exercise, for the first time
	CheckPassed EventKind = "check-passed" // a check that stays passed
	Answered    EventKind = "answered"     // a check, by typing or picking
	HintTold    EventKind = "hint-told"    // of a check
	Revealed    EventKind = "revealed"     // an exercise's solution
	Passed      EventKind = "passed"       // an exercise
	Reset       EventKind = "reset"        // an exercise
)

// An Event is one step of a learner's progress. Events are never changed and never deleted before their learner.
type Event struct {
	ID       int64 // ascending
	At       time.Time
	Kind     EventKind
	Exercise string
	Check    string // empty for events of the whole exercise
}

// Events returns the learner's events that come after the one with the ID after, oldest first, at most limit.
func (s *Store) Events(ctx context.Context, learner string, after int64, limit int) ([]Event, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, at, kind, exercise_id, check_id FROM events
		 WHERE learner_id = ? AND id > ? ORDER BY id LIMIT ?`, learner, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	type row struct {
		Event
		at sql.NullInt64
	}
	all, err := collect(rows, func(r *row) []any { return []any{&r.ID, &r.at, &r.Kind, &r.Exercise, &r.Check} })
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	events := make([]Event, 0, len(all))
	for _, r := range all {
		r.At = fromMillis(r.at)
		events = append(events, r.Event)
	}
	return events, nil
}

// difference returns the events that lead from one state of an exercise to the next.
func difference(before, after Exercise) []Event {
	var events []Event
	happened := func(kind EventKind, check string) {
		events = append(events, Event{Kind: kind, Exercise: after.ID, Check: check})
	}
	if before.OpenedAt.IsZero() {
		happened(Opened, "")
	}
	known := make(map[string]Check, len(before.Checks))
	for _, c := range before.Checks {
		known[c.ID] = c
	}
	for _, c := range after.Checks {
		old := known[c.ID]
		if c.Answer != old.Answer {
			happened(Answered, c.ID)
		}
		if c.Hints > old.Hints {
			happened(HintTold, c.ID)
		}
		if old.PassedAt.IsZero() && !c.PassedAt.IsZero() {
			happened(CheckPassed, c.ID)
		}
	}
	if !before.Solution && after.Solution {
		happened(Revealed, "")
	}
	if before.PassedAt.IsZero() && !after.PassedAt.IsZero() {
		happened(Passed, "")
	}
	return events
}

func writeEvents(ctx context.Context, tx *sql.Tx, learner string, at time.Time, events []Event) error {
	for _, e := range events {
		_, err := tx.ExecContext(ctx, `INSERT INTO events (learner_id, at, kind, exercise_id, check_id) VALUES (?, ?, ?, ?, ?)`,
			learner, millis(at), e.Kind, e.Exercise, e.Check)
		if err != nil {
			return err
		}
	}
	return nil
}
