package process

import (
	"bytes"
	"strings"
	"sync"
)

// maxLine bounds what is kept of one line, in bytes.
const maxLine = 1000

// A Tail is a writer that keeps the last lines written to it.
type Tail struct {
	mu    sync.Mutex
	max   int
	lines []string
	part  []byte
	each  func(string)
}

// NewTail returns a Tail that keeps at most max lines and, if each is not nil, calls it with every line.
func NewTail(max int, each func(string)) *Tail { return &Tail{max: max, each: each} }

// Write implements io.Writer; it never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	for {
		line, rest, found := bytes.Cut(p, []byte("\n"))
		t.part = append(t.part, line[:min(len(line), maxLine-min(maxLine, len(t.part)))]...)
		if !found {
			return n, nil
		}
		t.add()
		p = rest
	}
}

// Flush takes an unfinished line for a whole one.
func (t *Tail) Flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.part) > 0 {
		t.add()
	}
}

func (t *Tail) add() {
	line := strings.TrimRight(strings.ToValidUTF8(string(t.part), "?"), "\r ")
	t.part = t.part[:0]
	if line == "" {
		return
	}
	if len(t.lines) == t.max {
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, line)
	if t.each != nil {
		t.each(line)
	}
}

// Lines returns the lines kept, oldest first.
func (t *Tail) Lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.lines...)
}
