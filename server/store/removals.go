package store

import (
	"context"
	"database/sql"
	"fmt"
)

// RemoveMember takes a learner out of their class for good: their place is free, they are signed out everywhere, their codes
// and tokens are no longer good, and Learner does not find them. What is stored of them stays until DeleteLearner.
func (s *Store) RemoveMember(ctx context.Context, learner string) error {
	err := s.transact(ctx, func(tx *sql.Tx) error { return s.removeMember(ctx, tx, learner) })
	if err != nil {
		return fmt.Errorf("remove learner %s from their class: %w", learner, err)
	}
	return nil
}

func (s *Store) removeMember(ctx context.Context, tx *sql.Tx, learner string) error {
	for _, statement := range []string{
		`DELETE FROM members WHERE learner_id = ?`,
		`DELETE FROM personal_codes WHERE learner_id = ?`,
	} {
		if _, err := tx.ExecContext(ctx, statement, learner); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `UPDATE learners SET removed_at = ?, token_generation = token_generation + 1 WHERE id = ?`, millis(s.now()), learner)
	if err != nil {
		return err
	}
	return endSessions(ctx, tx, learner)
}

// RemoveClass deletes a class, with its messages, and removes all its members. It returns ErrNotFound for a class that is
// not there.
func (s *Store) RemoveClass(ctx context.Context, class string) error {
	err := s.transact(ctx, func(tx *sql.Tx) error {
		// Written first, so that nobody joins meanwhile (takePlace).
		result, err := tx.ExecContext(ctx, `UPDATE classes SET capacity = 0 WHERE id = ?`, class)
		if err == nil {
			err = changed(result)
		}
		if err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `SELECT learner_id FROM members WHERE class_id = ?`, class)
		if err != nil {
			return err
		}
		members, err := collect(rows, func(id *string) []any { return []any{id} })
		if err != nil {
			return err
		}
		for _, learner := range members {
			if err := s.removeMember(ctx, tx, learner); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM classes WHERE id = ?`, class)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete class %s: %w", class, err)
	}
	return nil
}

// Removed returns the IDs of the learners who were removed and are not deleted yet, the first removed first.
func (s *Store) Removed(ctx context.Context) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id FROM learners WHERE removed_at IS NOT NULL ORDER BY removed_at, id`)
	if err != nil {
		return nil, fmt.Errorf("list removed learners: %w", err)
	}
	return collect(rows, func(id *string) []any { return []any{id} })
}

// DeleteLearner deletes all that is stored of a learner who was removed, and nothing of anybody else.
func (s *Store) DeleteLearner(ctx context.Context, learner string) error {
	if _, err := s.db.ExecContext(ctx, `DELETE FROM learners WHERE id = ? AND removed_at IS NOT NULL`, learner); err != nil {
		return fmt.Errorf("delete learner %s: %w", learner, err)
	}
	return nil
}
