package browser

import (
	"context"
	"sync"
)

// A State guards what a page has heard, and lets others wait for it. The zero value works.
type State struct {
	mu      sync.Mutex
	changed chan struct{} // closed at the next change; nil while nobody waits
}

// Change runs edit with the lock held, and wakes who waits.
func (s *State) Change(edit func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit()
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Until waits until holds, which runs with the lock held, is true or fails.
func (s *State) Until(ctx context.Context, holds func() (bool, error)) error {
	for {
		s.mu.Lock()
		done, err := holds()
		if done || err != nil {
			s.mu.Unlock()
			return err
		}
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
