package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// A Learner is someone with progress and a cluster of their own: instructors and admins are learners too.
type Learner struct {
	ID        string // DNS label, also names their cluster
	Name      string // for people
	Role      Role
	CreatedAt time.Time
}

// EnsureLearner returns the learner with this ID, who is made with this name if there is none.
func (s *Store) EnsureLearner(ctx context.Context, id, name string) (Learner, error) {
	_, err := s.db.ExecContext(ctx,
		`INSERT INTO learners (id, name, created_at) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING`, id, name, millis(s.now()))
	if err != nil {
		return Learner{}, fmt.Errorf("make learner %s: %w", id, err)
	}
	return s.Learner(ctx, id)
}

// Learner returns the learner with this ID, or ErrNotFound, also for one who was removed from their class.
func (s *Store) Learner(ctx context.Context, id string) (Learner, error) {
	var row learnerRow
	err := s.db.QueryRowContext(ctx, `SELECT `+learnerColumns+` FROM learners l WHERE l.id = ? AND l.removed_at IS NULL`, id).Scan(row.fields()...)
	if errors.Is(err, sql.ErrNoRows) {
		return Learner{}, ErrNotFound
	}
	if err != nil {
		return Learner{}, fmt.Errorf("read learner %s: %w", id, err)
	}
	return row.learner(), nil
}

const learnerColumns = `l.id, l.name, l.role, l.created_at`

// A learnerRow is what learnerColumns select.
type learnerRow struct {
	Learner
	created sql.NullInt64
}

func (r *learnerRow) fields() []any { return []any{&r.ID, &r.Name, &r.Role, &r.created} }

func (r *learnerRow) learner() Learner {
	r.CreatedAt = fromMillis(r.created)
	return r.Learner
}

// VisitLesson remembers that the learner opened a lesson's page.
func (s *Store) VisitLesson(ctx context.Context, learner, lesson string) error {
	now := millis(s.now())
	_, err := s.db.ExecContext(ctx,
		`INSERT INTO lesson_visits (learner_id, lesson_id, first_at, last_at) VALUES (?, ?, ?, ?)
		 ON CONFLICT (learner_id, lesson_id) DO UPDATE SET last_at = excluded.last_at`, learner, lesson, now, now)
	if err != nil {
		return fmt.Errorf("remember the visit of lesson %s: %w", lesson, err)
	}
	return nil
}

// Visited returns the IDs of the lessons that the learner has opened, the last one first.
func (s *Store) Visited(ctx context.Context, learner string) ([]string, error) {
	rows, err := s.db.QueryContext(ctx,
		`SELECT lesson_id FROM lesson_visits WHERE learner_id = ? ORDER BY last_at DESC, lesson_id`, learner)
	if err != nil {
		return nil, fmt.Errorf("list visited lessons: %w", err)
	}
	return collect(rows, func(id *string) []any { return []any{id} })
}

// collect scans each row into a T by the destinations that fields names.
func collect[T any](rows *sql.Rows, fields func(*T) []any) ([]T, error) {
	defer rows.Close()
	var all []T
	for rows.Next() {
		var one T
		if err := rows.Scan(fields(&one)...); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
