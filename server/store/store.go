// Package store keeps what outlives the server: learners, their sessions, classes and progress, in one SQLite file. It is
// the only place with SQL in it, and knows nothing of HTTP, clusters or what an exercise asks for.
package store

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Store is safe for use by many goroutines, and by other processes on the same file.
type Store struct {
	db  *sql.DB
	now func() time.Time
}

// Open opens the database file at path, makes it if there is none, and brings its schema up to date. A file that a newer
// apilab wrote is refused with a *NewerError and left as it is.
func Open(ctx context.Context, path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	// SQLite would make the file readable for all.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the progress database: %w", err)
	}
	file.Close()

	db, err := sql.Open("sqlite", dataSource(path))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if err := migrate(ctx, db, path); err != nil {
		db.Close()
		return nil, err
	}
	return &Store{db: db, now: time.Now}, nil
}

// dataSource sets up every connection of the pool. Transactions take the write lock at their start: one that reads
// first and then writes could otherwise fail at once, without waiting for the lock.
func dataSource(path string) string {
	source := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(ON)"},
	}.Encode()}
	return source.String()
}

// SetClock makes the store take the time from elsewhere, before it is used: for tests of what takes days.
func (s *Store) SetClock(now func() time.Time) { s.now = now }

// Close closes the database; what was saved is on disk.
func (s *Store) Close() error { return s.db.Close() }

// Instance returns a random name of this database, the same for its whole life.
func (s *Store) Instance(ctx context.Context) (string, error) {
	_, err := s.db.ExecContext(ctx, `INSERT INTO instance (only_row, id) VALUES (1, ?) ON CONFLICT DO NOTHING`, randomToken(6))
	if err != nil {
		return "", fmt.Errorf("name the instance: %w", err)
	}
	var id string
	if err := s.db.QueryRowContext(ctx, `SELECT id FROM instance`).Scan(&id); err != nil {
		return "", fmt.Errorf("read the instance's name: %w", err)
	}
	return id, nil
}

// transact runs fn in a transaction, which an error of fn rolls back.
func (s *Store) transact(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// millis is how times are stored; the zero time is NULL.
func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

func fromMillis(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}
