package hub

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apilab/apilab/server/protocol"
)

const (
	maxTerminals = 8    // running ones of a learner
	maxKept      = 16   // with those that have exited, whose output can still be read
	maxCells     = 1000 // columns or rows
	// lookPause bounds how often the list of terminals is looked at while one is in use.
	lookPause = 150 * time.Millisecond
)

// A Terminal is a shell on a pseudo-terminal; a *shell.Terminal is one. Its methods are safe for concurrent use.
type Terminal interface {
	// Write takes input of a writer from an offset of its own count, without what was taken before.
	Write(writer string, offset uint64, p []byte) (acked uint64, err error)
	// Read waits for output beyond from. What it returns begins at start, later than from where older output is no
	// longer kept. io.EOF: the program has exited and all was read.
	Read(ctx context.Context, from uint64, max int) (start uint64, p []byte, err error)
	// Kept returns the offsets between which output can be read now.
	Kept() (start, end uint64)
	Acked(writer string) uint64
	Resize(cols, rows int) error
	Close() error
	Done() <-chan struct{}
	Busy() bool
	Title() string
}

// Size of a terminal, in character cells.
type Size struct{ Cols, Rows int }

func (s Size) check() error {
	if s.Cols < 1 || s.Rows < 1 || s.Cols > maxCells || s.Rows > maxCells {
		return fmt.Errorf("a terminal of %d columns and %d rows: both must be from 1 to %d", s.Cols, s.Rows, maxCells)
	}
	return nil
}

type terminal struct {
	Terminal
	id uint32
}

func (t *terminal) exited() bool {
	select {
	case <-t.Done():
		return true
	default:
		return false
	}
}

func (t *terminal) end() { _ = t.Close() } // of one that has exited already

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

	opened, err := h.o.Terminal(h.ctx, size, h.edit)

	h.mu.Lock()
	defer h.mu.Unlock()
	h.openingTerminals--
	if err != nil {
		h.log.Error("open a terminal", "error", err)
		return 0, fmt.Errorf("open a terminal: %w", err)
	}
	t := &terminal{Terminal: opened, id: id}
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
		i := slices.IndexFunc(h.terminals, (*terminal).exited)
		if i < 0 {
			return
		}
		h.terminals = slices.Delete(slices.Clone(h.terminals), i, i+1)
	}
}

// Terminal returns the terminal with this number.
func (h *Hub) Terminal(id uint32) (Terminal, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.indexOf(id)
	if i < 0 {
		return nil, fmt.Errorf("there is no terminal %d; it was closed, or apilab was started anew", id)
	}
	return h.terminals[i].Terminal, nil
}

// indexOf finds a terminal, -1 if there is none; mu is held.
func (h *Hub) indexOf(id uint32) int {
	return slices.IndexFunc(h.terminals, func(t *terminal) bool { return t.id == id })
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
	return t.Resize(size.Cols, size.Rows)
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
	list := h.terminalList()
	if slices.Equal(list, h.listed) {
		return
	}
	h.listed = list
	h.broadcast("terminals", protocol.Terminals{Terminals: list})
}

// terminalList is the list as the pages show it; mu is held.
func (h *Hub) terminalList() []protocol.Terminal {
	list := make([]protocol.Terminal, 0, len(h.terminals))
	for _, t := range h.terminals {
		exited := t.exited()
		list = append(list, protocol.Terminal{ID: t.id, Title: t.Title(), Busy: !exited && t.Busy(), Exited: exited})
	}
	return list
}
