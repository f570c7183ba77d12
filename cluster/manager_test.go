package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/cluster/observe"
)

// startTime is how long a fake cluster takes to start.
const startTime = 3 * time.Second

// fakeProvider is a Provider without processes.
type fakeProvider struct {
	mu     sync.Mutex
	data   map[string]bool
	fail   error // of starts
	starts int   // under way
	most   int   // starts at the same time, at most
	calls  []string
	up     map[string]*fakeCluster
	ports  map[string]string
	sleeps bool  // its clusters are Freezers
	memory int64 // of each of its clusters
}

func newFake(ids ...string) *fakeProvider {
	p := &fakeProvider{data: map[string]bool{}, up: map[string]*fakeCluster{}, ports: map[string]string{}}
	for _, id := range ids {
		p.data[id] = true
	}
	return p
}

func (p *fakeProvider) Create(ctx context.Context, spec Spec, progress func(Phase)) (Cluster, error) {
	return p.start(ctx, "create", spec, progress)
}

func (p *fakeProvider) Adopt(ctx context.Context, spec Spec, progress func(Phase)) (Cluster, error) {
	return p.start(ctx, "adopt", spec, progress)
}

func (p *fakeProvider) start(ctx context.Context, call string, spec Spec, progress func(Phase)) (Cluster, error) {
	p.mu.Lock()
	p.calls = append(p.calls, call+" "+spec.ID)
	p.ports[spec.ID] = spec.Ports
	p.starts++
	p.most = max(p.most, p.starts)
	fail := p.fail
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.starts--
	}()
	progress(Phase{Name: "boot", Says: "It boots"})
	select {
	case <-time.After(startTime):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if fail != nil {
		return nil, fail
	}
	progress(Phase{Name: "boot", Says: "It boots", Elapsed: startTime, Done: true})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.data[spec.ID] = true
	c := &fakeCluster{id: spec.ID, memory: p.memory}
	c.health.Set(Health{Ready: true})
	p.up[spec.ID] = c
	if p.sleeps {
		return &sleeper{fakeCluster: c, p: p}, nil
	}
	return c, nil
}

func (p *fakeProvider) List(context.Context) (ids []string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.data {
		ids = append(ids, id)
	}
	return ids, nil
}

func (p *fakeProvider) Delete(_ context.Context, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, "delete "+id)
	delete(p.data, id)
	return nil
}

func (p *fakeProvider) cluster(id string) *fakeCluster {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.up[id]
}

// mend lets a cluster be stopped again.
func (p *fakeProvider) mend(id string) {
	if c := p.cluster(id); c != nil {
		c.stuck = nil
	}
}

type fakeCluster struct {
	id      string
	health  observe.Value[Health]
	stuck   error // why it does not stop
	memory  int64
	stopped bool
}

func (c *fakeCluster) ID() string                  { return c.id }
func (c *fakeCluster) Config() *rest.Config        { return &rest.Config{} }
func (c *fakeCluster) LearnerConfig() *rest.Config { return &rest.Config{} }
func (c *fakeCluster) Capabilities() Capabilities  { return Capabilities{Backend: "fake"} }
func (c *fakeCluster) Usage(context.Context) (Usage, error) {
	return Usage{PrivateBytes: c.memory}, nil
}
func (c *fakeCluster) Health(tell func(Health)) (stop func()) { return c.health.Follow(tell) }

func (c *fakeCluster) Stop(context.Context) error {
	c.stopped = c.stuck == nil
	return c.stuck
}

// A sleeper is a fakeCluster that can be frozen. What cannot be while it sleeps is told to the test.
type sleeper struct {
	*fakeCluster
	p             *fakeProvider
	asleep        bool
	restless      error         // why it does not freeze
	deep          error         // why it does not thaw
	slow          time.Duration // what freezing and stopping take
	stoppedAsleep bool
}

func (s *sleeper) Freeze(context.Context) error {
	s.p.called("freeze " + s.id)
	time.Sleep(s.slow)
	s.asleep = s.restless == nil
	return s.restless
}

func (s *sleeper) Thaw(context.Context) error {
	s.p.called("thaw " + s.id)
	s.asleep = s.asleep && s.deep != nil
	return s.deep
}

func (s *sleeper) Stop(ctx context.Context) error {
	s.stoppedAsleep = s.asleep
	time.Sleep(s.slow)
	return s.fakeCluster.Stop(ctx)
}

func (p *fakeProvider) called(call string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, call)
}

// newManager returns a manager that is closed when the test ends.
func newManager(t *testing.T, p Provider, o Options) *Manager {
	t.Helper()
	return manage(t, o, Backend{Name: "fake", Provider: p})
}

func manage(t *testing.T, o Options, backends ...Backend) *Manager {
	t.Helper()
	m := NewManager(backends, o)
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return m
}

// follow collects the states that a subscriber sees, without repetitions.
func follow(t *testing.T, m *Manager, id string) (states func() string) {
	t.Helper()
	var mu sync.Mutex
	var seen []string
	stop := m.Subscribe(id, func(s Status) {
		mu.Lock()
		defer mu.Unlock()
		if n := len(seen); n == 0 || seen[n-1] != string(s.State) {
			seen = append(seen, string(s.State))
		}
	})
	t.Cleanup(stop)
	return func() string {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(seen, " ")
	}
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestClaimCreatesAndAdopts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		p     *fakeProvider
		want  string
		calls string
	}{
		{"new", newFake(), "absent queued creating ready", "create a"},
		{"with data", newFake("a"), "absent queued starting ready", "adopt a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newManager(t, c.p, Options{})
				states := follow(t, m, "a")
				if _, ok := m.Get("a"); ok {
					t.Error("there before it was claimed")
				}
				up, err := m.Claim(t.Context(), "a")
				if err != nil || up.ID() != "a" {
					t.Fatalf("claim: %v, %v", up, err)
				}
				expect(t, "states", states(), c.want)
				expect(t, "calls", strings.Join(c.p.calls, ","), c.calls)
				s := m.Status("a")
				if len(s.Phases) != 1 || !s.Phases[0].Done || s.Capabilities.Backend != "fake" {
					t.Errorf("status %+v", s)
				}
				if _, ok := m.Get("a"); !ok {
					t.Error("not there after the claim")
				}
			})
		})
	}
}

func TestClaimsShareAStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		m := newManager(t, p, Options{})
		impatient, leave := context.WithTimeout(t.Context(), startTime/2)
		defer leave()
		if _, err := m.Claim(impatient, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a page that left got %v", err)
		}
		var claims sync.WaitGroup
		for range 5 {
			claims.Go(func() {
				if _, err := m.Claim(t.Context(), "a"); err != nil {
					t.Error(err)
				}
			})
		}
		begin := time.Now()
		claims.Wait()
		if took := time.Since(begin); took != startTime/2 {
			t.Errorf("the others waited %s; the start did not go on without the page", took)
		}
		expect(t, "calls", strings.Join(p.calls, ","), "create a")
	})
}

func TestParallelStartsAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		m := manage(t, Options{}, Backend{Name: "fake", Provider: p, Parallel: 2})
		var claims sync.WaitGroup
		for i := range 6 {
			claims.Go(func() {
				if _, err := m.Claim(t.Context(), fmt.Sprint("c", i)); err != nil {
					t.Error(err)
				}
			})
		}
		begin := time.Now()
		claims.Wait()
		if took := time.Since(begin); took != 3*startTime || p.most != 2 {
			t.Errorf("6 starts took %s, %d at a time", took, p.most)
		}
	})
}

func TestFailureAndRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		p.fail = errors.New("no space left")
		m := newManager(t, p, Options{})
		states := follow(t, m, "a")
		if _, err := m.Claim(t.Context(), "a"); !errors.Is(err, p.fail) {
			t.Errorf("claim: %v", err)
		}
		if s := m.Status("a"); s.Reason != "no space left" || len(s.Phases) != 1 || s.Phases[0].Done {
			t.Errorf("status %+v", s)
		}
		p.fail = nil
		if err := m.Retry(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		expect(t, "states", states(), "absent queued creating failed queued creating ready")
	})
}

func TestHealing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		m := newManager(t, p, Options{})
		states := follow(t, m, "a")
		if _, err := m.Claim(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		p.cluster("a").health.Set(Health{Reason: "it was killed", Phases: []Phase{{Name: "boot"}}})
		synctest.Wait()
		if s := m.Status("a"); s.State != Healing || s.Reason != "it was killed" || len(s.Phases) != 1 {
			t.Errorf("status %+v", s)
		}
		if _, ok := m.Get("a"); ok {
			t.Error("a cluster that heals is not ready")
		}
		time.AfterFunc(time.Second, func() { p.cluster("a").health.Set(Health{Ready: true}) })
		begin := time.Now()
		if _, err := m.Claim(t.Context(), "a"); err != nil || time.Since(begin) != time.Second {
			t.Errorf("a claim did not wait for the healing: %v after %s", err, time.Since(begin))
		}
		p.cluster("a").health.Set(Health{Reason: "it dies and dies", Fatal: true})
		synctest.Wait()
		expect(t, "reason", m.Status("a").Reason, "it dies and dies")
		if _, err := m.Claim(t.Context(), "a"); err != nil {
			t.Errorf("a claim after the end of healing: %v", err)
		}
		expect(t, "states", states(), "absent queued creating ready healing ready failed queued starting ready")
		expect(t, "calls", strings.Join(p.calls, ","), "create a,adopt a")
	})
}

func TestReset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		m := newManager(t, p, Options{})
		states := follow(t, m, "a")
		if _, err := m.Claim(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		old := p.cluster("a")
		if err := m.Reset(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		old.health.Set(Health{Reason: "the old one's last words"})
		expect(t, "states", states(), "absent queued creating ready deleting absent queued creating ready")
		expect(t, "calls", strings.Join(p.calls, ","), "create a,delete a,create a")
	})
}

func TestResetReplacesAStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		m := newManager(t, p, Options{})
		claimed := make(chan error, 1)
		go func() {
			_, err := m.Claim(t.Context(), "a")
			claimed <- err
		}()
		time.Sleep(startTime / 2)
		begin := time.Now()
		if err := m.Reset(t.Context(), "a"); err != nil || time.Since(begin) != startTime {
			t.Errorf("reset: %v after %s", err, time.Since(begin))
		}
		if err := <-claimed; !errors.Is(err, ErrCancelled) {
			t.Errorf("the claim that was replaced: %v", err)
		}
		expect(t, "state", string(m.Status("a").State), "ready")
	})
}

func TestStopAndDelete(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		m := newManager(t, p, Options{})
		states := follow(t, m, "a")
		if _, err := m.Claim(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if err := m.Stop(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		expect(t, "reason", m.Status("a").Reason, "it was stopped on request")
		if err := m.Delete(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		expect(t, "states", states(), "absent queued creating ready stopped deleting absent")
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		m := manage(t, Options{}, Backend{Name: "fake", Provider: p, Parallel: 1})
		if _, err := m.Claim(t.Context(), "up"); err != nil {
			t.Fatal(err)
		}
		results := make(chan error, 2)
		for _, id := range []string{"starting", "queued"} {
			go func() {
				_, err := m.Claim(t.Context(), id)
				results <- err
			}()
			synctest.Wait()
		}
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := <-results; !errors.Is(err, ErrCancelled) {
				t.Errorf("a start that was given up: %v", err)
			}
		}
		if !p.cluster("up").stopped {
			t.Error("a cluster was not stopped")
		}
		if _, err := m.Claim(t.Context(), "late"); !errors.Is(err, ErrClosed) {
			t.Errorf("a claim after the end: %v", err)
		}
		expect(t, "state", string(m.Status("up").State), "stopped")
	})
}

func TestStateMachine(t *testing.T) {
	t.Parallel()
	for from, next := range transitions {
		for _, to := range next {
			if _, ok := transitions[to]; !ok {
				t.Errorf("%s leads to %s, which leads nowhere", from, to)
			}
		}
	}
	if Absent.may(Ready) || Stopped.may(Healing) || !Ready.may(Ready) {
		t.Error("transitions are not checked")
	}
}
