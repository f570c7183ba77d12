package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// An Exercise is a learner's progress in one exercise. Times are zero for what has not happened.
type Exercise struct {
	ID       string
	OpenedAt time.Time // set by the store, at the first save
	PassedAt time.Time // all of its checks passed, for the first time since the last reset
	Solution bool      // the solution was revealed
	Cluster  string    // in which it was set up last, as its writer names clusters
	Checks   []Check   // those with something to remember, by ID
}

// A Check is a learner's progress in one check.
type Check struct {
	ID       string
	PassedAt time.Time // of checks that stay passed
	Evidence string    // what satisfied it, as its writer encoded it
	Answer   string    // the learner's last answer or pick
	Hints    int       // told so far
}

// Exercise returns the learner's progress in one exercise: its zero value, but for the ID, when it was never opened.
func (s *Store) Exercise(ctx context.Context, learner, id string) (Exercise, error) {
	var exercise Exercise
	err := s.transact(ctx, func(tx *sql.Tx) (err error) {
		exercise, err = readExercise(ctx, tx, learner, id)
		return err
	})
	if err != nil {
		return Exercise{}, fmt.Errorf("read progress in %s: %w", id, err)
	}
	return exercise, nil
}

// Progress returns the learner's progress in all exercises that they opened, by ID, without the checks.
func (s *Store) Progress(ctx context.Context, learner string) (map[string]Exercise, error) {
	rows, err := s.db.QueryContext(ctx,
		`SELECT exercise_id, opened_at, passed_at, solution_at, cluster FROM exercises WHERE learner_id = ?`, learner)
	if err != nil {
		return nil, fmt.Errorf("read progress: %w", err)
	}
	all, err := collect(rows, func(r *exerciseRow) []any { return []any{&r.id, &r.opened, &r.passed, &r.solution, &r.cluster} })
	if err != nil {
		return nil, fmt.Errorf("read progress: %w", err)
	}
	progress := make(map[string]Exercise, len(all))
	for _, row := range all {
		progress[row.id] = row.exercise()
	}
	return progress, nil
}

// SaveExercise replaces the learner's progress in one exercise and writes an event for everything that is new in it.
// Checks that e does not have stay as they are: they may come back with the next version of the content.
func (s *Store) SaveExercise(ctx context.Context, learner string, e Exercise) error {
	err := s.transact(ctx, func(tx *sql.Tx) error {
		before, err := readExercise(ctx, tx, learner, e.ID)
		if err != nil {
			return err
		}
		if err := writeExercise(ctx, tx, learner, e, s.now()); err != nil {
			return err
		}
		return writeEvents(ctx, tx, learner, s.now(), difference(before, e))
	})
	if err != nil {
		return fmt.Errorf("save progress in %s: %w", e.ID, err)
	}
	return nil
}

// ResetExercise forgets what passed and was answered in one exercise. That hints and solution were seen stays, as do the
// events.
func (s *Store) ResetExercise(ctx context.Context, learner, id string) error {
	err := s.transact(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE exercises SET passed_at = NULL WHERE learner_id = ? AND exercise_id = ?`, learner, id)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE checks SET passed_at = NULL, evidence = '', answer = ''
			 WHERE learner_id = ? AND exercise_id = ?`, learner, id)
		if err != nil {
			return err
		}
		return writeEvents(ctx, tx, learner, s.now(), []Event{{Kind: Reset, Exercise: id}})
	})
	if err != nil {
		return fmt.Errorf("reset progress in %s: %w", id, err)
	}
	return nil
}

type exerciseRow struct {
	id, cluster              string
	opened, passed, solution sql.NullInt64
}

func (r exerciseRow) exercise() Exercise {
	return Exercise{ID: r.id, OpenedAt: fromMillis(r.opened), PassedAt: fromMillis(r.passed), Solution: r.solution.Valid, Cluster: r.cluster}
}

type checkRow struct {
	Check
	passed sql.NullInt64
}

func readExercise(ctx context.Context, tx *sql.Tx, learner, id string) (Exercise, error) {
	row := exerciseRow{id: id}
	err := tx.QueryRowContext(ctx, `SELECT opened_at, passed_at, solution_at, cluster FROM exercises
		 WHERE learner_id = ? AND exercise_id = ?`, learner, id).Scan(&row.opened, &row.passed, &row.solution, &row.cluster)
	if errors.Is(err, sql.ErrNoRows) {
		return Exercise{ID: id}, nil
	}
	if err != nil {
		return Exercise{}, err
	}
	exercise := row.exercise()

	rows, err := tx.QueryContext(ctx, `SELECT check_id, passed_at, evidence, answer, hints FROM checks
		 WHERE learner_id = ? AND exercise_id = ? ORDER BY check_id`, learner, id)
	if err != nil {
		return Exercise{}, err
	}
	checks, err := collect(rows, func(r *checkRow) []any { return []any{&r.ID, &r.passed, &r.Evidence, &r.Answer, &r.Hints} })
	if err != nil {
		return Exercise{}, err
	}
	for _, c := range checks {
		c.PassedAt = fromMillis(c.passed)
		exercise.Checks = append(exercise.Checks, c.Check)
	}
	return exercise, nil
}

func writeExercise(ctx context.Context, tx *sql.Tx, learner string, e Exercise, now time.Time) error {
	var solution any
	if e.Solution {
		solution = millis(now)
	}
	_, err := tx.ExecContext(ctx,
		`INSERT INTO exercises (learner_id, exercise_id, opened_at, passed_at, solution_at, cluster) VALUES (?, ?, ?, ?, ?, ?)
		 ON CONFLICT (learner_id, exercise_id) DO UPDATE SET passed_at = excluded.passed_at,
		   solution_at = coalesce(exercises.solution_at, excluded.solution_at), cluster = excluded.cluster`,
		learner, e.ID, millis(now), millis(e.PassedAt), solution, e.Cluster)
	if err != nil {
		return err
	}
	for _, c := range e.Checks {
		_, err := tx.ExecContext(ctx,
			`INSERT INTO checks (learner_id, exercise_id, check_id, passed_at, evidence, answer, hints) VALUES (?, ?, ?, ?, ?, ?, ?)
			 ON CONFLICT (learner_id, exercise_id, check_id) DO UPDATE SET
			   passed_at = excluded.passed_at, evidence = excluded.evidence, answer = excluded.answer, hints = excluded.hints`,
			learner, e.ID, c.ID, millis(c.PassedAt), c.Evidence, c.Answer, c.Hints)
		if err != nil {
			return err
		}
	}
	return nil
}
