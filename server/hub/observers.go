package hub

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/apilab/apilab/server/protocol"
)

// An Observer is an instructor's page that is sent what the learner's pages are sent. It may look at terminals, and type
// in them for as long as the learner allows it. Its state belongs to the hub, and is on the learner's pages.
type Observer struct {
	page   Page
	id     string
	name   string
	typing protocol.Typing
}

// Observe adds an instructor's page. It is no page of the learner's: it neither keeps the cluster awake nor counts as
// their presence.
func (h *Hub) Observe(p Page, name string) *Observer {
	o := &Observer{page: p, id: rand.Text(), name: name, typing: protocol.Looks}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.observers = append(slices.Clone(h.observers), o)
	hello := h.hello()
	hello.Observer = o.id
	h.sendTo(p, "", hello)
	h.tellClass()
	return o
}

// Unobserve removes an instructor's page, and with it the leave to type.
func (h *Hub) Unobserve(o *Observer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.observers = slices.DeleteFunc(slices.Clone(h.observers), func(other *Observer) bool { return other == o })
	h.tellClass()
}

// MayType tells whether the learner lets the observer type, now.
func (h *Hub) MayType(o *Observer) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return o.typing == protocol.Allowed
}

// AskToType asks the learner to let the observer type, or says that it is not needed any more.
func (h *Hub) AskToType(o *Observer, ask bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !ask:
		o.typing = protocol.Looks
	case len(h.pages) == 0:
		return errors.New("the learner has no page open: there is nobody to ask")
	case o.typing == protocol.Looks:
		o.typing = protocol.Asked
	}
	h.tellClass()
	return nil
}

// AllowTyping is the learner's answer, or their end of it. What nobody asked for cannot be allowed.
func (h *Hub) AllowTyping(observer string, allow bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.observers, func(o *Observer) bool { return o.id == observer })
	if i < 0 {
		return errors.New("whoever asked has left")
	}
	o := h.observers[i]
	switch {
	case !allow:
		o.typing = protocol.Looks
	case o.typing == protocol.Looks:
		return fmt.Errorf("%s does not ask to type any more", o.name)
	default:
		o.typing = protocol.Allowed
	}
	h.tellClass()
	return nil
}

// endTyping takes the leave to type back from all; mu is held. It is what becomes of it when no page shows it.
func (h *Hub) endTyping() {
	for _, o := range h.observers {
		o.typing = protocol.Looks
	}
}

// observerList is what pages show of the observers; mu is held.
func (h *Hub) observerList() []protocol.Observer {
	list := make([]protocol.Observer, len(h.observers))
	for i, o := range h.observers {
		list[i] = protocol.Observer{ID: o.id, Name: o.name, Typing: o.typing}
	}
	slices.SortStableFunc(list, func(a, b protocol.Observer) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
