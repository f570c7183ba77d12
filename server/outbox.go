package server

import (
	"container/list"
	"strings"
	"sync"
)

// maxRequestsWaiting bounds the request records that wait for a slow page. Beyond it the oldest is dropped: they are
// an illustration, and the page sees by their numbers that one is missing.
const maxRequestsWaiting = 256

// An outbox holds the messages that wait to be sent to one page. It is bounded without ever blocking who sends: all
// messages are snapshots, so that a newer one takes the place of an older one with the same key, and a page that is slow
// sees fewer steps but ends up right. Terminals do not pass through it: their output is read as the page draws it.
type outbox struct {
	mu       sync.Mutex
	queue    list.List // of *letter
	byKey    map[string]*list.Element
	requests int           // letters that are request records
	wake     chan struct{} // holds one
}

type letter struct {
	key     string
	request bool
	message []byte
	sent    func() // may be nil
}

func newOutbox() *outbox {
	return &outbox{byKey: make(map[string]*list.Element), wake: make(chan struct{}, 1)}
}

// put queues a message, in place of one with the same key that still waits. It comes last: a reply that was queued
// between the two may hold an older state of the same thing.
func (o *outbox) put(l letter) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e := o.byKey[l.key]; e != nil {
		o.remove(e)
	}
	l.request = strings.HasPrefix(l.key, "request ")
	if l.request {
		o.requests++
	}
	for e := o.queue.Front(); e != nil && o.requests > maxRequestsWaiting; e = e.Next() {
		if e.Value.(*letter).request {
			o.remove(e)
			break
		}
	}
	e := o.queue.PushBack(&l)
	if l.key != "" {
		o.byKey[l.key] = e
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take returns the message that waits longest.
func (o *outbox) take() (letter, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.queue.Front()
	if e == nil {
		return letter{}, false
	}
	return o.remove(e), true
}

func (o *outbox) remove(e *list.Element) letter {
	l := o.queue.Remove(e).(*letter)
	if l.key != "" {
		delete(o.byKey, l.key)
	}
	if l.request {
		o.requests--
	}
	return *l
}
