package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"time"
)

// NewSignInCode returns a code that signs the learner in once, within ttl.
func (s *Store) NewSignInCode(ctx context.Context, learner string, ttl time.Duration) (string, error) {
	code := randomToken(20)
	now := s.now()
	err := s.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM signin_codes WHERE expires_at <= ?`, millis(now)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO signin_codes (code_hash, learner_id, expires_at) VALUES (?, ?, ?)`,
			hash(code), learner, millis(now.Add(ttl)))
		return err
	})
	if err != nil {
		return "", fmt.Errorf("make a sign-in code: %w", err)
	}
	return code, nil
}

// RedeemSignInCode uses the code up and returns a new session of its learner. It returns ErrNotFound for a code that
// never was, was used, or is too old.
func (s *Store) RedeemSignInCode(ctx context.Context, code string, session time.Duration) (token string, err error) {
	token, err = s.redeem(ctx, session, `DELETE FROM signin_codes WHERE code_hash = ? AND expires_at > ? RETURNING learner_id`,
		hash(code), millis(s.now()))
	if err != nil {
		return "", fmt.Errorf("redeem a sign-in code: %w", err)
	}
	return token, nil
}

// redeem returns a new session of the learner whose ID the query finds by a code, or ErrNotFound.
func (s *Store) redeem(ctx context.Context, session time.Duration, query string, args ...any) (token string, err error) {
	err = s.transact(ctx, func(tx *sql.Tx) error {
		var learner string
		err := tx.QueryRowContext(ctx, query, args...).Scan(&learner)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		token, err = s.newSession(ctx, tx, learner, session)
		return err
	})
	return token, err
}

// SignInCodeOf returns whose sign-in code it is, and leaves it as it is. It returns ErrNotFound as RedeemSignInCode does.
func (s *Store) SignInCodeOf(ctx context.Context, code string) (Learner, error) {
	var row learnerRow
	err := s.db.QueryRowContext(ctx, `SELECT `+learnerColumns+` FROM signin_codes c JOIN learners l ON l.id = c.learner_id
		 WHERE c.code_hash = ? AND c.expires_at > ?`, hash(code), millis(s.now())).Scan(row.fields()...)
	if errors.Is(err, sql.ErrNoRows) {
		return Learner{}, ErrNotFound
	}
	if err != nil {
		return Learner{}, fmt.Errorf("look up a sign-in code: %w", err)
	}
	return row.learner(), nil
}

// maxSessions bounds the browsers that a person is signed in with at a time; one more signs the first of them out.
const maxSessions = 20

// newSession begins a session of the learner that ends after ttl, and returns its token.
func (s *Store) newSession(ctx context.Context, tx *sql.Tx, learner string, ttl time.Duration) (token string, err error) {
	now := s.now()
	if _, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE expires_at <= ?`, millis(now)); err != nil {
		return "", err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM sessions WHERE learner_id = ? AND token_hash NOT IN (
		   SELECT token_hash FROM sessions WHERE learner_id = ? ORDER BY created_at DESC LIMIT ?)`, learner, learner, maxSessions-1)
	if err != nil {
		return "", err
	}
	token = randomToken(32)
	_, err = tx.ExecContext(ctx, `INSERT INTO sessions (token_hash, learner_id, created_at, expires_at) VALUES (?, ?, ?, ?)`,
		hash(token), learner, millis(now), millis(now.Add(ttl)))
	return token, err
}

// LearnerBySession returns whose session it is. It returns ErrNotFound for a token that never was, was ended, or is too
// old.
func (s *Store) LearnerBySession(ctx context.Context, token string) (Learner, error) {
	var row learnerRow
	err := s.db.QueryRowContext(ctx,
		`SELECT `+learnerColumns+` FROM sessions s JOIN learners l ON l.id = s.learner_id
		 WHERE s.token_hash = ? AND s.expires_at > ?`, hash(token), millis(s.now())).Scan(row.fields()...)
	if errors.Is(err, sql.ErrNoRows) {
		return Learner{}, ErrNotFound
	}
	if err != nil {
		return Learner{}, fmt.Errorf("look up a session: %w", err)
	}
	return row.learner(), nil
}

// EndSession signs one browser out. A session that does not exist is no error.
func (s *Store) EndSession(ctx context.Context, token string) error {
	if _, err := s.db.ExecContext(ctx, `DELETE FROM sessions WHERE token_hash = ?`, hash(token)); err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return nil
}

// EndSessions signs the learner out everywhere, and makes the sign-in links that they were given useless.
func (s *Store) EndSessions(ctx context.Context, learner string) error {
	err := s.transact(ctx, func(tx *sql.Tx) error { return endSessions(ctx, tx, learner) })
	if err != nil {
		return fmt.Errorf("end the sessions of learner %s: %w", learner, err)
	}
	return nil
}

func endSessions(ctx context.Context, tx *sql.Tx, learner string) error {
	for _, statement := range []string{`DELETE FROM sessions WHERE learner_id = ?`, `DELETE FROM signin_codes WHERE learner_id = ?`} {
		if _, err := tx.ExecContext(ctx, statement, learner); err != nil {
			return err
		}
	}
	return nil
}

// ProlongSession makes the session end ttl from now. One that does not exist is no error.
func (s *Store) ProlongSession(ctx context.Context, token string, ttl time.Duration) error {
	_, err := s.db.ExecContext(ctx, `UPDATE sessions SET expires_at = ? WHERE token_hash = ?`,
		millis(s.now().Add(ttl)), hash(token))
	if err != nil {
		return fmt.Errorf("prolong a session: %w", err)
	}
	return nil
}

// randomToken returns n random bytes as text that fits into URLs and cookies.
func randomToken(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// hash is how codes and tokens are kept. They are random and long, so that a plain digest cannot be searched back.
func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
