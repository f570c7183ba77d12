package cluster

import (
	"context"
	"slices"
	"sync"
)

// A queue lets a number of starts go on at the same time. The others wait in the order in which they came; those that
// are nobody's yet wait behind those that a learner waits for.
type queue struct {
	mu      sync.Mutex
	free    int
	waiting []*place // empty while there is a free one
}

// A place is where one start stands in the queue.
type place struct {
	ahead bool // made ahead, for nobody yet
	turn  chan struct{}
	moved func(position int)
	at    int
}

// enter waits for a turn, which ends with leave. moved is told the place in the queue, 1 being the next, at each change;
// it must not block. When ctx ends the place is given up, and everyone behind moves up.
func (q *queue) enter(ctx context.Context, ahead bool, moved func(position int)) error {
	p := &place{ahead: ahead, turn: make(chan struct{}), moved: moved}
	q.mu.Lock()
	if q.free > 0 {
		q.free--
		q.mu.Unlock()
		return nil
	}
	i := len(q.waiting)
	if !ahead {
		if first := slices.IndexFunc(q.waiting, func(w *place) bool { return w.ahead }); first >= 0 {
			i = first
		}
	}
	q.waiting = slices.Insert(q.waiting, i, p)
	q.tell()
	q.mu.Unlock()

	select {
	case <-p.turn:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, p); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.tell()
	} else { // the turn came at the same moment
		q.next()
	}
	return context.Cause(ctx)
}

// leave ends a turn.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next()
}

// next gives a turn that has become free to who is first; mu is held.
func (q *queue) next() {
	if len(q.waiting) == 0 {
		q.free++
		return
	}
	close(q.waiting[0].turn)
	q.waiting = q.waiting[1:]
	q.tell()
}

// tell tells everyone who has moved; mu is held.
func (q *queue) tell() {
	for i, p := range q.waiting {
		if p.at != i+1 {
			p.at = i + 1
			p.moved(p.at)
		}
	}
}
