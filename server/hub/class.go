package hub

import (
	"github.com/apilab/apilab/server/protocol"
)

// SetClass says what the learner shares with their class; the observers in it are the hub's own. Only what changed is told.
func (h *Hub) SetClass(c protocol.Class) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.class = c
	h.tellClass()
}

// tellClass sends what the learner shares with their class; mu is held.
func (h *Hub) tellClass() {
	h.broadcast("class", h.classNow())
}

// classNow is what the learner shares with their class; mu is held.
func (h *Hub) classNow() protocol.Class {
	c := h.class
	c.Observers = h.observerList()
	if c.Messages == nil {
		c.Messages = []protocol.ClassMessage{}
	}
	if c.Closed == nil {
		c.Closed = []string{}
	}
	return c
}
