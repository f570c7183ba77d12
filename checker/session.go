// Package checker judges exercises: it evaluates their checks against a learner's cluster, requests and answers, the
// moment one of them changes. It knows nothing of browsers, and runs scripts only through the Runner that it is given.
package checker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/gateway"
)

// Errors that callers tell apart.
var (
	ErrClosed    = errors.New("the session is closed")
	ErrNotOpen   = errors.New("the exercise is not open")
	ErrNoCheck   = errors.New("the exercise has no such check")
	ErrNoHint    = errors.New("the check has no more hints")
	ErrNoAnswer  = errors.New("the check takes no answer")
	ErrBadAnswer = errors.New("the answer cannot be taken")
	ErrSetup     = errors.New("the exercise could not be set up")
)

// Identity is who runs a script.
type Identity int

// The identities.
const (
	Platform Identity = iota // all rights, not recorded
	Learner                  // as if typed by the learner
)

// A Runner runs a shell script in the learner's sandbox and returns its standard output and error in one. The error is
// of a script that could not run or that ended with a status other than 0.
type Runner func(ctx context.Context, who Identity, script string) (output string, err error)

// Records are the learner's requests; implemented by *gateway.Recorder.
type Records interface {
	Subscribe(fn func(gateway.Record)) (stop func())
	Records() []gateway.Record
}

// Options of a Session.
type Options struct {
	Learner string       // for the log
	Config  *rest.Config // the platform's own access to the cluster
	Records Records      // nil: no request is ever seen
	Run     Runner
	Logger  *slog.Logger // nil: the default one
}

// A Session judges the open exercises of one learner in one cluster, from when it was made or reset until the next
// reset. All its state belongs to one goroutine; every exported method may be called from any.
type Session struct {
	run     Runner
	logger  *slog.Logger
	records Records
	client  *watch.Client
	http    *http.Client
	initErr error // why there is no client

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	queue  *queue
	tasks  sync.WaitGroup // goroutines of the session beside the loop
	loop   chan struct{}  // closed when the loop has ended
	setups chan struct{}  // holds one token: scripts of a session run one at a time

	// The loop's own.
	open        map[string]*opened
	stores      map[watch.Scope]*store
	requests    requests
	stopRecords func()
	subscribers []*subscriber
	versions    []*versionSubscriber
	newest      string
	told        string // newest version that subscribers know

	mu        sync.Mutex // guards what follows; written by the loop only
	published map[string]snapshot
	order     []string // IDs in the order of opening
	version   string
}

type snapshot struct {
	state ExerciseState
	saved Saved
}

type subscriber struct{ fn func(ExerciseState) }
type versionSubscriber struct{ fn func(string) }

// NewSession starts a session. It follows nothing until an exercise is opened.
func NewSession(o Options) *Session {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	s := &Session{
		run: o.Run, records: o.Records, logger: o.Logger.With("learner", o.Learner),
		queue: newQueue(), loop: make(chan struct{}), setups: make(chan struct{}, 1),
		open: map[string]*opened{}, stores: map[watch.Scope]*store{}, published: map[string]snapshot{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.client, s.http, s.initErr = connect(o.Config, s.logger)
	go s.serve()
	if s.records != nil {
		s.followRecords()
	}
	return s
}

func connect(config *rest.Config, logger *slog.Logger) (*watch.Client, *http.Client, error) {
	if config == nil {
		return nil, nil, errors.New("connect to the cluster: no configuration")
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // one list and one watch per scope: nothing to hold back
	config.UserAgent = "apilab-checker"
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	objects, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	resources, err := discovery.NewDiscoveryClientForConfigAndClient(config, client)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return &watch.Client{Dynamic: objects, Resources: watch.NewResources(objects, resources, logger), Logger: logger}, client, nil
}

// serve is the loop: it does what is queued, and then tells subscribers what came of it.
func (s *Session) serve() {
	defer close(s.loop)
	for {
		select {
		case <-s.ctx.Done():
			s.shutdown()
			return
		case <-s.queue.ready:
		}
		for _, fn := range s.queue.take() {
			fn()
		}
		s.publish()
	}
}

// do runs fn in the loop and waits for it.
func (s *Session) do(ctx context.Context, fn func() error) error {
	result := make(chan error, 1)
	if !s.queue.push(func() { result <- fn() }) {
		return ErrClosed
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ctx.Done():
		return ErrClosed
	}
}

// task runs fn in a goroutine that Close waits for. Called by the loop.
func (s *Session) task(fn func(ctx context.Context)) { s.tasks.Go(func() { fn(s.ctx) }) }

// Close ends all watches, probes and scripts and waits for them. Subscribers hear nothing more.
func (s *Session) Close() {
	s.cancel()
	<-s.loop
	s.tasks.Wait()
	if s.client != nil {
		s.client.Resources.Close()
		s.http.CloseIdleConnections()
	}
}

func (s *Session) shutdown() {
	s.queue.close()
	if s.stopRecords != nil {
		s.stopRecords()
	}
	for _, st := range s.stores {
		st.stop()
	}
}

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

// clusterUID tells clusters apart: that of the namespace that every cluster has and nobody can delete.
func (s *Session) clusterUID(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	ns, err := s.client.Dynamic.Resource(namespaces).Get(ctx, "kube-system", metav1.GetOptions{})
	if err != nil {
		s.logger.Debug("cluster not identified", "error", err)
		return ""
	}
	return string(ns.GetUID())
}

// lookup returns an open exercise and, if checkID is not empty, its check. Called by the loop.
func (s *Session) lookup(id, checkID string) (*opened, *check, error) {
	o := s.open[id]
	if o == nil {
		return nil, nil, fmt.Errorf("%w: %s", ErrNotOpen, id)
	}
	if checkID == "" {
		return o, nil, nil
	}
	for _, c := range o.checks {
		if c.spec.ID == checkID {
			return o, c, nil
		}
	}
	return nil, nil, fmt.Errorf("%w: %s", ErrNoCheck, checkID)
}

// RevealSolution returns the solution and records that it was shown.
func (s *Session) RevealSolution(id string) (string, error) {
	var solution string
	err := s.do(s.ctx, func() error {
		o, _, err := s.lookup(id, "")
		if err != nil {
			return err
		}
		solution = o.spec.Solution
		o.saved.Solution = true
		o.dirty = true
		return nil
	})
	return solution, err
}

// Hint tells one more of the check's hints, those that have no condition, in their order.
func (s *Session) Hint(id, checkID string) error {
	return s.do(s.ctx, func() error {
		o, c, err := s.lookup(id, checkID)
		if err != nil {
			return err
		}
		if c.told >= len(c.hints) {
			return ErrNoHint
		}
		c.told++
		c.touch(o)
		return nil
	})
}

// maxAnswer bounds what a learner may type, in bytes.
const maxAnswer = 4 << 10

// Answer takes what the learner typed or picked. Of a probe it takes anything, and runs the probe again.
func (s *Session) Answer(ctx context.Context, id, checkID, value string) error {
	value = strings.TrimSpace(value)
	if len(value) > maxAnswer {
		return fmt.Errorf("%w: it is longer than %d bytes", ErrBadAnswer, maxAnswer)
	}
	return s.do(ctx, func() error {
		o, c, err := s.lookup(id, checkID)
		if err != nil {
			return err
		}
		if o.phase != Open {
			return fmt.Errorf("%w: %s is being prepared", ErrNotOpen, id)
		}
		answered, ok := c.judge.(answerable)
		if !ok {
			return ErrNoAnswer
		}
		if err := answered.answer(value); err != nil {
			return err
		}
		if _, isProbe := c.judge.(*probeJudge); !isProbe {
			c.answered = value
			c.touch(o)
		}
		s.evaluate(o, c)
		return nil
	})
}

// Open opens an exercise: runs its setup unless saved says that this cluster has it, and judges its checks from then on.
// It returns when the exercise is open or its setup failed (ErrSetup; the state says why), or with ctx's error, while
// opening goes on. Opening an open exercise waits for it; a changed one is opened anew with what was saved.
func (s *Session) Open(ctx context.Context, exercise *exercises.Exercise, saved Saved) error {
	if s.initErr != nil {
		return s.initErr
	}
	var o *opened
	err := s.do(ctx, func() error {
		if o = s.open[exercise.ID]; o != nil && o.spec == exercise {
			return nil
		}
		if o != nil {
			saved = o.save()
			s.drop(o)
		} else {
			s.mu.Lock()
			s.order = append(s.order, exercise.ID)
			s.mu.Unlock()
		}
		o = newOpened(s, exercise, saved.clone())
		s.open[exercise.ID] = o
		s.prepare(o, false)
		return nil
	})
	if err != nil {
		return err
	}
	return s.await(ctx, o)
}

// await waits until the exercise is prepared.
func (s *Session) await(ctx context.Context, o *opened) error {
	for {
		var prepared chan struct{}
		err := s.do(ctx, func() error {
			switch {
			case s.open[o.spec.ID] != o:
				return fmt.Errorf("%w: %s", ErrNotOpen, o.spec.ID)
			case o.phase == Error:
				return fmt.Errorf("%w: %s", ErrSetup, o.err)
			case o.phase == Preparing:
				prepared = o.prepared
			}
			return nil
		})
		if err != nil || prepared == nil {
			return err
		}
		select {
		case <-prepared:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.ctx.Done():
			return ErrClosed
		}
	}
}

// Reset takes an exercise back to its beginning: its reset and setup run, what passed and was answered is forgotten. It
// returns as Open does.
func (s *Session) Reset(ctx context.Context, id string) error {
	var o *opened
	err := s.do(ctx, func() error {
		var err error
		if o, _, err = s.lookup(id, ""); err != nil {
			return err
		}
		o.forget()
		s.prepare(o, true)
		return nil
	})
	if err != nil {
		return err
	}
	return s.await(ctx, o)
}

// CloseExercise stops judging an exercise, and watching what only it watched.
func (s *Session) CloseExercise(id string) error {
	return s.do(s.ctx, func() error {
		o, _, err := s.lookup(id, "")
		if err != nil {
			return err
		}
		s.drop(o)
		delete(s.open, id)
		s.mu.Lock()
		s.order = slices.DeleteFunc(s.order, func(other string) bool { return other == id })
		s.mu.Unlock()
		o.phase = Closed
		s.tell(o.snapshot())
		return nil
	})
}
