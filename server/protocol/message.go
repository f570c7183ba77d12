package protocol

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/gateway"
)

// A Message goes to the page.
type Message interface{ kind() string }

// What the server tells the page.
type (
	// Hello is the first message of each connection: everything that the page draws.
	Hello struct {
		Version   string                  `json:"version"`
		Run       string                  `json:"run"` // names this run of the server: another one than before means that it was started again
		Learner   string                  `json:"learner"`
		Cluster   cluster.Status          `json:"cluster"`
		Terminals []Terminal              `json:"terminals"`
		Exercises []checker.ExerciseState `json:"exercises"`
		RV        string                  `json:"rv"`
		Shell     string                  `json:"shell"`    // "sandboxed" or "host"
		Backends  []string                `json:"backends"` // that the learner can switch to; the first is the default
		Class     Class                   `json:"class"`
		Observer  string                  `json:"observer,omitempty"` // ID of the observer that the page is; empty: it is the learner's
	}
	// Cluster comes on each change of the learner's cluster.
	Cluster struct {
		Status cluster.Status `json:"status"`
	}
	// RV is the newest resourceVersion seen in the cluster.
	RV struct {
		ResourceVersion string `json:"resourceVersion"`
	}
	// ExerciseChanged comes on each change of an open exercise.
	ExerciseChanged struct {
		State checker.ExerciseState `json:"state"`
	}
	// Requested is a request of the learner's, without bodies.
	Requested struct {
		Record gateway.Record `json:"record"`
	}
	// Terminals comes when the list of terminals changed.
	Terminals struct {
		Terminals []Terminal `json:"terminals"`
	}
	// Editor asks for the page's editor on behalf of a program in a terminal.
	Editor struct {
		Token    string `json:"token"`
		Name     string `json:"name"`
		Text     string `json:"text"`
		Language string `json:"language"`
	}
	// EditorGone says that the program which asked has ended.
	EditorGone struct {
		Token string `json:"token"`
	}
	// Notice is something that the learner should know.
	Notice struct {
		Level Level  `json:"level"`
		Text  string `json:"text"`
	}
	// ContentChanged says that an author changed the lessons: the page shows what they were.
	ContentChanged struct {
		Reload bool `json:"reload"` // the page is to load itself again; otherwise it offers that
	}
	// Reply answers the request with the same ID.
	Reply struct {
		ID    uint64 `json:"id"`
		OK    bool   `json:"ok"`
		Error string `json:"error,omitempty"`
		Value any    `json:"value,omitempty"`
	}
	// Bye says that the server stops.
	Bye struct {
		Reason string `json:"reason"`
	}
)

// A Level says how much a notice matters.
type Level string

// The levels of notices.
const (
	Info    Level = "info"
	Warning Level = "warning"
	Error   Level = "error"
)

// A Terminal is an entry in the list of terminals.
type Terminal struct {
	ID     uint32 `json:"id"`
	Title  string `json:"title"`
	Busy   bool   `json:"busy"` // a program runs in it
	Exited bool   `json:"exited"`
	Cols   int    `json:"cols"` // its size now
	Rows   int    `json:"rows"`
}

// Values of replies.
type (
	// Opened answers term.open.
	Opened struct {
		Terminal uint32 `json:"terminal"`
	}
	// Attached answers term.attach.
	Attached struct {
		From  uint64         `json:"from"`  // offset at which the output goes on
		Acked uint64         `json:"acked"` // input taken of this writer
		Gap   uint64         `json:"gap"`   // bytes of output that are no longer kept
		End   uint64         `json:"end"`   // of the output that some page has had: what lies before it is history
		Sizes []TerminalSize `json:"sizes"` // that the terminal had from From on, the last one is its size now
	}
	// TerminalSize is what a terminal's output was made for from an offset on.
	TerminalSize struct {
		At   uint64 `json:"at"`
		Cols int    `json:"cols"`
		Rows int    `json:"rows"`
	}
	// Solution answers exercise.solution.
	Solution struct {
		Solution string `json:"solution"`
	}
	// Kubeconfig answers kubeconfig.
	Kubeconfig struct {
		Text string `json:"text"`
	}
	// FileText answers file.read.
	FileText struct {
		Text    string `json:"text"`
		Version string `json:"version"`
	}
	// FileVersion answers file.write.
	FileVersion struct {
		Version string `json:"version"`
	}
	// FileInfo is an entry in the answer to files.list.
	FileInfo struct {
		Path     string    `json:"path"` // relative to the home folder, with slashes
		Size     int64     `json:"size"` // bytes
		Modified time.Time `json:"modified"`
		Dir      bool      `json:"dir"`
	}
)

func (Hello) kind() string           { return "hello" }
func (Cluster) kind() string         { return "cluster" }
func (RV) kind() string              { return "rv" }
func (ExerciseChanged) kind() string { return "exercise" }
func (Requested) kind() string       { return "request" }
func (Terminals) kind() string       { return "terminals" }
func (Editor) kind() string          { return "editor" }
func (EditorGone) kind() string      { return "editor.gone" }
func (Notice) kind() string          { return "notice" }
func (ContentChanged) kind() string  { return "content" }
func (Reply) kind() string           { return "reply" }
func (Bye) kind() string             { return "bye" }

// Encode returns the message as it goes over the wire.
func Encode(m Message) ([]byte, error) {
	fields, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode a message of type %s: %w", m.kind(), err)
	}
	// The type becomes the first field. All messages are structs with at least one more field that is always there.
	return append([]byte(`{"type":"`+m.kind()+`",`), fields[1:]...), nil
}
