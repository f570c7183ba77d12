package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Request is a message from the page.
type Request struct {
	Type string
	ID   *uint64 // nil: no reply is wanted
	args json.RawMessage
}

// ParseRequest reads a text message as far as it takes to know its type.
func ParseRequest(message []byte) (Request, error) {
	var head struct {
		Type string  `json:"type"`
		ID   *uint64 `json:"id"`
	}
	if err := json.Unmarshal(message, &head); err != nil {
		return Request{}, fmt.Errorf("a message that is no JSON object of this protocol: %w", err)
	}
	if head.Type == "" {
		return Request{}, errors.New("a message without a type")
	}
	return Request{Type: head.Type, ID: head.ID, args: message}, nil
}

// Decode reads the fields of the request's type. Fields that args does not have are ignored, so that a newer page can
// talk to an older server.
func (r Request) Decode(args any) error {
	if err := json.Unmarshal(r.args, args); err != nil {
		return fmt.Errorf("%s: %w", r.Type, err)
	}
	return nil
}

// What the page sends along, by type of message.
type (
	// Exercise is sent with exercise.open, exercise.reset and exercise.solution.
	Exercise struct {
		Exercise string `json:"exercise"`
	}
	// Answer is sent with exercise.answer.
	Answer struct {
		Exercise string `json:"exercise"`
		Check    string `json:"check"`
		Value    string `json:"value"`
	}
	// Hint is sent with exercise.hint.
	Hint struct {
		Exercise string `json:"exercise"`
		Check    string `json:"check"`
	}
	// ClusterSwitch is sent with cluster.switch.
	ClusterSwitch struct {
		Backend string `json:"backend"`
	}
	// KubeconfigGet is sent with kubeconfig.
	KubeconfigGet struct {
		Renew bool `json:"renew"` // revoke those of before
	}
	// TerminalOpen is sent with term.open.
	TerminalOpen struct {
		Cols int `json:"cols"`
		Rows int `json:"rows"`
	}
	// TerminalAttach is sent with term.attach.
	TerminalAttach struct {
		Terminal uint32 `json:"terminal"`
		Writer   string `json:"writer"` // random, of one load of the page
		From     uint64 `json:"from"`   // offset of the output wanted; 0: the oldest kept
	}
	// TerminalResize is sent with term.resize.
	TerminalResize struct {
		Terminal uint32 `json:"terminal"`
		Cols     int    `json:"cols"`
		Rows     int    `json:"rows"`
	}
	// TerminalClose is sent with term.close.
	TerminalClose struct {
		Terminal uint32 `json:"terminal"`
	}
	// File is sent with file.read and file.delete.
	File struct {
		Path string `json:"path"`
	}
	// FileWrite is sent with file.write.
	FileWrite struct {
		Path    string `json:"path"`
		Text    string `json:"text"`
		Version string `json:"version"` // as read; empty: whatever is there
	}
	// EditorDone is sent with editor.done.
	EditorDone struct {
		Token string `json:"token"`
		Save  bool   `json:"save"`
		Text  string `json:"text"`
	}
	// None is sent with messages that need nothing more.
	None struct{}
)
