package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// maxMessages bounds the messages that a learner sees at once; the newest ones.
const maxMessages = 20

// A Message is what an instructor wrote to a class, or to one learner of it.
type Message struct {
	ID     int64 // ascending
	Sender string
	Text   string
	SentAt time.Time
}

// SendMessage writes to a learner of the class, or to all of it where learner is empty, also to who joins later. A learner
// who is not of the class is ErrNotFound.
func (s *Store) SendMessage(ctx context.Context, class, learner, sender, text string) error {
	to := sql.NullString{String: learner, Valid: learner != ""}
	result, err := s.db.ExecContext(ctx, `INSERT INTO messages (class_id, learner_id, sender, text, sent_at)
		 SELECT id, ?, ?, ?, ? FROM classes WHERE id = ? AND (? IS NULL OR EXISTS
		   (SELECT 1 FROM members m WHERE m.class_id = classes.id AND m.learner_id = ?))`,
		to, sender, text, millis(s.now()), class, to, to)
	if err == nil {
		err = changed(result)
	}
	if err != nil {
		return fmt.Errorf("write to class %s: %w", class, err)
	}
	return nil
}

// Messages returns what was written to the learner and is not dismissed, the oldest first.
func (s *Store) Messages(ctx context.Context, learner string) ([]Message, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT m.id, m.sender, m.text, m.sent_at FROM messages m
		 JOIN members b ON b.class_id = m.class_id
		 WHERE b.learner_id = ? AND (m.learner_id IS NULL OR m.learner_id = b.learner_id) AND NOT EXISTS
		   (SELECT 1 FROM dismissed_messages d WHERE d.message_id = m.id AND d.learner_id = b.learner_id)
		 ORDER BY m.id DESC LIMIT ?`, learner, maxMessages)
	if err != nil {
		return nil, fmt.Errorf("read the messages to learner %s: %w", learner, err)
	}
	type row struct {
		Message
		sent sql.NullInt64
	}
	all, err := collect(rows, func(r *row) []any { return []any{&r.ID, &r.Sender, &r.Text, &r.sent} })
	if err != nil {
		return nil, fmt.Errorf("read the messages to learner %s: %w", learner, err)
	}
	messages := make([]Message, len(all))
	for i, r := range all {
		r.SentAt = fromMillis(r.sent)
		messages[i] = r.Message
	}
	slices.Reverse(messages)
	return messages, nil
}

// DismissMessage takes a message off the learner's pages. One that is not there is no error.
func (s *Store) DismissMessage(ctx context.Context, learner string, message int64) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO dismissed_messages (message_id, learner_id) SELECT id, ? FROM messages WHERE id = ?
		 ON CONFLICT (message_id, learner_id) DO NOTHING`, learner, message)
	if err != nil {
		return fmt.Errorf("dismiss message %d: %w", message, err)
	}
	return nil
}
