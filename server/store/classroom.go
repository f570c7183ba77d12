package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// LastVisits returns the lesson that each member of a class opened last, by learner ID.
func (s *Store) LastVisits(ctx context.Context, class string) (map[string]string, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT learner_id, lesson_id FROM
		   (SELECT v.learner_id, v.lesson_id, row_number() OVER (PARTITION BY v.learner_id ORDER BY v.last_at DESC, v.lesson_id) AS place
		    FROM lesson_visits v JOIN members m ON m.learner_id = v.learner_id WHERE m.class_id = ?) AS visits
		 WHERE place = 1`, class)
	if err != nil {
		return nil, fmt.Errorf("read the visits of class %s: %w", class, err)
	}
	type row struct{ learner, lesson string }
	all, err := collect(rows, func(r *row) []any { return []any{&r.learner, &r.lesson} })
	if err != nil {
		return nil, fmt.Errorf("read the visits of class %s: %w", class, err)
	}
	visits := make(map[string]string, len(all))
	for _, r := range all {
		visits[r.learner] = r.lesson
	}
	return visits, nil
}

// LastResets returns when members of a class reset an exercise last, by learner ID and exercise.
func (s *Store) LastResets(ctx context.Context, class string) (map[string]map[string]time.Time, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT e.learner_id, e.exercise_id, max(e.at) FROM events e
		 JOIN members m ON m.learner_id = e.learner_id
		 WHERE m.class_id = ? AND e.kind = ? GROUP BY e.learner_id, e.exercise_id`, class, Reset)
	if err != nil {
		return nil, fmt.Errorf("read the resets of class %s: %w", class, err)
	}
	type row struct {
		learner, exercise string
		at                sql.NullInt64
	}
	all, err := collect(rows, func(r *row) []any { return []any{&r.learner, &r.exercise, &r.at} })
	if err != nil {
		return nil, fmt.Errorf("read the resets of class %s: %w", class, err)
	}
	resets := make(map[string]map[string]time.Time)
	for _, r := range all {
		if resets[r.learner] == nil {
			resets[r.learner] = make(map[string]time.Time)
		}
		resets[r.learner][r.exercise] = fromMillis(r.at)
	}
	return resets, nil
}
