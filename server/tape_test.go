package server

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/store"
)

// tapeSize is how much output a tape keeps.
const tapeSize = 1 << 20

// tapeInput is how much input a tape takes at once.
const tapeInput = 30

// A tape is a terminal without a program: it keeps what tests put out, and what pages type. It stands at the seam of a
// process; the tests of the shell itself are elsewhere.
type tape struct {
	mu      sync.Mutex
	changed chan struct{} // closed at each change
	start   uint64        // offset of kept
	kept    []byte
	ended   bool
	done    chan struct{}

	typed   []byte
	writers map[string]uint64
	blocked bool // does not take input
	busy    bool
	size    hub.Size
	edit    hub.EditFunc
}

func newTape(size hub.Size, edit hub.EditFunc) *tape {
	return &tape{changed: make(chan struct{}), done: make(chan struct{}), writers: make(map[string]uint64), size: size, edit: edit}
}

// change runs fn with the lock held and wakes who waits.
func (t *tape) change(fn func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fn()
	close(t.changed)
	t.changed = make(chan struct{})
}

// put adds output.
func (t *tape) put(p []byte) {
	t.change(func() {
		t.kept = append(t.kept, p...)
		if over := len(t.kept) - tapeSize; over > 0 {
			t.kept = append([]byte(nil), t.kept[over:]...)
			t.start += uint64(over)
		}
	})
}

// until waits for a state of the tape.
func (t *tape) until(ctx context.Context, holds func() bool) error {
	for {
		t.mu.Lock()
		ok, changed := holds(), t.changed
		t.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (t *tape) input() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.typed)
}

func (t *tape) Write(writer string, offset uint64, p []byte) (acked uint64, err error) {
	t.change(func() {
		taken := t.writers[writer]
		end := min(offset+uint64(len(p)), taken+tapeInput)
		switch {
		case t.ended:
			err = errors.New("it has ended")
		case t.blocked || offset > taken:
		case end > taken:
			t.typed = append(t.typed, p[taken-offset:end-offset]...)
			t.writers[writer] = end
		}
		acked = t.writers[writer]
	})
	return acked, err
}

func (t *tape) Read(ctx context.Context, from uint64, max int) (start uint64, p []byte, err error) {
	if err := t.until(ctx, func() bool { return t.ended || t.start+uint64(len(t.kept)) > from }); err != nil {
		return from, nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	start = t.start + uint64(len(t.kept))
	if from < start {
		start = from
	}
	if start < t.start {
		start = t.start
	}
	p = t.kept[start-t.start:]
	if len(p) == 0 {
		return start, nil, io.EOF
	}
	return start, append([]byte(nil), p[:min(len(p), max)]...), nil
}

func (t *tape) Acked(writer string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.writers[writer]
}

func (t *tape) Resize(cols, rows int) error {
	t.change(func() { t.size = hub.Size{Cols: cols, Rows: rows} })
	return nil
}

func (t *tape) Close() error {
	t.change(func() {
		if !t.ended {
			t.ended = true
			close(t.done)
		}
	})
	return nil
}

func (t *tape) Done() <-chan struct{} { return t.done }

func (t *tape) Busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.busy
}

func (t *tape) Title() string { return "sh" }

// tapes opens tapes in place of shells; the test takes each from the channel.
func tapes(s *Server) <-chan *tape {
	opened := make(chan *tape, 64)
	s.shell = func(_ context.Context, _ store.Learner, size hub.Size, edit hub.EditFunc) (hub.Shell, error) {
		t := newTape(size, edit)
		opened <- t
		return t, nil
	}
	return opened
}
