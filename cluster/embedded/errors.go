package embedded

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// Errors that Create and Adopt wrap.
var (
	ErrNewer      = errors.New("the cluster's data is of a newer version; update apilab, or reset the cluster")
	ErrUnreadable = errors.New("the cluster's data cannot be read; reset the cluster to get a new one")
	ErrMemory     = errors.New("the cluster took more memory than one learner's may; delete what you do not need, or reset it")
	ErrDiskFull   = errors.New("the disk is full; free some space, then retry")
)

// A DeathError tells of a control-plane process that ended when it should not have.
type DeathError struct {
	Phase string   // what it was doing, as wire.Phases names it; "" when it was ready
	Said  string   // the error that it reported itself, if it did
	Exit  error    // how the process ended; nil for exit code 0 or when it was ended by us
	Last  []string // the last lines of its log
	Hint  error    // one of the errors above, where the lines tell
}

// How much of the last lines goes into the message; the log has all of it.
const (
	shownLines = 8
	shownWidth = 300 // bytes
)

func newDeathError(phase, said string, exit error, last []string) *DeathError {
	text := said + "\n" + strings.Join(last, "\n")
	e := &DeathError{Phase: phase, Said: said, Exit: exit, Last: withoutStack(last)}
	switch {
	case strings.Contains(text, "no space left on device"), strings.Contains(text, "disk quota exceeded"):
		e.Hint = ErrDiskFull
	case phase == "etcd" && containsAny(text, "walpb:", "wal: ", "crc mismatch", "invalid database", "checksum", "snap: ", "failed to recover", "failed to find", "file already exists", "unexpected EOF", "page "):
		e.Hint = ErrUnreadable
	case phase == "etcd" && strings.Contains(text, "go.etcd.io/") && strings.Contains(text, ".go:"):
		e.Hint = ErrUnreadable // etcd panics on a store that it cannot make sense of
	}
	return e
}

// withoutStack leaves out the stacks of a panic, which only the log is for, if something else remains.
func withoutStack(lines []string) []string {
	for i, line := range lines {
		if i > 0 && strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, "]:") {
			return lines[:i]
		}
	}
	return lines
}

// transient reports whether a control plane ended by what says nothing about its data, so that a next try is as good as the
// first: a signal that was not ours (the system lacked memory, or a person ended it), or a hook of the API server that
// waited for less long than a busy machine takes, and ends the process then.
func transient(err error) bool {
	var death *DeathError
	if !errors.As(err, &death) || death.Hint != nil {
		return false
	}
	if slices.ContainsFunc(death.Last, func(line string) bool { return containsAny(line, "PostStartHook ") && containsAny(line, " failed: ") }) {
		return true
	}
	var exit *exec.ExitError
	if !errors.As(death.Exit, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

func containsAny(text string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// Error is one line on what happened and what to do, and then the last lines of the log.
func (e *DeathError) Error() string {
	var b strings.Builder
	b.WriteString("the control plane ended")
	if e.Phase != "" {
		fmt.Fprintf(&b, " in phase %q", e.Phase)
	}
	if e.Exit != nil {
		fmt.Fprintf(&b, " (%v)", e.Exit)
	}
	if e.Hint != nil {
		fmt.Fprintf(&b, ": %v", e.Hint)
	} else if e.Said != "" {
		fmt.Fprintf(&b, ": %s", e.Said)
	}
	lines := e.Last[max(0, len(e.Last)-shownLines):]
	if len(lines) > 0 {
		b.WriteString("\nlast lines of its log:")
	}
	for _, line := range lines {
		if len(line) > shownWidth {
			line = strings.ToValidUTF8(line[:shownWidth], "") + " …"
		}
		b.WriteString("\n  " + line)
	}
	return b.String()
}

func (e *DeathError) Unwrap() error { return e.Hint }
