package checker

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	kwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/apilab/apilab/checker/watch"
)

// probeMark is the annotation of objects that a probe made: no check sees them.
const probeMark = "apilab.dev/probe"

// A store is what is known of one scope, for all checks of all open exercises that look at it. It belongs to the loop.
type store struct {
	scope    watch.Scope
	state    watch.State
	err      error
	resource watch.Resource
	version  string // newest seen
	objects  map[string]*unstructured.Unstructured
	sorted   []*unstructured.Unstructured // nil when objects changed since
	users    int
	stop     context.CancelFunc
	waiters  []*waiter
}

// A change of one object. Old is nil when it is new, New when it is gone.
type change struct {
	kind     kwatch.EventType
	new, old *unstructured.Unstructured
}

// object is the version that an event carries: of a deletion, the last one.
func (c change) object() *unstructured.Unstructured {
	if c.new != nil {
		return c.new
	}
	return c.old
}

// acquire returns the store of a scope, followed from now on if it was not. Called by the loop.
func (s *Session) acquire(scope watch.Scope) (st *store, isNew bool) {
	st, ok := s.stores[scope]
	if !ok {
		st = &store{scope: scope, objects: map[string]*unstructured.Unstructured{}}
		s.stores[scope] = st
		ctx, cancel := context.WithCancel(s.ctx)
		st.stop = cancel
		s.task(func(context.Context) {
			s.client.Follow(ctx, scope, func(u watch.Update) {
				s.queue.push(func() {
					if s.stores[scope] == st {
						s.update(st, u)
					}
				})
			})
		})
	}
	st.users++
	return st, !ok
}

func (s *Session) releaseStore(st *store) {
	if st.users--; st.users > 0 {
		return
	}
	st.stop()
	delete(s.stores, st.scope)
	for _, w := range st.waiters {
		w.done()
	}
}

// update takes what a watch saw and judges the checks that it may matter to.
func (s *Session) update(st *store, u watch.Update) {
	stateChanged := st.state != u.State && u.State != watch.Lost
	changes := st.apply(u)
	s.sawVersion(u.Version)
	if u.State == watch.Lost {
		return // what was seen last stays until there is news
	}
	// All judges hear of the changes before one judges: a check that passes makes those that need it look at the same state.
	var concerned []func()
	s.eachOpen(func(o *opened, c *check) {
		if !slices.Contains(c.stores, st) {
			return
		}
		matters := stateChanged || u.Listed
		for _, ch := range changes {
			matters = c.judge.changed(st, ch) || matters
		}
		if matters {
			concerned = append(concerned, func() { s.evaluate(o, c) })
		}
	})
	for _, evaluate := range concerned {
		evaluate()
	}
	st.wake()
}

// eachOpen calls fn for each check that is being judged.
func (s *Session) eachOpen(fn func(*opened, *check)) {
	for _, id := range s.order {
		if o := s.open[id]; o != nil && o.phase == Open {
			for _, c := range o.checks {
				fn(o, c)
			}
		}
	}
}

// apply takes over what was seen and returns what changed by it, in order.
func (st *store) apply(u watch.Update) []change {
	if u.State == watch.Lost && st.state == watch.Syncing {
		return nil
	}
	st.err = u.Err
	if u.State != watch.Lost {
		st.state = u.State
	}
	if u.Resource != (watch.Resource{}) {
		st.resource = u.Resource
	}
	var changes []change
	switch {
	case u.Listed:
		st.version = u.Version
		changes = st.replace(u.List)
	case u.State == watch.Unknown:
		changes = st.replace(nil)
	case u.Object != nil:
		changes = st.event(u.Event, u.Object)
	}
	if newer(u.Version, st.version) {
		st.version = u.Version
	}
	if len(changes) > 0 {
		st.sorted = nil
	}
	return changes
}

// replace takes a whole list, as after a watch that could not be resumed, and finds what happened in between.
func (st *store) replace(list []*unstructured.Unstructured) []change {
	var changes []change
	listed := map[string]*unstructured.Unstructured{}
	for _, object := range list {
		listed[keyOf(object)] = object
	}
	for key, old := range st.objects {
		if now, ok := listed[key]; !ok || now.GetUID() != old.GetUID() {
			delete(st.objects, key)
			changes = append(changes, change{kwatch.Deleted, nil, old})
		}
	}
	for _, object := range list {
		changes = append(changes, st.event(kwatch.Added, object)...)
	}
	slices.SortStableFunc(changes, func(a, b change) int {
		if newer(b.object().GetResourceVersion(), a.object().GetResourceVersion()) {
			return -1
		}
		if newer(a.object().GetResourceVersion(), b.object().GetResourceVersion()) {
			return 1
		}
		return 0
	})
	return changes
}

func (st *store) event(kind kwatch.EventType, object *unstructured.Unstructured) []change {
	if _, ours := object.GetAnnotations()[probeMark]; ours {
		return nil
	}
	key := keyOf(object)
	old := st.objects[key]
	if kind == kwatch.Deleted {
		if old == nil {
			return nil
		}
		delete(st.objects, key)
		return []change{{kwatch.Deleted, nil, object}}
	}
	if old != nil && old.GetUID() == object.GetUID() && !newer(object.GetResourceVersion(), old.GetResourceVersion()) {
		return nil // a replay: never back in time
	}
	st.objects[key] = object
	switch {
	case old == nil:
		return []change{{kwatch.Added, object, nil}}
	case old.GetUID() != object.GetUID():
		return []change{{kwatch.Deleted, nil, old}, {kwatch.Added, object, nil}}
	}
	return []change{{kwatch.Modified, object, old}}
}

func keyOf(object *unstructured.Unstructured) string {
	return object.GetNamespace() + "/" + object.GetName()
}

// list returns the objects that match, as values of an expression, by namespace and name.
func (st *store) list(selector labels.Selector, name string) []any {
	if st.sorted == nil {
		st.sorted = make([]*unstructured.Unstructured, 0, len(st.objects))
		for _, object := range st.objects {
			st.sorted = append(st.sorted, object)
		}
		slices.SortFunc(st.sorted, func(a, b *unstructured.Unstructured) int { return strings.Compare(keyOf(a), keyOf(b)) })
	}
	list := make([]any, 0, len(st.sorted))
	for _, object := range st.sorted {
		if (name == "" || object.GetName() == name) && selector.Matches(labels.Set(object.GetLabels())) {
			list = append(list, object.Object)
		}
	}
	return list
}

// named returns the object of that name, nil if there is none; in several namespaces, that of the first.
func (st *store) named(namespace, name string) *unstructured.Unstructured {
	if object, ok := st.objects[namespace+"/"+name]; ok {
		return object
	}
	var found *unstructured.Unstructured
	for _, object := range st.objects {
		if object.GetName() == name && (namespace == "" || object.GetNamespace() == "") {
			if found == nil || object.GetNamespace() < found.GetNamespace() {
				found = object
			}
		}
	}
	return found
}
