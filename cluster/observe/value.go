// Package observe holds values that others follow as they change.
package observe

import "sync"

// A Value is a current state with followers. Its zero value is the zero T without followers.
type Value[T any] struct {
	mu        sync.Mutex
	current   T
	followers map[*follower[T]]struct{}
}

// Get returns the current value.
func (v *Value[T]) Get() T {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.current
}

// Set replaces the value and tells the followers.
func (v *Value[T]) Set(value T) {
	v.Update(func(T) T { return value })
}

// Update replaces the value by what change makes of it, and tells the followers. change must not use v.
func (v *Value[T]) Update(change func(T) T) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.current = change(v.current)
	for f := range v.followers {
		f.add(v.current)
	}
}

// Follow calls tell with the current value and then with each later one, in order and never concurrently, on a goroutine
// of its own. No call begins after stop has returned.
func (v *Value[T]) Follow(tell func(T)) (stop func()) {
	f := &follower[T]{tell: tell, wake: make(chan struct{}, 1), gone: make(chan struct{})}
	v.mu.Lock()
	if v.followers == nil {
		v.followers = map[*follower[T]]struct{}{}
	}
	v.followers[f] = struct{}{}
	f.add(v.current)
	v.mu.Unlock()
	go f.run()
	return func() {
		v.mu.Lock()
		delete(v.followers, f)
		v.mu.Unlock()
		f.stop()
	}
}

type follower[T any] struct {
	tell func(T)
	wake chan struct{}
	gone chan struct{}

	mu      sync.Mutex
	queue   []T
	stopped bool
}

func (f *follower[T]) add(value T) {
	f.mu.Lock()
	f.queue = append(f.queue, value)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *follower[T]) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.stopped {
		f.stopped = true
		close(f.gone)
	}
}

func (f *follower[T]) run() {
	for {
		select {
		case <-f.gone:
			return
		case <-f.wake:
		}
		for {
			value, ok := f.take()
			if !ok {
				break
			}
			f.tell(value)
		}
	}
}

func (f *follower[T]) take() (value T, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped || len(f.queue) == 0 {
		return value, false
	}
	value, f.queue = f.queue[0], f.queue[1:]
	return value, true
}
