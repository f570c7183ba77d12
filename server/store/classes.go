package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Class is learners who learn together.
type Class struct {
	ID         string
	Name       string
	JoinCode   Code     // for everybody in the room
	Tracks     []string // IDs, in the order of the class; none: all there are
	Capacity   int      // places
	Members    int      // places that are taken
	Starts     time.Time
	Ends       time.Time // zero, as Starts may be: no such day
	Closed     bool      // nobody else may join
	Instructor string    // learner ID
	CreatedAt  time.Time
}

// Began returns nil for a class that takes place at the time, else ErrNotBegun or ErrOver.
func (c Class) Began(now time.Time) error {
	switch {
	case now.Before(c.Starts):
		return ErrNotBegun
	case !c.Ends.IsZero() && !now.Before(c.Ends):
		return ErrOver
	}
	return nil
}

// CanJoin returns nil for a class that takes another learner at the time, else why not: ErrOver, ErrClassClosed,
// ErrNotBegun or ErrClassFull.
func (c Class) CanJoin(now time.Time) error {
	began := c.Began(now)
	switch {
	case errors.Is(began, ErrOver):
		return ErrOver
	case c.Closed:
		return ErrClassClosed
	case began != nil:
		return began
	case c.Members >= c.Capacity:
		return ErrClassFull
	}
	return nil
}

// AddClass makes a class of what c says and returns it with its ID and join code.
func (s *Store) AddClass(ctx context.Context, c Class) (Class, error) {
	c.ID, c.JoinCode, c.CreatedAt, c.Members = "c-"+strings.ToLower(rand.Text()[:12]), newCode(JoinCodeLength), s.now(), 0
	err := s.transact(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO classes
			 (id, name, join_code, capacity, starts_at, ends_at, closed_at, instructor_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			c.ID, c.Name, string(c.JoinCode), c.Capacity, millis(c.Starts), millis(c.Ends), s.closedAt(c), c.Instructor, millis(c.CreatedAt))
		if err != nil {
			return err
		}
		return setTracks(ctx, tx, c)
	})
	if err != nil {
		return Class{}, fmt.Errorf("make a class: %w", err)
	}
	return c, nil
}

// SaveClass changes a class's name, tracks, capacity, dates, and whether it is closed. A capacity below the number of
// members puts nobody out. It returns ErrNotFound for a class that is not there.
func (s *Store) SaveClass(ctx context.Context, c Class) error {
	err := s.transact(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx,
			`UPDATE classes SET name = ?, capacity = ?, starts_at = ?, ends_at = ?, closed_at = ? WHERE id = ?`,
			c.Name, c.Capacity, millis(c.Starts), millis(c.Ends), s.closedAt(c), c.ID)
		if err == nil {
			err = changed(result)
		}
		if err != nil {
			return err
		}
		return setTracks(ctx, tx, c)
	})
	if err != nil {
		return fmt.Errorf("save class %s: %w", c.ID, err)
	}
	return nil
}

func (s *Store) closedAt(c Class) any {
	if !c.Closed {
		return nil
	}
	return millis(s.now())
}

func setTracks(ctx context.Context, tx *sql.Tx, c Class) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM class_tracks WHERE class_id = ?`, c.ID); err != nil {
		return err
	}
	for place, track := range c.Tracks {
		_, err := tx.ExecContext(ctx, `INSERT INTO class_tracks (class_id, track_id, place) VALUES (?, ?, ?)`, c.ID, track, place)
		if err != nil {
			return err
		}
	}
	return nil
}

// Extend moves the end of a class; the zero time takes it away.
func (s *Store) Extend(ctx context.Context, class string, ends time.Time) error {
	return s.changeClass(ctx, class, `UPDATE classes SET ends_at = ? WHERE id = ?`, millis(ends), class)
}

// NewJoinCode gives a class another join code; the one before is that of no class any more.
func (s *Store) NewJoinCode(ctx context.Context, class string) (Code, error) {
	code := newCode(JoinCodeLength)
	return code, s.changeClass(ctx, class, `UPDATE classes SET join_code = ? WHERE id = ?`, string(code), class)
}

func (s *Store) changeClass(ctx context.Context, class, statement string, args ...any) error {
	result, err := s.db.ExecContext(ctx, statement, args...)
	if err == nil {
		err = changed(result)
	}
	if err != nil {
		return fmt.Errorf("change class %s: %w", class, err)
	}
	return nil
}

// Class returns the class with this ID, or ErrNotFound.
func (s *Store) Class(ctx context.Context, id string) (Class, error) {
	return s.oneClass(ctx, `WHERE c.id = ?`, id)
}

// ClassByJoinCode returns the class that a join code is of, or ErrNotFound.
func (s *Store) ClassByJoinCode(ctx context.Context, code Code) (Class, error) {
	return s.oneClass(ctx, `WHERE c.join_code = ?`, string(code))
}

// ClassOf returns the class that a learner is in; ErrNotFound: in none.
func (s *Store) ClassOf(ctx context.Context, learner string) (Class, error) {
	return s.oneClass(ctx, `WHERE c.id = (SELECT class_id FROM members WHERE learner_id = ?)`, learner)
}

func (s *Store) oneClass(ctx context.Context, where string, args ...any) (Class, error) {
	all, err := s.classes(ctx, where, args...)
	if err != nil {
		return Class{}, err
	}
	if len(all) == 0 {
		return Class{}, ErrNotFound
	}
	return all[0], nil
}

// Classes returns an instructor's classes, or all for "", the newest first.
func (s *Store) Classes(ctx context.Context, instructor string) ([]Class, error) {
	if instructor == "" {
		return s.classes(ctx, ``)
	}
	return s.classes(ctx, `WHERE c.instructor_id = ?`, instructor)
}

// classes reads classes with their tracks, a row for each track.
func (s *Store) classes(ctx context.Context, where string, args ...any) ([]Class, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT c.id, c.name, c.join_code, c.capacity, c.starts_at, c.ends_at, c.closed_at, c.instructor_id,
		   c.created_at, (SELECT count(*) FROM members m WHERE m.class_id = c.id), t.track_id
		 FROM classes c LEFT JOIN class_tracks t ON t.class_id = c.id `+where+` ORDER BY c.created_at DESC, c.id, t.place`, args...)
	if err != nil {
		return nil, fmt.Errorf("read classes: %w", err)
	}
	type row struct {
		Class
		starts, ends, closed, created sql.NullInt64
		track                         sql.NullString
	}
	all, err := collect(rows, func(r *row) []any {
		return []any{&r.ID, &r.Name, &r.JoinCode, &r.Capacity, &r.starts, &r.ends, &r.closed, &r.Instructor, &r.created, &r.Members, &r.track}
	})
	if err != nil {
		return nil, fmt.Errorf("read classes: %w", err)
	}
	var classes []Class
	for _, r := range all {
		if n := len(classes); n == 0 || classes[n-1].ID != r.ID {
			r.Starts, r.Ends, r.CreatedAt, r.Closed = fromMillis(r.starts), fromMillis(r.ends), fromMillis(r.created), r.closed.Valid
			classes = append(classes, r.Class)
		}
		if r.track.Valid {
			last := &classes[len(classes)-1]
			last.Tracks = append(last.Tracks, r.track.String)
		}
	}
	return classes, nil
}

// CloseLesson closes a lesson for a class. One that is closed already stays so.
func (s *Store) CloseLesson(ctx context.Context, class, lesson string) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO class_lessons (class_id, lesson_id, closed_at) VALUES (?, ?, ?)
		 ON CONFLICT (class_id, lesson_id) DO NOTHING`, class, lesson, millis(s.now()))
	if err != nil {
		return fmt.Errorf("close lesson %s for class %s: %w", lesson, class, err)
	}
	return nil
}

// OpenLesson opens a lesson again. One that is open stays so.
func (s *Store) OpenLesson(ctx context.Context, class, lesson string) error {
	_, err := s.db.ExecContext(ctx, `DELETE FROM class_lessons WHERE class_id = ? AND lesson_id = ?`, class, lesson)
	if err != nil {
		return fmt.Errorf("open lesson %s for class %s: %w", lesson, class, err)
	}
	return nil
}

// ClosedLessons returns the IDs of the lessons that are closed for a class.
func (s *Store) ClosedLessons(ctx context.Context, class string) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT lesson_id FROM class_lessons WHERE class_id = ? ORDER BY lesson_id`, class)
	if err != nil {
		return nil, fmt.Errorf("list closed lessons: %w", err)
	}
	return collect(rows, func(id *string) []any { return []any{id} })
}
