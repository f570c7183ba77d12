package shell

import (
	"context"
	"errors"
	"time"
)

// Options of a shell.
type Options struct {
	Home        string            // the learner's real folder; made if it is missing
	Ports       string            // folder of unix sockets PORT.sock: the learner's localhost; made if it is missing
	Kubeconfig  []byte            // decides whose identity kubectl has
	GatewayAddr string            // HOST:PORT of the learner's API server, the only one that can be reached
	Cols, Rows  int               // of the terminal, 0 means 80×24
	Host        bool              // run the user's own $SHELL, without any sandbox
	Env         map[string]string // further variables
	Executable  string            // this program; os.Executable() if empty
	Quota       int64             // bytes that the home may hold, 0 means 256 MiB
	Started     func(pid int)     // called with each process of a shell before it can start others; nil: nobody wants to know
	// OnEdit is called when a program wants a text edited by the learner. ctx ends when that program has.
	// Nil means that there is no editor.
	OnEdit func(ctx context.Context, e Edit) (saved bool, text string, err error)

	// Ended is called by Run as its script ends and leaves jobs running; their shell then lives until they end or ctx does,
	// and Run returns no error for that. Without it the jobs end with the script. It may not block.
	Ended func(exit int)

	noLandlock bool // for tests: what is closed by construction has to hold alone
}

// Edit is a text that a program wants edited.
type Edit struct {
	Name     string `json:"name"`     // of the file, without folders
	Text     string `json:"text"`     //
	Language string `json:"language"` // "yaml", "json", "shell" or ""
}

// Errors of a Terminal.
var (
	ErrClosed = errors.New("the terminal is closed")
)

const (
	defaultQuota = 256 << 20
	maxEdit      = 2 << 20         // bytes of a text that is edited
	stopTime     = 2 * time.Second // from asking a shell to end to killing it
	maxScript    = 8 << 20         // bytes of a script of Run
	memoryLimit  = 192 << 20       // bytes of heap in a shell's process, beyond which its command is stopped
	dataLimit    = 1 << 30         // bytes of private memory of a shell's or kubectl's process; each begins with less than 100 MiB
)
