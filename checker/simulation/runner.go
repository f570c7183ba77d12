package simulation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
)

// A runner is one controller at work. All its state belongs to one goroutine, which also makes its requests, one after
// the other.
type runner struct {
	*exercises.Controller
	client   *watch.Client
	selector labels.Selector
	caches   map[watch.Scope]*cache
	sets     []set
	objects  map[types.UID]*primary
	report   func(string)
	reported string
	// statusless are the resources that turned out to have no status subresource.
	statusless map[string]bool

	ctx    context.Context
	cancel context.CancelFunc
	tasks  sync.WaitGroup
	inbox  inbox
	busy   atomic.Bool
}

// A set is a variable of the controller's expressions.
type set struct {
	name     string
	cache    *cache
	selector labels.Selector
	object   string // its name; empty: all
	owned    bool   // only what the primary owns
}

// A primary is what is remembered of a primary object between two looks at it.
type primary struct {
	stage    int       // that is about to act; -1: none
	due      time.Time // when it acts
	acts     int       // of the same stage without rest
	restless int       // acts of any stage without rest
	failures int       // in a row
	problem  string    // for the author
	applied  map[string]applied
	events   map[string]*event
	told     telling
}

func startRunner(controller *exercises.Controller, client *watch.Client, report func(string)) *runner {
	r := &runner{
		Controller: controller, client: client, report: report,
		caches: map[watch.Scope]*cache{}, objects: map[types.UID]*primary{}, statusless: map[string]bool{},
		inbox: inbox{ready: make(chan struct{}, 1)},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.busy.Store(true)
	r.selector = selector(controller.Selector)
	r.cache(watch.Scope{Resource: controller.For, Namespace: controller.Namespace})
	for _, name := range slices.Sorted(maps.Keys(controller.Owns)) {
		// What a namespaced primary owns is in its namespace.
		c := r.cache(watch.Scope{Resource: controller.Owns[name], Namespace: controller.Namespace})
		r.sets = append(r.sets, set{name: name, cache: c, selector: labels.Everything(), owned: true})
	}
	for _, name := range slices.Sorted(maps.Keys(controller.With)) {
		ref := controller.With[name]
		c := r.cache(watch.Scope{Resource: ref.Resource, Namespace: ref.Namespace})
		r.sets = append(r.sets, set{name: name, cache: c, selector: selector(ref.Selector), object: ref.Name})
	}
	for scope := range r.caches {
		r.tasks.Go(func() {
			r.client.Follow(r.ctx, scope, func(u watch.Update) {
				r.busy.Store(true)
				r.inbox.push(u)
			})
		})
	}
	r.tasks.Go(r.loop)
	return r
}

func selector(text string) labels.Selector {
	s, err := labels.Parse(text)
	if err != nil { // the loader lets none through
		return labels.Nothing()
	}
	return s
}

func (r *runner) cache(scope watch.Scope) *cache {
	if r.caches[scope] == nil {
		r.caches[scope] = newCache(scope)
	}
	return r.caches[scope]
}

// stop ends the controller and waits for it.
func (r *runner) stop() {
	r.cancel()
	r.tasks.Wait()
}

func (r *runner) loop() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.inbox.ready:
		case <-timer.C:
		}
		for _, u := range r.inbox.take() {
			r.caches[u.Scope].take(u)
		}
		next, pending := r.look()
		r.tell()
		if next == 0 {
			next = time.Hour
		}
		timer.Reset(next)
		if !pending && r.inbox.empty() {
			r.busy.Store(false)
			if !r.inbox.empty() { // came in between
				r.busy.Store(true)
			}
		}
	}
}

// look goes over all primary objects. It returns after how long to look again, 0 if only when something changes, and
// whether something is still to be done.
func (r *runner) look() (next time.Duration, pending bool) {
	for _, c := range r.caches {
		if c.state == watch.Syncing {
			return 0, true // nothing is judged on half of the state
		}
	}
	seen := map[types.UID]bool{}
	for _, object := range r.primaries() {
		seen[object.GetUID()] = true
		p := r.objects[object.GetUID()]
		if p == nil {
			p = &primary{stage: -1, applied: map[string]applied{}, events: map[string]*event{}}
			r.objects[object.GetUID()] = p
		}
		again := r.reconcile(p, object)
		if again == 0 {
			continue
		}
		if next == 0 || again < next {
			next = again
		}
		pending = pending || p.failures < patience && p.problem == ""
	}
	maps.DeleteFunc(r.objects, func(uid types.UID, _ *primary) bool { return !seen[uid] })
	return next, pending
}

// primaries returns the primary objects by namespace and name.
func (r *runner) primaries() []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	for _, object := range r.cache(watch.Scope{Resource: r.For, Namespace: r.Namespace}).list() {
		if r.selector.Matches(labels.Set(object.GetLabels())) {
			list = append(list, object)
		}
	}
	return list
}

// tell reports what is wrong with the first object of which something is.
func (r *runner) tell() {
	problem := ""
	for _, object := range r.primaries() {
		if p := r.objects[object.GetUID()]; p != nil && p.problem != "" {
			problem = cmp.Or(problem, fmt.Sprintf("the simulated controller %s, %s %s: %s", r.Name, object.GetKind(), object.GetName(), p.problem))
		}
	}
	if problem != r.reported {
		r.reported = problem
		r.report(problem)
	}
}

// An inbox holds what the watches saw. It has no bound, as a watch must not be held up.
type inbox struct {
	mu      sync.Mutex
	updates []watch.Update
	ready   chan struct{} // holds one token when there may be some
}

func (b *inbox) push(u watch.Update) {
	b.mu.Lock()
	b.updates = append(b.updates, u)
	b.mu.Unlock()
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

func (b *inbox) take() []watch.Update {
	b.mu.Lock()
	defer b.mu.Unlock()
	updates := b.updates
	b.updates = nil
	return updates
}

func (b *inbox) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.updates) == 0
}
