package cluster

import (
	"context"
	"errors"
	"sync"

	"github.com/apilab/apilab/cluster/observe"
)

// A WarmUp says how far the making of clusters ahead is that somebody asked for. Its zero value: nobody has.
type WarmUp struct {
	Wanted   int    `json:"wanted"`
	Ready    int    `json:"ready"`    // of them, with those that learners claimed meanwhile: they are not replaced
	UnderWay bool   `json:"underWay"` // else it has ended, with all that were wanted or for the reason
	Reason   string `json:"reason,omitempty"`
}

// warming is the one warm-up of a Manager.
type warming struct {
	told observe.Value[WarmUp]

	mu     sync.Mutex
	ctx    context.Context
	cancel context.CancelCauseFunc
	left   int // to be made
}

var errGivenUp = errors.New("it was given up")

// StartWarmUp makes as many clusters ahead as the pool lacks to n, and does not wait for them. It goes on when whoever
// asked has left. There is one warm-up at a time: a call for more than it makes raises its number, one for as many or
// fewer joins it. When a cluster cannot be made, those that are ready stay, and the others are given up.
//
// Who calls it: the instructor's page, as "warm up now for N learners", N being the members of the class without a
// cluster. Each such page follows it with FollowWarmUp, and begins with how far it is.
func (m *Manager) StartWarmUp(n int) {
	w := &m.warming
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.told.Get()
	more := n - now.Wanted
	if !now.UnderWay {
		now = WarmUp{Ready: min(n, m.pool.size())}
		more = n - now.Ready
		w.ctx, w.cancel = context.WithCancelCause(m.life)
	}
	if more <= 0 && now.UnderWay {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	w.left += more
	now.Wanted, now.UnderWay = n, w.left > 0
	w.told.Set(now)
	for range more {
		ctx := w.ctx
		m.running.Go(func() { w.made(m.makeAhead(ctx)) })
	}
}

// StopWarmUp gives up what is not ready yet.
func (m *Manager) StopWarmUp() {
	w := &m.warming
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil {
		w.cancel(errGivenUp)
	}
}

// FollowWarmUp calls fn with how far the warm-up is and then at each change, in order and never concurrently.
func (m *Manager) FollowWarmUp(fn func(WarmUp)) (stop func()) { return m.warming.told.Follow(fn) }

// made counts a cluster that was to be made. The first that could not be ends the others.
func (w *warming) made(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left--
	w.told.Update(func(now WarmUp) WarmUp {
		if err == nil {
			now.Ready++
		} else if now.Reason == "" {
			now.Reason = err.Error()
			if cause := context.Cause(w.ctx); cause != nil {
				now.Reason = cause.Error()
			}
		}
		now.UnderWay = w.left > 0
		return now
	})
	if err != nil {
		w.cancel(err)
	}
}
