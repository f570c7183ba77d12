package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// A Role says what someone may do on a class server, beside learning.
type Role string

// The roles; each may do what those before it may.
const (
	RoleLearner    Role = "learner"
	RoleInstructor Role = "instructor" // makes classes, and runs their own
	RoleAdmin      Role = "admin"      // makes instructors, and runs every class
)

// CanTeach tells whether the role may make classes.
func (r Role) CanTeach() bool { return r == RoleInstructor || r == RoleAdmin }

// AddPerson makes someone with a random ID.
func (s *Store) AddPerson(ctx context.Context, name string, role Role) (Learner, error) {
	learner := Learner{ID: newPersonID(role), Name: name, Role: role, CreatedAt: s.now()}
	if _, err := s.db.ExecContext(ctx, insertPerson, learner.ID, name, role, millis(learner.CreatedAt)); err != nil {
		return Learner{}, fmt.Errorf("make %s %s: %w", role, learner.ID, err)
	}
	return learner, nil
}

const insertPerson = `INSERT INTO learners (id, name, role, created_at) VALUES (?, ?, ?, ?)`

// newPersonID is a DNS label that begins with the role's letter.
func newPersonID(role Role) string {
	return string(role[0]) + "-" + strings.ToLower(rand.Text()[:12])
}

// EnsureAdmin returns an admin: the first there is, or one who is made with this name; made tells which.
func (s *Store) EnsureAdmin(ctx context.Context, name string) (admin Learner, made bool, err error) {
	err = s.transact(ctx, func(tx *sql.Tx) error {
		var row learnerRow
		err := tx.QueryRowContext(ctx, `SELECT `+learnerColumns+` FROM learners l WHERE l.role = ?
			 ORDER BY l.created_at, l.id LIMIT 1`, RoleAdmin).Scan(row.fields()...)
		if !errors.Is(err, sql.ErrNoRows) {
			admin = row.learner()
			return err
		}
		admin, made = Learner{ID: newPersonID(RoleAdmin), Name: name, Role: RoleAdmin, CreatedAt: s.now()}, true
		_, err = tx.ExecContext(ctx, insertPerson, admin.ID, name, RoleAdmin, millis(admin.CreatedAt))
		return err
	})
	if err != nil {
		return Learner{}, false, fmt.Errorf("find an admin: %w", err)
	}
	return admin, made, nil
}

// Staff returns all admins and instructors, the oldest first.
func (s *Store) Staff(ctx context.Context) ([]Learner, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+learnerColumns+` FROM learners l WHERE l.role IN (?, ?)
		 ORDER BY l.created_at, l.id`, RoleAdmin, RoleInstructor)
	if err != nil {
		return nil, fmt.Errorf("list admins and instructors: %w", err)
	}
	all, err := collect(rows, (*learnerRow).fields)
	if err != nil {
		return nil, fmt.Errorf("list admins and instructors: %w", err)
	}
	staff := make([]Learner, len(all))
	for i := range all {
		staff[i] = all[i].learner()
	}
	return staff, nil
}

// SetRole gives someone another role. It returns ErrNotFound for nobody, and ErrLastAdmin where no admin would be left.
func (s *Store) SetRole(ctx context.Context, id string, role Role) error {
	err := s.transact(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE learners SET role = ? WHERE id = ?`, role, id)
		if err == nil {
			err = changed(result)
		}
		if err != nil {
			return err
		}
		var admins int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM learners WHERE role = ?`, RoleAdmin).Scan(&admins); err != nil {
			return err
		}
		if admins == 0 {
			return ErrLastAdmin
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("make %s of %s: %w", role, id, err)
	}
	return nil
}

// TokenGeneration is a number that a learner's tokens for their own machine carry, from 0 on: only those of the present one
// are good.
func (s *Store) TokenGeneration(ctx context.Context, learner string) (int, error) {
	return s.generation(ctx, `SELECT token_generation FROM learners WHERE id = ?`, learner)
}

// RevokeTokens makes all tokens useless that the learner has for their own machine, and returns the new generation.
func (s *Store) RevokeTokens(ctx context.Context, learner string) (int, error) {
	return s.generation(ctx, `UPDATE learners SET token_generation = token_generation + 1 WHERE id = ? RETURNING token_generation`, learner)
}

func (s *Store) generation(ctx context.Context, query, learner string) (n int, err error) {
	err = s.db.QueryRowContext(ctx, query, learner).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("token generation of learner %s: %w", learner, err)
	}
	return n, nil
}
