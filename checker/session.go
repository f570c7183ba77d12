// Package checker judges exercises: it evaluates their checks against a learner's cluster, requests and answers, the
// moment one of them changes. It knows nothing of browsers, and runs scripts only through the Runner that it is given.
package checker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/checker/simulation"
	"github.com/apilab/apilab/checker/watch"
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
	// controllers are those that open exercises declare.
	controllers *simulation.Simulation

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
	if s.initErr == nil {
		s.controllers = simulation.New(o.Config, s.client.Resources, s.logger)
	}
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
	for _, o := range s.open {
		o.stopControllers()
	}
}
