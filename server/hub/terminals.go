package hub

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/apilab/apilab/server/protocol"
)

const (
	maxTerminals = 8    // running ones of a learner
	maxKept      = 16   // with those that have exited, whose output can still be read
	maxCells     = 1000 // columns or rows
	maxSizes     = 64   // of a terminal that are remembered
	// lookPause bounds how often the list of terminals is looked at while one is in use.
	lookPause = 150 * time.Millisecond
)

// A Shell is a program on a pseudo-terminal; a *shell.Terminal is one. Its methods are safe for concurrent use.
type Shell interface {
	// Write takes input of a writer from an offset of its own count, without what was taken before. acked is less than
	// the end of p where the program does not read: the rest is to be written again. It does not wait.
	Write(writer string, offset uint64, p []byte) (acked uint64, err error)
	// Read waits for output beyond from. What it returns begins at start, later than from where older output is no
	// longer kept. io.EOF: the program has exited and all was read.
	Read(ctx context.Context, from uint64, limit int) (start uint64, p []byte, err error)
	Acked(writer string) uint64
	Resize(cols, rows int) error
	Close() error
	Done() <-chan struct{}
	Busy() bool
	Title() string
}

// A Terminal is a shell that pages show.
type Terminal struct {
	Shell
	ID uint32

	mu    sync.Mutex
	seen  uint64                  // end of the output that some page has read
	sizes []protocol.TerminalSize // in the order of their offsets; there is at least one
}

func newTerminal(id uint32, s Shell, size Size) *Terminal {
	return &Terminal{Shell: s, ID: id, sizes: []protocol.TerminalSize{{Cols: size.Cols, Rows: size.Rows}}}
}

// Read is the shell's; it remembers how far pages have read.
func (t *Terminal) Read(ctx context.Context, from uint64, limit int) (start uint64, p []byte, err error) {
	start, p, err = t.Shell.Read(ctx, from, limit)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) > 0 {
		t.seen = max(t.seen, start+uint64(len(p)))
	}
	return start, p, err
}

// Resume returns where a page goes on that wants the output from an offset: later where that is no longer kept. Before
// seen lies what other pages have shown.
func (t *Terminal) Resume(ctx context.Context, from uint64) (start, seen uint64, err error) {
	t.mu.Lock()
	seen = t.seen
	t.mu.Unlock()
	if from >= seen {
		return seen, seen, nil
	}
	start, _, err = t.Shell.Read(ctx, from, 1) // it need not wait: others have read what is there
	return start, max(start, seen), err
}

// Resize is the shell's; it remembers which output was made for which size, for the pages that draw it again: what
// moves the cursor over lines that wrapped is right in no other width.
func (t *Terminal) Resize(cols, rows int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := &t.sizes[len(t.sizes)-1]
	if last.Cols == cols && last.Rows == rows {
		return nil
	}
	if err := t.Shell.Resize(cols, rows); err != nil {
		return err
	}
	if last.At == t.seen {
		last.Cols, last.Rows = cols, rows
		return nil
	}
	t.sizes = append(t.sizes, protocol.TerminalSize{At: t.seen, Cols: cols, Rows: rows})
	t.sizes = slices.Delete(t.sizes, 0, max(0, len(t.sizes)-maxSizes))
	return nil
}

// Sizes are those of the output from an offset on; the last one is the size that the terminal has.
func (t *Terminal) Sizes(from uint64) []protocol.TerminalSize {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := len(t.sizes) - 1
	for first > 0 && t.sizes[first].At > from {
		first--
	}
	return slices.Clone(t.sizes[first:])
}

func (t *Terminal) size() Size {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.sizes[len(t.sizes)-1]
	return Size{last.Cols, last.Rows}
}

// Size of a terminal, in character cells.
type Size struct{ Cols, Rows int }

func (s Size) check() error {
	if s.Cols < 1 || s.Rows < 1 || s.Cols > maxCells || s.Rows > maxCells {
		return fmt.Errorf("a terminal of %d columns and %d rows: both must be from 1 to %d", s.Cols, s.Rows, maxCells)
	}
	return nil
}

func (t *Terminal) exited() bool {
	select {
	case <-t.Done():
		return true
	default:
		return false
	}
}

func (t *Terminal) end() { _ = t.Close() } // an error is of one that has exited already

// OpenTerminal starts a shell and returns the terminal's number.
func (h *Hub) OpenTerminal(size Size) (uint32, error) {
	if err := size.check(); err != nil {
		return 0, err
	}
	h.mu.Lock()
	running := h.openingTerminals
	for _, t := range h.terminals {
		if !t.exited() {
			running++
		}
	}
	if running >= maxTerminals {
		h.mu.Unlock()
		return 0, fmt.Errorf("%d terminals are open, which is the most there can be; close one first", running)
	}
	h.openingTerminals++
	h.lastID++
	id := h.lastID
	h.mu.Unlock()

	opened, err := h.o.Shell(h.ctx, size, h.edit)

	h.mu.Lock()
	defer h.mu.Unlock()
	h.openingTerminals--
	if err != nil {
		h.log.Error("open a terminal", "error", err)
		return 0, fmt.Errorf("open a terminal: %w", err)
	}
	t := newTerminal(id, opened, size)
	if !h.spawn(func() {
		select {
		case <-t.Done():
			h.TerminalUsed()
		case <-h.ctx.Done():
		}
	}) {
		go t.end()
		return 0, context.Canceled
	}
	h.terminals = append(h.terminals, t)
	h.dropExited()
	h.tellTerminals()
	return id, nil
}

// dropExited forgets the oldest terminals that have exited where there are too many; mu is held.
func (h *Hub) dropExited() {
	for len(h.terminals) > maxKept {
		i := slices.IndexFunc(h.terminals, (*Terminal).exited)
		if i < 0 {
			return
		}
		h.terminals = slices.Delete(slices.Clone(h.terminals), i, i+1)
	}
}

// Terminal returns the terminal with this number.
func (h *Hub) Terminal(id uint32) (*Terminal, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.indexOf(id)
	if i < 0 {
		return nil, fmt.Errorf("there is no terminal %d; it was closed, or apilab was started anew", id)
	}
	return h.terminals[i], nil
}

// indexOf finds a terminal, -1 if there is none; mu is held.
func (h *Hub) indexOf(id uint32) int {
	return slices.IndexFunc(h.terminals, func(t *Terminal) bool { return t.ID == id })
}

// ResizeTerminal sets the size that the terminal's programs see.
func (h *Hub) ResizeTerminal(id uint32, size Size) error {
	if err := size.check(); err != nil {
		return err
	}
	t, err := h.Terminal(id)
	if err != nil {
		return err
	}
	if err := t.Resize(size.Cols, size.Rows); err != nil {
		return err
	}
	h.TerminalUsed() // observers draw it in its size
	return nil
}

// CloseTerminal ends a terminal with all that runs in it, and forgets its output.
func (h *Hub) CloseTerminal(id uint32) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.indexOf(id)
	if i < 0 {
		return nil // two pages may close the same one
	}
	closed := h.terminals[i]
	h.terminals = slices.Delete(slices.Clone(h.terminals), i, i+1)
	h.spawn(closed.end)
	h.tellTerminals()
	return nil
}

// TerminalUsed says that a terminal took input, put out something, or ended: its entry in the list may have changed.
func (h *Hub) TerminalUsed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.looking || h.closed {
		return
	}
	h.looking = true
	time.AfterFunc(lookPause, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.looking = false
		h.tellTerminals()
	})
}

// tellTerminals sends the list if it has changed; mu is held.
func (h *Hub) tellTerminals() {
	h.occupy()
	list := h.terminalList()
	if slices.Equal(list, h.listed) {
		return
	}
	h.listed = list
	h.broadcast("terminals", protocol.Terminals{Terminals: list})
	h.report(nil, false)
}

// terminalList is the list as the pages show it; mu is held.
func (h *Hub) terminalList() []protocol.Terminal {
	list := make([]protocol.Terminal, 0, len(h.terminals))
	for _, t := range h.terminals {
		exited := t.exited()
		size := t.size()
		list = append(list, protocol.Terminal{
			ID: t.ID, Title: t.Title(), Busy: !exited && t.Busy(), Exited: exited, Cols: size.Cols, Rows: size.Rows})
	}
	return list
}
