package hub

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/apilab/apilab/server/protocol"
)

// An Edit is a text that a program in a terminal wants to have edited.
type Edit struct {
	Name     string // of the file or object, for the learner
	Text     string
	Language string // "yaml", "json", "shell" or ""
}

// An EditFunc lets the learner edit. It returns when they are done, saved or not, or when ctx ends: with the program.
type EditFunc func(ctx context.Context, e Edit) (saved bool, text string, err error)

// An editor waits for the learner.
type editor struct {
	token string
	edit  Edit
	done  chan edited
}

type edited struct {
	save bool
	text string
}

func (e *editor) message() protocol.Editor {
	return protocol.Editor{Token: e.token, Name: e.edit.Name, Text: e.edit.Text, Language: e.edit.Language}
}

// edit shows the editor on all pages, also on those that come later. The first that is done decides.
func (h *Hub) edit(ctx context.Context, edit Edit) (saved bool, text string, err error) {
	if len(edit.Text) > maxEditable {
		return false, "", errTooLargeToEdit
	}
	e := &editor{token: rand.Text(), edit: edit, done: make(chan edited, 1)}
	h.mu.Lock()
	h.editors[e.token] = e
	h.broadcast("", e.message())
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.editors, e.token)
		h.broadcast("", protocol.EditorGone{Token: e.token})
	}()

	select {
	case answer := <-e.done:
		return answer.save, answer.text, nil
	case <-ctx.Done():
		return false, "", ctx.Err()
	case <-h.ctx.Done():
		return false, "", errors.New("apilab is stopping")
	}
}

// EditorDone ends an edit.
func (h *Hub) EditorDone(token string, save bool, text string) error {
	h.mu.Lock()
	e := h.editors[token]
	h.mu.Unlock()
	if e == nil {
		return errors.New("the program that asked for this editor has ended, or another page answered it")
	}
	select {
	case e.done <- edited{save: save, text: text}:
	default: // another page was faster
	}
	return nil
}
