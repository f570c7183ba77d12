package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Backend returns the name of the backend that the learner chose for their cluster, "" when they chose none.
func (s *Store) Backend(ctx context.Context, learner string) (string, error) {
	var name string
	err := s.db.QueryRowContext(ctx, `SELECT backend FROM learners WHERE id = ?`, learner).Scan(&name)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read the backend of learner %s: %w", learner, err)
	}
	return name, nil
}

// SetBackend remembers the backend that the learner chose.
func (s *Store) SetBackend(ctx context.Context, learner, name string) error {
	result, err := s.db.ExecContext(ctx, `UPDATE learners SET backend = ? WHERE id = ?`, name, learner)
	if err == nil {
		err = changed(result)
	}
	if err != nil {
		return fmt.Errorf("remember the backend of learner %s: %w", learner, err)
	}
	return nil
}

// changed returns ErrNotFound when a change met no row.
func changed(result sql.Result) error {
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// Cluster returns the ID of the cluster that the learner was given of a backend, "" when they were given none.
func (s *Store) Cluster(ctx context.Context, learner, backend string) (string, error) {
	var id string
	err := s.db.QueryRowContext(ctx,
		`SELECT cluster_id FROM clusters WHERE learner_id = ? AND backend = ?`, learner, backend).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read the cluster of learner %s: %w", learner, err)
	}
	return id, nil
}

// SetCluster gives the learner a cluster of a backend, in place of the one they were given before; "" takes that away.
// One that another learner was given is an error.
func (s *Store) SetCluster(ctx context.Context, learner, backend, id string) (err error) {
	if id == "" {
		_, err = s.db.ExecContext(ctx, `DELETE FROM clusters WHERE learner_id = ? AND backend = ?`, learner, backend)
	} else {
		_, err = s.db.ExecContext(ctx,
			`INSERT INTO clusters (learner_id, backend, cluster_id) VALUES (?, ?, ?)
			 ON CONFLICT (learner_id, backend) DO UPDATE SET cluster_id = excluded.cluster_id`, learner, backend, id)
	}
	if err != nil {
		return fmt.Errorf("remember the cluster of learner %s: %w", learner, err)
	}
	return nil
}

// Clusters returns the IDs of all clusters of a backend that learners were given.
func (s *Store) Clusters(ctx context.Context, backend string) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT cluster_id FROM clusters WHERE backend = ?`, backend)
	if err != nil {
		return nil, fmt.Errorf("list given clusters: %w", err)
	}
	return collect(rows, func(id *string) []any { return []any{id} })
}
