// Package hub joins what belongs to one learner: their cluster, the checker's session on it, their terminals, files and
// progress, and the pages that show all this. Everything that a page draws is a snapshot: a page that comes gets the
// newest of each, and from then on each change. It knows nothing of HTTP, and survives its pages.
package hub

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/gateway"
	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/server/store"
)

// Clusters are the learners' clusters; a *cluster.Manager is one. A learner's cluster has the learner's ID.
type Clusters interface {
	Claim(ctx context.Context, id string) (cluster.Cluster, error)
	Get(id string) (cluster.Cluster, bool)
	Status(id string) cluster.Status
	Subscribe(id string, fn func(cluster.Status)) (stop func())
	Reset(ctx context.Context, id string) error
	Retry(ctx context.Context, id string) error
	Stop(ctx context.Context, id string) error
	Switch(ctx context.Context, id, backend string) error
	Backends() []string
	Use(id string) (release func()) // while it is in use it is not put to rest
}

// Progress is where a learner's progress is kept; a *store.Store is one.
type Progress interface {
	Exercise(ctx context.Context, learner, id string) (store.Exercise, error)
	SaveExercise(ctx context.Context, learner string, e store.Exercise) error
	ResetExercise(ctx context.Context, learner, id string) error
}

// Session judges exercises on one incarnation of the cluster; a *checker.Session is one.
type Session interface {
	Open(ctx context.Context, e *exercises.Exercise, saved checker.Saved) error
	CloseExercise(id string) error
	Reset(ctx context.Context, id string) error
	Answer(ctx context.Context, id, check, value string) error
	Hint(id, check string) error
	RevealSolution(id string) (string, error)
	Subscribe(fn func(checker.ExerciseState)) (stop func())
	SubscribeVersion(fn func(resourceVersion string)) (stop func())
	Saved(id string) checker.Saved
	Close()
}

// A Page shows the learner's state in a browser. Send must not block; of messages with the same key that are still to
// be sent, the last one is enough. An empty key belongs to no other message.
type Page interface {
	Send(key string, message []byte)
}

// Options for New. All but Report are needed.
type Options struct {
	Learner    store.Learner
	Version    string // of apilab
	Host       bool   // terminals run the learner's own shell
	Preview    bool   // pages load themselves again when the content changes
	Clusters   Clusters
	Records    *gateway.Recorder
	Progress   Progress
	Exercise   func(id string) *exercises.Exercise // nil: there is none
	Session    func(*rest.Config) Session
	Newest     func(context.Context, *rest.Config) (resourceVersion string, err error) // asks a cluster for it
	Shell      func(ctx context.Context, size Size, edit EditFunc) (Shell, error)      // starts one
	Files      Files
	Kubeconfig func(ctx context.Context, renew bool) ([]byte, error) // for the learner's own kubectl; renew revokes those of before
	Report     func(Report)                                          // is told what becomes of the learner, in order; must not block. nil: nobody follows
	Logger     *slog.Logger
}

// A Hub is what the server knows of one learner. It is safe for concurrent use.
type Hub struct {
	o   Options
	id  string // the learner's
	log *slog.Logger
	run string // names this run of the server to pages that come back

	ctx   context.Context // ends with the hub
	stop  context.CancelFunc
	tasks sync.WaitGroup // what Close waits for
	saver *saver

	unsubscribe []func()

	changed chan struct{} // the cluster's status changed; holds one

	// mu guards the fields below. It is never held over a call into the session or the clusters: these call back.
	mu          sync.Mutex
	closed      bool
	pages       map[Page]bool
	status      cluster.Status
	incarnation int // counts clusters that were made anew, or switched to
	starting    bool
	resetting   bool
	switchFrom  string   // the backend that a switch under way leaves; "" while there is none
	session     *session // nil while there is no cluster to judge
	version     version
	exercises   map[string]*exercise
	revision    uint64   // the newest of a check that was told
	opened      []string // keys of exercises, the one opened last at the end
	terminals   []*Terminal
	lastID      uint32 // of a terminal
	editors     map[string]*editor
	listed      []protocol.Terminal // the terminals as the pages know them
	looking     bool                // will soon look whether they have changed

	openingTerminals int

	observers []*Observer
	class     protocol.Class    // without the observers
	lesson    string            // opened last
	active    time.Time         // when the learner last did something
	resets    map[string]*reset // on an instructor's wish, by exercise; "" is the cluster's
	begun     chan struct{}     // closed when a session begins or the cluster fails

	release      func() // ends the use of the cluster; nil while nothing uses it
	lookingAgain bool   // will soon look whether something does
}

// New starts following the learner's cluster. It does not start the cluster: Start does.
func New(o Options) *Hub {
	ctx, stop := context.WithCancel(context.Background())
	h := &Hub{
		o:         o,
		id:        o.Learner.ID,
		log:       o.Logger.With("learner", o.Learner.ID),
		run:       rand.Text(),
		status:    o.Clusters.Status(o.Learner.ID), // a page may come before the subscription tells it
		ctx:       ctx,
		stop:      stop,
		changed:   make(chan struct{}, 1),
		pages:     make(map[Page]bool),
		exercises: make(map[string]*exercise),
		editors:   make(map[string]*editor),
		resets:    make(map[string]*reset),
		begun:     make(chan struct{}),
		// Terminals of an earlier run of the server must not be mistaken for those of this one.
		lastID: uint32(time.Now().Unix()),
	}
	h.saver = newSaver(h)
	h.tasks.Go(h.saver.run)
	h.tasks.Go(h.followCluster)
	h.unsubscribe = []func(){
		h.o.Clusters.Subscribe(h.id, h.clusterChanged),
		h.o.Records.Subscribe(h.requested),
	}
	return h
}

// spawn starts a task that Close waits for, unless the hub is closed. Tasks end with the hub's context. mu is held.
func (h *Hub) spawn(task func()) (started bool) {
	if h.closed {
		return false
	}
	h.tasks.Go(task)
	return true
}

// Join adds a page: it is sent hello, then what is under way, then every change until Leave.
func (h *Hub) Join(p Page) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pages[p] = true
	h.occupy()
	h.sendTo(p, "", h.hello())
	for _, e := range h.editors {
		h.sendTo(p, "", e.message())
	}
	h.report(nil, false)
}

// Leave removes a page. Nothing else ends with it.
func (h *Hub) Leave(p Page) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pages, p)
	h.occupy()
	if len(h.pages) == 0 {
		h.endTyping()
		h.tellClass()
	}
	h.report(nil, false)
}

// Notify tells all pages something.
func (h *Hub) Notify(level protocol.Level, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broadcast("notice "+text, protocol.Notice{Level: level, Text: text})
}

// Kubeconfig returns the file with which the learner's own kubectl reaches their cluster. To renew it revokes all that they
// got before.
func (h *Hub) Kubeconfig(ctx context.Context, renew bool) ([]byte, error) {
	return h.o.Kubeconfig(ctx, renew)
}

// Close ends the terminals and the session and saves what is not saved yet. The cluster goes on.
func (h *Hub) Close() {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return
	}
	h.closed = true
	h.occupy()
	terminals, session := h.terminals, h.session
	h.mu.Unlock()
	for _, stop := range h.unsubscribe {
		stop()
	}
	for _, t := range terminals {
		t.end()
	}
	h.saver.flush()
	h.stop()
	h.tasks.Wait()
	if session != nil {
		session.close()
	}
	if err := h.o.Files.Close(); err != nil {
		h.log.Warn("close the home folder", "error", err)
	}
}

// hello is all that a page draws; mu is held.
func (h *Hub) hello() protocol.Hello {
	hello := protocol.Hello{
		Version:   h.o.Version,
		Run:       h.run,
		Learner:   h.o.Learner.Name,
		Cluster:   h.status,
		Terminals: h.terminalList(),
		Exercises: []checker.ExerciseState{},
		RV:        h.version.newest,
		Shell:     "sandboxed",
		Backends:  h.o.Clusters.Backends(),
		Class:     h.classNow(),
	}
	if h.o.Host {
		hello.Shell = "host"
	}
	for _, id := range h.opened {
		hello.Exercises = append(hello.Exercises, h.exercises[id].state)
	}
	return hello
}

// broadcast sends to all pages and observers; mu is held.
func (h *Hub) broadcast(key string, m protocol.Message) {
	if len(h.pages) == 0 && len(h.observers) == 0 {
		return
	}
	data, err := protocol.Encode(m)
	if err != nil {
		h.log.Error("tell the pages", "error", err)
		return
	}
	for p := range h.pages {
		p.Send(key, data)
	}
	for _, o := range h.observers {
		o.page.Send(key, data)
	}
}

func (h *Hub) sendTo(p Page, key string, m protocol.Message) {
	data, err := protocol.Encode(m)
	if err != nil {
		h.log.Error("tell a page", "error", err)
		return
	}
	p.Send(key, data)
}
