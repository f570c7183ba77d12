package checker

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// publish tells subscribers of each exercise that changed, and of a newer version of the cluster.
func (s *Session) publish() {
	for _, id := range s.order {
		o := s.open[id]
		if o == nil || !o.dirty {
			continue
		}
		o.dirty = false
		s.tell(o.snapshot())
	}
	if s.newest != s.told {
		s.told = s.newest
		s.mu.Lock()
		s.version = s.newest
		s.mu.Unlock()
		for _, v := range slices.Clone(s.versions) {
			v.fn(s.newest)
		}
	}
}

func (s *Session) tell(snap snapshot) {
	s.mu.Lock()
	if snap.state.Phase == Closed {
		delete(s.published, snap.state.ID)
	} else {
		s.published[snap.state.ID] = snap
	}
	s.mu.Unlock()
	for _, sub := range slices.Clone(s.subscribers) {
		sub.fn(snap.state)
	}
}

// States returns the open exercises in the order in which they were opened.
func (s *Session) States() []ExerciseState {
	s.mu.Lock()
	defer s.mu.Unlock()
	states := make([]ExerciseState, 0, len(s.order))
	for _, id := range s.order {
		if snap, ok := s.published[id]; ok {
			states = append(states, snap.state)
		}
	}
	return states
}

// State returns the state of an open exercise.
func (s *Session) State(id string) (ExerciseState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, ok := s.published[id]
	return snap.state, ok
}

// Saved returns what is to be kept of an open exercise; in a subscriber's call it belongs to that state.
func (s *Session) Saved(id string) Saved {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.published[id].saved.clone()
}

// Subscribe calls fn with the state of each open exercise soon, and then with each change: in order, never concurrently,
// a full snapshot each time, one of phase closed at the end. fn must not block; it may call any method but Close and
// those that take a context. A call under way when stop is called may still be finishing when stop returns.
func (s *Session) Subscribe(fn func(ExerciseState)) (stop func()) {
	sub := &subscriber{fn}
	s.queue.push(func() {
		s.subscribers = append(s.subscribers, sub)
		for _, state := range s.States() {
			fn(state)
		}
	})
	return func() {
		s.queue.push(func() {
			s.subscribers = slices.DeleteFunc(s.subscribers, func(other *subscriber) bool { return other == sub })
		})
	}
}

// ResourceVersion returns the newest version seen in the cluster, "" before any.
func (s *Session) ResourceVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// SubscribeVersion calls fn with the newest version seen whenever there is a newer one; as Subscribe calls its fn.
func (s *Session) SubscribeVersion(fn func(string)) (stop func()) {
	sub := &versionSubscriber{fn}
	s.queue.push(func() {
		s.versions = append(s.versions, sub)
		if s.told != "" {
			fn(s.told)
		}
	})
	return func() {
		s.queue.push(func() {
			s.versions = slices.DeleteFunc(s.versions, func(other *versionSubscriber) bool { return other == sub })
		})
	}
}

func (s *Session) sawVersion(version string) {
	if newer(version, s.newest) {
		s.newest = version
	}
}

// newer reports whether a is a later resourceVersion than b: Kubernetes orders them since 1.35. One that is none is not newer.
func newer(a, b string) bool {
	if a == "" || a == "0" {
		return false
	}
	if b == "" {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}
