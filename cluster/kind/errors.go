package kind

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors that the provider's methods wrap.
var (
	ErrNoEngine = errors.New("kind clusters need a container engine: install docker, podman or nerdctl, and start apilab again")
	ErrTaken    = errors.New("somebody else's kind cluster has that name")
	ErrGone     = errors.New("reset the cluster to get a new one")
	ErrVersion  = errors.New("the node image is of another Kubernetes version than the lessons")
	ErrInotify  = errors.New("the kernel has no inotify instances left for the node: `sudo sysctl -w fs.inotify.max_user_instances=8192`, then retry")
	ErrDiskFull = errors.New("the disk is full: free some space, then retry")
)

// A SilentError says that the engine did not answer in time.
type SilentError struct {
	Engine Engine
	After  time.Duration
}

func (e *SilentError) Error() string {
	return fmt.Sprintf("%s did not answer within %s: see whether `%s ps` works, and restart the engine if it does not", e.Engine, e.After, e.Engine)
}

// An EngineError is a command of the engine, or of kind in a node, that failed.
type EngineError struct {
	Command string // the engine and what it was to do, such as "podman run"
	Last    []string
	Exit    error
	Hint    error // one of the errors above, where the lines tell
}

// How much of what the engine said goes into a message.
const (
	shownLines = 6
	shownWidth = 300 // bytes
)

func newEngineError(engine Engine, args []string, output string, exit error) *EngineError {
	e := &EngineError{Command: string(engine), Last: telling(lines(output)), Exit: exit}
	if len(args) > 0 {
		e.Command = strings.TrimSpace(e.Command + " " + args[0])
	}
	if strings.Contains(output, "no space left on device") || strings.Contains(output, "disk quota exceeded") {
		e.Hint = ErrDiskFull
	}
	return e
}

// telling picks the lines that say what went wrong: those that are called errors, if there are any, else the last ones.
// kubeadm in a node prints hundreds of others.
func telling(all []string) []string {
	var errs []string
	for _, line := range all {
		lower := strings.ToLower(line)
		if strings.HasPrefix(lower, "error") || strings.Contains(lower, "[error") || strings.HasPrefix(lower, "fatal") {
			errs = append(errs, line)
		}
	}
	if len(errs) == 0 {
		errs = all
	}
	errs = errs[max(0, len(errs)-shownLines):]
	out := make([]string, len(errs))
	for i, line := range errs {
		if len(line) > shownWidth {
			line = strings.ToValidUTF8(line[:shownWidth], "") + " …"
		}
		out[i] = line
	}
	return out
}

// Error is one line on what happened, and what to do where that is known; what else was said follows on lines of its own.
func (e *EngineError) Error() string {
	var b strings.Builder
	if e.Hint != nil {
		fmt.Fprintf(&b, "%v: ", e.Hint)
	}
	b.WriteString(e.Command)
	if len(e.Last) == 0 {
		fmt.Fprintf(&b, ": %v", e.Exit)
	}
	for i, line := range e.Last {
		if i == 0 {
			b.WriteString(": " + line)
		} else {
			b.WriteString("\n  " + line)
		}
	}
	return b.String()
}

func (e *EngineError) Unwrap() error { return e.Hint }
