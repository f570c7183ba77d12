package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/gateway"
	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/server/store"
)

// clusters are scripted by the test.
type clusters struct {
	mu      sync.Mutex
	status  cluster.Status
	current cluster.Cluster
	follow  []func(cluster.Status)
	claims  int
	uses    int  // under way
	slow    bool // to tell who subscribes the status

	switches []string
	replace  context.CancelFunc // ends the switch under way
	stops    int
}

func (c *clusters) Claim(ctx context.Context, id string) (cluster.Cluster, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claims++
	return c.current, nil
}

func (c *clusters) Get(string) (cluster.Cluster, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current, c.current != nil
}

func (c *clusters) Status(string) cluster.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

func (c *clusters) Subscribe(id string, fn func(cluster.Status)) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow = append(c.follow, fn)
	if !c.slow {
		fn(c.status)
	}
	return func() {}
}

func (c *clusters) Reset(context.Context, string) error { return nil }
func (c *clusters) Retry(context.Context, string) error { return nil }
func (c *clusters) Backends() []string                  { return []string{"embedded", "kind"} }

func (c *clusters) Use(string) (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.uses++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.uses--
	}
}

func (c *clusters) Stop(context.Context, string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stops++
	return nil
}

// Switch goes on until another one takes its place.
func (c *clusters) Switch(ctx context.Context, _, to string) error {
	c.mu.Lock()
	if c.replace != nil {
		c.replace()
	}
	ctx, c.replace = context.WithCancel(ctx)
	c.switches = append(c.switches, to)
	c.mu.Unlock()
	<-ctx.Done()
	return cluster.ErrCancelled
}

// on makes the cluster one of a backend.
func (c *clusters) on(backend string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Backend = backend
}

func (c *clusters) turn(state cluster.State, current cluster.Cluster) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.State, c.current = state, current
	for _, fn := range c.follow {
		fn(c.status)
	}
}

type aCluster struct{ cluster.Cluster }

func (*aCluster) Config() *rest.Config { return &rest.Config{} }

// judge is a session that is scripted by the test.
type judge struct {
	mu       sync.Mutex
	states   func(checker.ExerciseState)
	versions func(string)
	saved    map[string]checker.Saved
	opened   []string
	given    map[string]checker.Saved
	dropped  []string
	closed   bool
}

func (j *judge) Open(_ context.Context, e *exercises.Exercise, saved checker.Saved) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.opened = append(j.opened, e.ID)
	j.given[e.ID] = saved
	return nil
}

func (j *judge) CloseExercise(id string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.dropped = append(j.dropped, id)
	return nil
}

func (j *judge) Reset(context.Context, string) error                  { return nil }
func (j *judge) Answer(context.Context, string, string, string) error { return nil }
func (j *judge) Hint(string, string) error                            { return nil }
func (j *judge) RevealSolution(string) (string, error)                { return "", nil }
func (j *judge) Subscribe(fn func(checker.ExerciseState)) func()      { j.states = fn; return func() {} }
func (j *judge) SubscribeVersion(fn func(string)) func()              { j.versions = fn; return func() {} }
func (j *judge) Close()                                               { j.mu.Lock(); defer j.mu.Unlock(); j.closed = true }

func (j *judge) Saved(id string) checker.Saved {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.saved[id]
}

// tell says how an exercise stands, and what is to be kept of it.
func (j *judge) tell(id string, revision uint64, saved checker.Saved) {
	j.mu.Lock()
	j.saved[id] = saved
	j.mu.Unlock()
	j.states(checker.ExerciseState{ID: id, Phase: checker.Open, PassedAt: saved.PassedAt,
		Checks: []checker.CheckStatus{{ID: "c", State: checker.Failing, Revision: revision}}})
}

// progress is a store that can be full.
type progress struct {
	mu    sync.Mutex
	full  bool
	saved map[string]store.Exercise
	saves int
}

func (p *progress) Exercise(_ context.Context, _, id string) (store.Exercise, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.saved[id]
	e.ID = id
	return e, nil
}

func (p *progress) SaveExercise(_ context.Context, _ string, e store.Exercise) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full {
		return errors.New("the disk is full")
	}
	p.saves++
	e.OpenedAt = time.Unix(1, 0)
	p.saved[e.ID] = e
	return nil
}

func (p *progress) ResetExercise(context.Context, string, string) error { return nil }

func (p *progress) fill(full bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.full = full
}

// reader is a page that keeps what it is sent.
type reader struct {
	mu       sync.Mutex
	messages []string
}

func (r *reader) Send(_ string, message []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.messages = append(r.messages, string(message))
}

// of returns the messages of a type.
func (r *reader) of(kind string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []string
	for _, m := range r.messages {
		if strings.HasPrefix(m, `{"type":"`+kind+`",`) {
			found = append(found, m)
		}
	}
	return found
}

type noFiles struct{ Files }

func (noFiles) Close() error { return nil }

// stage is a hub among fakes. Tests of it run in a bubble, so that its pauses take no time.
type stage struct {
	*Hub
	clusters *clusters
	progress *progress
	judges   []*judge
	page     *reader
	library  map[string]*exercises.Exercise
	newest   string // resourceVersion of the cluster when it is ready
}

func newStage(t *testing.T) *stage {
	return newStageWith(t, &clusters{status: cluster.Status{ID: "local", Backend: "embedded", State: cluster.Absent}})
}

func newStageWith(t *testing.T, c *clusters) *stage {
	s := &stage{
		clusters: c,
		progress: &progress{saved: make(map[string]store.Exercise)},
		page:     &reader{},
		library:  make(map[string]*exercises.Exercise),
	}
	for i := range 30 {
		id := fmt.Sprintf("t/%02d", i)
		s.library[id] = &exercises.Exercise{ID: id, Checks: []exercises.Check{{ID: "c", Says: "it is so", Answer: &exercises.Answer{}}}}
	}
	s.Hub = New(Options{
		Learner:  store.Learner{ID: "local", Name: "You"},
		Clusters: s.clusters,
		Records:  &gateway.Recorder{},
		Progress: s.progress,
		Exercise: func(id string) *exercises.Exercise { return s.library[id] },
		Session: func(*rest.Config) Session {
			j := &judge{saved: make(map[string]checker.Saved), given: make(map[string]checker.Saved)}
			s.judges = append(s.judges, j)
			return j
		},
		Newest: func(context.Context, *rest.Config) (string, error) { return s.newest, nil },
		Files:  noFiles{},
		Logger: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(s.Close)
	s.Join(s.page)
	return s
}

func (s *stage) open(t *testing.T, id string) checker.ExerciseState {
	t.Helper()
	state, err := s.OpenExercise(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return state
}

// bubble runs a test in which time passes only when everybody waits.
func bubble(t *testing.T, test func(t *testing.T, s *stage)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, newStage(t)) })
}

// A page that loads asks for a cluster where hello says that there is none: after a restart of the server it may be there before
// the manager has told the new hub anything.
func TestFirstPageIsToldOfTheCluster(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStageWith(t, &clusters{slow: true, status: cluster.Status{ID: "local", Backend: "embedded", State: cluster.Absent}})
		if hello := s.page.of("hello"); len(hello) != 1 || !strings.Contains(hello[0], `"state":"absent"`) {
			t.Errorf("hello is %v", hello)
		}
	})
}

func TestVersionsAreToldFiveTimesASecond(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.clusters.turn(cluster.Ready, &aCluster{})
		synctest.Wait()
		for i := range 1000 {
			s.judges[0].versions(fmt.Sprint(i))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		told := s.page.of("rv")
		if len(told) < 4 || len(told) > 7 {
			t.Errorf("told %d times in a second: %v", len(told), told)
		}
		if last := told[len(told)-1]; !strings.Contains(last, `"999"`) {
			t.Errorf("the last one told is %s", last)
		}
	})
}

func TestVersionIsKnownAtOnceAndFollowsTheLearner(t *testing.T) {
	const at = `{"kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"%d"}}`
	answered := func(code, version int) gateway.Record {
		return gateway.Record{Time: time.Now(), Done: true, Verb: "create", Status: gateway.Status{Code: code}, ResponseBody: fmt.Appendf(nil, at, version)}
	}
	watched := func(versions ...int) gateway.Record {
		r := gateway.Record{Time: time.Now(), Verb: "watch", Status: gateway.Status{Code: 200}}
		for _, v := range versions {
			r.Events = append(r.Events, gateway.Event{Type: "MODIFIED", Object: fmt.Appendf(nil, at, v)})
		}
		return r
	}
	bubble(t, func(t *testing.T, s *stage) {
		known := func(when, want string) {
			t.Helper()
			time.Sleep(time.Second)
			synctest.Wait()
			page := &reader{}
			s.Join(page)
			defer s.Leave(page)
			if hello := page.of("hello"); len(hello) != 1 || !strings.Contains(hello[0], `"rv":"`+want+`"`) {
				t.Errorf("%s: want rv %q in %v", when, want, hello)
			}
		}
		s.newest = "343"
		s.clusters.turn(cluster.Ready, &aCluster{})
		known("ready, no exercise is open", "343")

		s.requested(answered(201, 350))
		known("created", "350")
		s.requested(answered(409, 360))
		s.requested(gateway.Record{Time: time.Now(), Done: true, Status: gateway.Status{Code: 200}, ResponseBody: []byte(`["not an object"]`)})
		s.requested(gateway.Record{Time: time.Now(), Done: true, Status: gateway.Status{Code: 200}})
		known("nothing new was answered", "350")
		s.requested(watched(351, 1000))
		known("watched", "1000")
		s.requested(answered(200, 999))
		s.judges[0].versions("998")
		known("read something older", "1000")
		s.judges[0].versions("1001")
		known("the checker saw more", "1001")

		late := watched(1002)
		s.newest = "344"
		s.clusters.turn(cluster.Deleting, nil)
		time.Sleep(time.Second)
		s.clusters.turn(cluster.Ready, &aCluster{})
		synctest.Wait()
		late.Done = true
		s.requested(late)
		known("a watch of the former cluster ends in the new one", "344")
	})
}

func TestProgressOutlivesAFullDisk(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.clusters.turn(cluster.Ready, &aCluster{})
		s.open(t, "t/00")
		s.progress.fill(true)
		passed := time.Now()
		s.judges[0].tell("t/00", 2, checker.Saved{PassedAt: &passed})
		synctest.Wait()
		if notices := s.page.of("notice"); len(notices) != 1 || !strings.Contains(notices[0], "the disk is full") {
			t.Errorf("told %v", notices)
		}
		time.Sleep(time.Minute)
		if notices := s.page.of("notice"); len(notices) != 1 {
			t.Errorf("told again: %v", notices)
		}

		// The cluster is made anew meanwhile: what only the former session knew must not be lost.
		s.clusters.turn(cluster.Deleting, nil)
		s.clusters.turn(cluster.Ready, &aCluster{})
		synctest.Wait()
		if given := s.judges[1].given["t/00"]; given.PassedAt == nil || !given.PassedAt.Equal(stored(passed)) {
			t.Errorf("the next session was given %+v", given)
		}
		s.progress.fill(false)
		time.Sleep(2 * retryPause)
		if e := s.progress.saved["t/00"]; !e.PassedAt.Equal(stored(passed)) {
			t.Errorf("saved %+v", e)
		}
		if notices := s.page.of("notice"); len(notices) != 2 || !strings.Contains(notices[1], "saved again") {
			t.Errorf("told %v", notices)
		}
	})
}

func TestWhatIsSavedIsNotSavedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.clusters.turn(cluster.Ready, &aCluster{})
		s.open(t, "t/00")
		saved := checker.Saved{Answers: map[string]string{"c": "x"}}
		for revision := range uint64(10) { // a check that flaps
			s.judges[0].tell("t/00", revision, saved)
			synctest.Wait()
		}
		if s.progress.saves != 2 { // the opening, the answer
			t.Errorf("saved %d times", s.progress.saves)
		}
	})
}

func TestExerciseOpenedLongestAgoIsClosed(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.clusters.turn(cluster.Ready, &aCluster{})
		for i := range maxOpen {
			s.open(t, fmt.Sprintf("t/%02d", i))
		}
		s.open(t, "t/00") // seen again
		s.open(t, fmt.Sprintf("t/%02d", maxOpen))
		if got := s.judges[0].dropped; !slices.Equal(got, []string{"t/01"}) {
			t.Errorf("closed %v", got)
		}
		if n := len(s.judges[0].opened); n != maxOpen+1 {
			t.Errorf("opened %d times", n)
		}
	})
}

func TestAFormerSessionIsNotHeard(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.clusters.turn(cluster.Ready, &aCluster{})
		s.open(t, "t/00")
		first := s.judges[0]
		first.tell("t/00", 5, checker.Saved{})
		s.clusters.turn(cluster.Deleting, nil)
		s.clusters.turn(cluster.Absent, nil)
		s.clusters.turn(cluster.Creating, nil)
		synctest.Wait()
		if !first.closed {
			t.Error("the session of a deleted cluster goes on")
		}
		s.clusters.turn(cluster.Ready, &aCluster{})
		synctest.Wait()
		before := len(s.page.of("exercise"))
		first.tell("t/00", 6, checker.Saved{})
		first.versions("99")
		time.Sleep(time.Second)
		if told := s.page.of("rv"); len(told) > 0 && strings.Contains(told[len(told)-1], "99") {
			t.Error("a version of the former cluster was told")
		}
		if len(s.page.of("exercise")) != before {
			t.Error("a state of the former session was told")
		}
		s.judges[1].tell("t/00", 1, checker.Saved{})
		var last uint64
		for _, m := range s.page.of("exercise") {
			var c protocol.ExerciseChanged
			if err := json.Unmarshal([]byte(m), &c); err != nil {
				t.Fatal(err)
			}
			if r := c.State.Checks[0].Revision; r <= last {
				t.Errorf("revision %d after %d", r, last)
			} else {
				last = r
			}
		}
	})
}

func TestHealingKeepsTheSession(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		c := &aCluster{}
		for _, state := range []cluster.State{cluster.Ready, cluster.Healing, cluster.Ready} {
			s.clusters.turn(state, c)
			synctest.Wait()
		}
		if len(s.judges) != 1 || s.judges[0].closed {
			t.Errorf("%d sessions", len(s.judges))
		}
		s.clusters.turn(cluster.Stopped, nil)
		s.clusters.turn(cluster.Starting, nil)
		s.clusters.turn(cluster.Ready, &aCluster{}) // adopted: another value, maybe at another address
		synctest.Wait()
		if len(s.judges) != 2 || !s.judges[0].closed {
			t.Errorf("%d sessions after a stop and a start", len(s.judges))
		}
	})
}

func TestAFailedClusterIsNotTriedAgainByPages(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.clusters.turn(cluster.Failed, nil)
		s.Start()
		s.open(t, "t/00")
		synctest.Wait()
		if s.clusters.claims != 0 {
			t.Errorf("%d claims", s.clusters.claims)
		}
	})
}

func TestClosedHub(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.clusters.turn(cluster.Ready, &aCluster{})
		s.open(t, "t/00")
		passed := time.Now()
		s.judges[0].tell("t/00", 2, checker.Saved{PassedAt: &passed})
		s.Close()
		if e := s.progress.saved["t/00"]; e.PassedAt.IsZero() {
			t.Error("the last progress was not saved")
		}
		if !s.judges[0].closed {
			t.Error("the session goes on")
		}
		s.Start()
		s.ResetCluster()
		s.clusters.turn(cluster.Ready, &aCluster{})
		s.Close()
	})
}
