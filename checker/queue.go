package checker

import "sync"

// A queue hands work to the session's one goroutine. It has no bound, as watches and the gateway must not be held up;
// what is in it is small, and done in microseconds.
type queue struct {
	mu     sync.Mutex
	work   []func()
	closed bool
	ready  chan struct{} // holds one token when there may be work
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1)} }

// push adds work; it reports false, and drops the work, when the queue is closed.
func (q *queue) push(fn func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.work = append(q.work, fn)
	select {
	case q.ready <- struct{}{}:
	default:
	}
	return true
}

// take returns all that is waiting, in order.
func (q *queue) take() []func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	work := q.work
	q.work = nil
	return work
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.work = nil
}
