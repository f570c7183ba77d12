-- The clusters that were made before they were a learner's, and have another ID than their learner.

-- +goose Up
CREATE TABLE clusters (
    learner_id TEXT NOT NULL REFERENCES learners (id) ON DELETE CASCADE,
    backend    TEXT NOT NULL,
    cluster_id TEXT NOT NULL,
    PRIMARY KEY (learner_id, backend),
    UNIQUE (backend, cluster_id)
);

-- +goose Down
DROP TABLE clusters;
