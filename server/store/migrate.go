package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// A NewerError says that the database was written by a newer apilab than this one.
type NewerError struct {
	Path     string
	Database int64 // version of its schema
	Binary   int64 // newest version that this program knows
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s was written by a newer apilab (schema %d, this one knows %d): update apilab, or use another --data-dir",
		e.Path, e.Database, e.Binary)
}

func migrate(ctx context.Context, db *sql.DB, path string) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithSlog(slog.New(slog.DiscardHandler)))
	if err != nil {
		return fmt.Errorf("prepare the migrations: %w", err)
	}
	database, binary, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read %s: %w (if the file is damaged, move it away: apilab then starts with no progress)", path, err)
	}
	if database > binary {
		return &NewerError{Path: path, Database: database, Binary: binary}
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("bring %s from schema %d to %d: %w", path, database, binary, err)
	}
	return nil
}
