-- The kind of clusters that a learner chose, by the name of the backend; empty: the server's first one.

-- +goose Up
ALTER TABLE learners ADD COLUMN backend TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE learners DROP COLUMN backend;
