-- People with roles, and classes. Codes are kept hashed, but for the join code, which instructors show to everybody.

-- +goose Up
ALTER TABLE learners ADD COLUMN role TEXT NOT NULL DEFAULT 'learner';
ALTER TABLE learners ADD COLUMN token_generation BIGINT NOT NULL DEFAULT 0;

CREATE TABLE classes (
    id            TEXT   PRIMARY KEY,
    name          TEXT   NOT NULL,
    join_code     TEXT   NOT NULL UNIQUE,
    capacity      BIGINT NOT NULL,
    starts_at     BIGINT,
    ends_at       BIGINT,
    closed_at     BIGINT,
    instructor_id TEXT   NOT NULL REFERENCES learners (id),
    created_at    BIGINT NOT NULL
);
CREATE INDEX classes_by_instructor ON classes (instructor_id);

-- A class without any is about all tracks.
CREATE TABLE class_tracks (
    class_id TEXT   NOT NULL REFERENCES classes (id) ON DELETE CASCADE,
    track_id TEXT   NOT NULL,
    place    BIGINT NOT NULL,
    PRIMARY KEY (class_id, track_id)
);

-- Lessons that the instructor has closed; all others are open.
CREATE TABLE class_lessons (
    class_id  TEXT   NOT NULL REFERENCES classes (id) ON DELETE CASCADE,
    lesson_id TEXT   NOT NULL,
    closed_at BIGINT NOT NULL,
    PRIMARY KEY (class_id, lesson_id)
);

-- A learner is in one class at most.
CREATE TABLE members (
    learner_id TEXT   PRIMARY KEY REFERENCES learners (id) ON DELETE CASCADE,
    class_id   TEXT   NOT NULL REFERENCES classes (id) ON DELETE CASCADE,
    joined_at  BIGINT NOT NULL,
    hand_at    BIGINT
);
CREATE INDEX members_by_class ON members (class_id);

CREATE TABLE personal_codes (
    learner_id TEXT PRIMARY KEY REFERENCES learners (id) ON DELETE CASCADE,
    code_hash  BLOB NOT NULL UNIQUE
);

-- +goose Down
DROP TABLE personal_codes;
DROP TABLE members;
DROP TABLE class_lessons;
DROP TABLE class_tracks;
DROP TABLE classes;
ALTER TABLE learners DROP COLUMN token_generation;
ALTER TABLE learners DROP COLUMN role;
