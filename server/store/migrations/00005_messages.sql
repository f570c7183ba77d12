-- What instructors write to a class, or to one learner of it. Whoever has not dismissed a message still sees it.

-- +goose Up
CREATE TABLE messages (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    class_id   TEXT   NOT NULL REFERENCES classes (id) ON DELETE CASCADE,
    learner_id TEXT   REFERENCES learners (id) ON DELETE CASCADE, -- null: all of the class, also who joins later
    sender     TEXT   NOT NULL,
    text       TEXT   NOT NULL,
    sent_at    BIGINT NOT NULL
);
CREATE INDEX messages_by_class ON messages (class_id);

CREATE TABLE dismissed_messages (
    message_id BIGINT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    learner_id TEXT   NOT NULL REFERENCES learners (id) ON DELETE CASCADE,
    PRIMARY KEY (message_id, learner_id)
);

-- +goose Down
DROP TABLE dismissed_messages;
DROP TABLE messages;
