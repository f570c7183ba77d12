-- Times are milliseconds since the Unix epoch, so that every database keeps and compares them alike.

-- +goose Up
CREATE TABLE instance (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    id       TEXT    NOT NULL
);

CREATE TABLE learners (
    id         TEXT   PRIMARY KEY,
    name       TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE signin_codes (
    code_hash  BLOB   PRIMARY KEY,
    learner_id TEXT   NOT NULL REFERENCES learners (id) ON DELETE CASCADE,
    expires_at BIGINT NOT NULL
);

CREATE TABLE sessions (
    token_hash BLOB   PRIMARY KEY,
    learner_id TEXT   NOT NULL REFERENCES learners (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_by_learner ON sessions (learner_id);

-- Lessons, exercises and checks are known by their stable IDs only: what the content no longer has stays here untouched.
CREATE TABLE lesson_visits (
    learner_id TEXT   NOT NULL REFERENCES learners (id) ON DELETE CASCADE,
    lesson_id  TEXT   NOT NULL,
    first_at   BIGINT NOT NULL,
    last_at    BIGINT NOT NULL,
    PRIMARY KEY (learner_id, lesson_id)
);

CREATE TABLE exercises (
    learner_id  TEXT   NOT NULL REFERENCES learners (id) ON DELETE CASCADE,
    exercise_id TEXT   NOT NULL,
    opened_at   BIGINT NOT NULL,
    passed_at   BIGINT,
    solution_at BIGINT,
    cluster     TEXT   NOT NULL DEFAULT '',
    PRIMARY KEY (learner_id, exercise_id)
);

CREATE TABLE checks (
    learner_id  TEXT    NOT NULL,
    exercise_id TEXT    NOT NULL,
    check_id    TEXT    NOT NULL,
    passed_at   BIGINT,
    evidence    TEXT    NOT NULL DEFAULT '',
    answer      TEXT    NOT NULL DEFAULT '',
    hints       INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (learner_id, exercise_id, check_id),
    FOREIGN KEY (learner_id, exercise_id) REFERENCES exercises (learner_id, exercise_id) ON DELETE CASCADE
);

CREATE TABLE events (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    learner_id  TEXT   NOT NULL REFERENCES learners (id) ON DELETE CASCADE,
    at          BIGINT NOT NULL,
    kind        TEXT   NOT NULL,
    exercise_id TEXT   NOT NULL,
    check_id    TEXT   NOT NULL DEFAULT ''
);
CREATE INDEX events_by_learner ON events (learner_id, id);

-- +goose Down
DROP TABLE events;
DROP TABLE checks;
DROP TABLE exercises;
DROP TABLE lesson_visits;
DROP TABLE sessions;
DROP TABLE signin_codes;
DROP TABLE learners;
DROP TABLE instance;
