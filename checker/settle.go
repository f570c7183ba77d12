package checker

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apilab/apilab/checker/watch"
)

// Settle returns when every watch of the session has seen all that was committed before the call, every request
// recorded before it was judged, and no probe is running.
func (s *Session) Settle(ctx context.Context) error {
	for {
		var followed []*store
		var probes []chan struct{}
		err := s.do(ctx, func() error {
			for _, st := range s.stores {
				followed = append(followed, st)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := s.settle(ctx, nil, followed); err != nil {
			return err
		}
		err = s.do(ctx, func() error {
			for _, o := range s.open {
				for _, c := range o.checks {
					if p, ok := c.judge.(*probeJudge); ok && p.busy() != nil {
						probes = append(probes, p.busy())
					}
				}
			}
			return nil
		})
		if err != nil || len(probes) == 0 {
			return err
		}
		for _, done := range probes {
			select {
			case <-done:
			case <-ctx.Done():
				return ctx.Err()
			case <-s.ctx.Done():
				return ErrClosed
			}
		}
	}
}

// A waiter is told when its store has seen a state of the cluster, or cannot see it for a known reason.
type waiter struct {
	version string               // seen by then, or
	objects map[types.UID]string // exactly these in these versions
	first   bool                 // any list will do
	once    sync.Once
	reached chan struct{}
}

func (w *waiter) done() { w.once.Do(func() { close(w.reached) }) }

// settle waits until fresh stores have been listed, and followed ones have caught up with the cluster as of now.
func (s *Session) settle(ctx context.Context, fresh, followed []*store) error {
	var waiters []*waiter
	add := func(st *store, w *waiter) error {
		w.reached = make(chan struct{})
		waiters = append(waiters, w)
		return s.do(ctx, func() error {
			if s.stores[st.scope] != st {
				w.done()
				return nil
			}
			st.waiters = append(st.waiters, w)
			st.wake()
			return nil
		})
	}
	for _, st := range fresh {
		if err := add(st, &waiter{first: true}); err != nil {
			return err
		}
	}
	for _, st := range followed {
		w, err := s.now(ctx, st.scope)
		if err != nil {
			return err
		}
		if err := add(st, w); err != nil {
			return err
		}
	}
	for _, w := range waiters {
		select {
		case <-w.reached:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.ctx.Done():
			return ErrClosed
		}
	}
	return nil
}

// now reads a scope as it is. A quiet watch is not told of the version that the cluster came to, so what counts is to
// have either that version or the same objects.
func (s *Session) now(ctx context.Context, scope watch.Scope) (*waiter, error) {
	resource, err := s.client.Resources.Resolve(ctx, scope.Resource)
	if err != nil {
		return &waiter{first: true}, nil // the store knows as well, or will
	}
	w := &waiter{objects: map[types.UID]string{}}
	options := metav1.ListOptions{Limit: 500}
	for {
		page, err := s.client.On(resource, scope.Namespace).List(ctx, options)
		if err != nil {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("list %s: %w", scope, err)
			}
			return &waiter{first: true}, nil
		}
		for i := range page.Items {
			if _, ours := page.Items[i].GetAnnotations()[probeMark]; !ours {
				w.objects[page.Items[i].GetUID()] = page.Items[i].GetResourceVersion()
			}
		}
		w.version = page.GetResourceVersion()
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return w, nil
		}
	}
}

// wake tells the waiters that have what they wait for.
func (st *store) wake() {
	left := st.waiters[:0]
	for _, w := range st.waiters {
		if st.reached(w) {
			w.done()
		} else {
			left = append(left, w)
		}
	}
	st.waiters = left
}

func (st *store) reached(w *waiter) bool {
	switch st.state {
	case watch.Syncing:
		return false
	case watch.Unknown, watch.Forbidden:
		return true
	}
	if w.first || st.version == w.version || newer(st.version, w.version) {
		return true
	}
	if len(st.objects) != len(w.objects) {
		return false
	}
	for _, object := range st.objects {
		if w.objects[object.GetUID()] != object.GetResourceVersion() {
			return false
		}
	}
	return true
}
