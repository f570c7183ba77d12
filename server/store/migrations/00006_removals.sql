-- Since when somebody is no member of their class any more; their cluster and files are then deleted, and at last their row.

-- +goose Up
ALTER TABLE learners ADD COLUMN removed_at BIGINT;

-- +goose Down
ALTER TABLE learners DROP COLUMN removed_at;
