package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// A Member is a learner in a class.
type Member struct {
	Learner
	Class    string // ID
	JoinedAt time.Time
	HandAt   time.Time // when they raised their hand, zero while it is down
}

// A Joined learner can go on at once.
type Joined struct {
	Learner      Learner
	Class        Class
	PersonalCode Code   // brings them back from another browser; known here alone
	Token        string // of a new session
}

// Join makes a learner of this name in the class with this join code. It returns ErrNotFound for a code of no class, and
// what Class.CanJoin returns for one that takes nobody now. Any number of joins at once never pass the capacity.
func (s *Store) Join(ctx context.Context, code Code, name string, session time.Duration) (Joined, error) {
	joined := Joined{PersonalCode: newCode(PersonalCodeLength)}
	hashed, err := s.hashPersonal(ctx, joined.PersonalCode) // which takes its time: before the transaction
	if err != nil {
		return Joined{}, err
	}
	err = s.transact(ctx, func(tx *sql.Tx) error {
		if joined.Class, err = takePlace(ctx, tx, code, s.now()); err != nil {
			return err
		}
		joined.Learner = Learner{ID: newPersonID(RoleLearner), Name: name, Role: RoleLearner, CreatedAt: s.now()}
		now := millis(joined.Learner.CreatedAt)
		for _, insert := range []struct {
			statement string
			args      []any
		}{
			{insertPerson, []any{joined.Learner.ID, name, RoleLearner, now}},
			{`INSERT INTO members (learner_id, class_id, joined_at) VALUES (?, ?, ?)`, []any{joined.Learner.ID, joined.Class.ID, now}},
			{`INSERT INTO personal_codes (learner_id, code_hash) VALUES (?, ?)`, []any{joined.Learner.ID, hashed}},
		} {
			if _, err := tx.ExecContext(ctx, insert.statement, insert.args...); err != nil {
				return err
			}
		}
		joined.Token, err = s.newSession(ctx, tx, joined.Learner.ID, session)
		return err
	})
	if err != nil {
		return Joined{}, fmt.Errorf("join a class: %w", err)
	}
	return joined, nil
}

// takePlace returns the class, without its tracks, if it has a place. The class's row is written, which locks it in every
// database: who joins at the same time waits here, and then counts this one.
func takePlace(ctx context.Context, tx *sql.Tx, code Code, now time.Time) (Class, error) {
	var (
		c                    Class
		starts, ends, closed sql.NullInt64
	)
	err := tx.QueryRowContext(ctx, `UPDATE classes SET capacity = capacity WHERE join_code = ?
		 RETURNING id, name, capacity, starts_at, ends_at, closed_at`, string(code)).
		Scan(&c.ID, &c.Name, &c.Capacity, &starts, &ends, &closed)
	if errors.Is(err, sql.ErrNoRows) {
		return Class{}, ErrNotFound
	}
	if err != nil {
		return Class{}, err
	}
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM members WHERE class_id = ?`, c.ID).Scan(&c.Members); err != nil {
		return Class{}, err
	}
	c.JoinCode, c.Starts, c.Ends, c.Closed = code, fromMillis(starts), fromMillis(ends), closed.Valid
	if err := c.CanJoin(now); err != nil {
		return Class{}, err
	}
	c.Members++
	return c, nil
}

// RedeemPersonalCode begins a new session of the learner whose code it is; the code stays good. It returns ErrNotFound for
// a code of nobody.
func (s *Store) RedeemPersonalCode(ctx context.Context, code Code, session time.Duration) (token string, err error) {
	hashed, err := s.hashPersonal(ctx, code)
	if err != nil {
		return "", err
	}
	token, err = s.redeem(ctx, session, `SELECT learner_id FROM personal_codes WHERE code_hash = ?`, hashed)
	if err != nil {
		return "", fmt.Errorf("redeem a personal code: %w", err)
	}
	return token, nil
}

// NewPersonalCode gives the learner a personal code in place of the one before.
func (s *Store) NewPersonalCode(ctx context.Context, learner string) (Code, error) {
	code := newCode(PersonalCodeLength)
	hashed, err := s.hashPersonal(ctx, code)
	if err != nil {
		return "", err
	}
	_, err = s.db.ExecContext(ctx, `INSERT INTO personal_codes (learner_id, code_hash) VALUES (?, ?)
		 ON CONFLICT (learner_id) DO UPDATE SET code_hash = excluded.code_hash`, learner, hashed)
	if err != nil {
		return "", fmt.Errorf("make a personal code of learner %s: %w", learner, err)
	}
	return code, nil
}

// Members returns the members of a class in the order in which they joined.
func (s *Store) Members(ctx context.Context, class string) ([]Member, error) {
	return s.members(ctx, `WHERE m.class_id = ?`, class)
}

// Member returns a learner as the member of their class; ErrNotFound: of none.
func (s *Store) Member(ctx context.Context, learner string) (Member, error) {
	all, err := s.members(ctx, `WHERE m.learner_id = ?`, learner)
	if err != nil {
		return Member{}, err
	}
	if len(all) == 0 {
		return Member{}, ErrNotFound
	}
	return all[0], nil
}

func (s *Store) members(ctx context.Context, where string, args ...any) ([]Member, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+learnerColumns+`, m.class_id, m.joined_at, m.hand_at
		 FROM members m JOIN learners l ON l.id = m.learner_id `+where+` ORDER BY m.joined_at, l.id`, args...)
	if err != nil {
		return nil, fmt.Errorf("list members: %w", err)
	}
	type row struct {
		learnerRow
		class        string
		joined, hand sql.NullInt64
	}
	all, err := collect(rows, func(r *row) []any { return append(r.fields(), &r.class, &r.joined, &r.hand) })
	if err != nil {
		return nil, fmt.Errorf("list members: %w", err)
	}
	members := make([]Member, len(all))
	for i, r := range all {
		members[i] = Member{Learner: r.learner(), Class: r.class, JoinedAt: fromMillis(r.joined), HandAt: fromMillis(r.hand)}
	}
	return members, nil
}

// RaiseHand remembers since when the learner wants help: a hand that is up stays up since then. It returns ErrNotFound for
// who is in no class.
func (s *Store) RaiseHand(ctx context.Context, learner string) error {
	return s.moveHand(ctx, learner, `UPDATE members SET hand_at = coalesce(hand_at, ?) WHERE learner_id = ?`, millis(s.now()), learner)
}

// LowerHand takes the learner's hand down.
func (s *Store) LowerHand(ctx context.Context, learner string) error {
	return s.moveHand(ctx, learner, `UPDATE members SET hand_at = NULL WHERE learner_id = ?`, learner)
}

func (s *Store) moveHand(ctx context.Context, learner, statement string, args ...any) error {
	result, err := s.db.ExecContext(ctx, statement, args...)
	if err == nil {
		err = changed(result)
	}
	if err != nil {
		return fmt.Errorf("move the hand of learner %s: %w", learner, err)
	}
	return nil
}

// ClassProgress returns the progress of all members of a class, by learner ID, each with the exercises that they opened in
// the order of their IDs. Evidence and answers are left out.
func (s *Store) ClassProgress(ctx context.Context, class string) (map[string][]Exercise, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT e.learner_id, e.exercise_id, e.opened_at, e.passed_at, e.solution_at, e.cluster,
		   c.check_id, c.passed_at, c.hints
		 FROM members m JOIN exercises e ON e.learner_id = m.learner_id
		 LEFT JOIN checks c ON c.learner_id = e.learner_id AND c.exercise_id = e.exercise_id
		 WHERE m.class_id = ? ORDER BY e.learner_id, e.exercise_id, c.check_id`, class)
	if err != nil {
		return nil, fmt.Errorf("read the progress of class %s: %w", class, err)
	}
	type row struct {
		exerciseRow
		learner     string
		check       sql.NullString
		done, hints sql.NullInt64
	}
	all, err := collect(rows, func(r *row) []any {
		return []any{&r.learner, &r.id, &r.opened, &r.passed, &r.solution, &r.cluster, &r.check, &r.done, &r.hints}
	})
	if err != nil {
		return nil, fmt.Errorf("read the progress of class %s: %w", class, err)
	}
	progress := make(map[string][]Exercise)
	for _, r := range all {
		exercises := progress[r.learner]
		if n := len(exercises); n == 0 || exercises[n-1].ID != r.id {
			exercises = append(exercises, r.exercise())
		}
		if r.check.Valid {
			last := &exercises[len(exercises)-1]
			last.Checks = append(last.Checks, Check{ID: r.check.String, PassedAt: fromMillis(r.done), Hints: int(r.hints.Int64)})
		}
		progress[r.learner] = exercises
	}
	return progress, nil
}
