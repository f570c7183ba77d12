package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// strict is a provider that notes what a Manager must never do.
type strict struct {
	*fakeProvider
	mu     sync.Mutex
	up     map[string]*strictCluster
	broken []string // rules
}

func (p *strict) breach(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = append(p.broken, fmt.Sprintf(format, args...))
}

func (p *strict) begin(ctx context.Context, spec Spec, adopt bool, progress func(Phase)) (Cluster, error) {
	p.mu.Lock()
	up := p.up[spec.ID]
	p.mu.Unlock()
	p.fakeProvider.mu.Lock()
	data := p.data[spec.ID]
	p.fakeProvider.mu.Unlock()
	if up != nil || data != adopt {
		p.breach("start of %s: it runs: %t, it has data: %t, wanted %t", spec.ID, up != nil, data, adopt)
	}
	made, err := p.start(ctx, "start", spec, progress)
	if err != nil {
		return nil, err
	}
	c := &strictCluster{sleeper: made.(*sleeper), strict: p}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.up[spec.ID] = c
	return c, nil
}

func (p *strict) Create(ctx context.Context, spec Spec, progress func(Phase)) (Cluster, error) {
	return p.begin(ctx, spec, false, progress)
}

func (p *strict) Adopt(ctx context.Context, spec Spec, progress func(Phase)) (Cluster, error) {
	return p.begin(ctx, spec, true, progress)
}

func (p *strict) Delete(ctx context.Context, id string) error {
	p.mu.Lock()
	delete(p.up, id)
	p.mu.Unlock()
	return p.fakeProvider.Delete(ctx, id)
}

type strictCluster struct {
	*sleeper
	strict *strict
}

func (c *strictCluster) Stop(ctx context.Context) error {
	c.strict.mu.Lock()
	here := c.strict.up[c.id] == c
	delete(c.strict.up, c.id)
	c.strict.mu.Unlock()
	if c.asleep || !here {
		c.strict.breach("stop of %s: asleep: %t, there: %t", c.id, c.asleep, here)
	}
	return c.sleeper.Stop(ctx)
}

// failures are lines of a log that must not be there, such as of transitions that the state machine does not know.
type failures struct{ t *testing.T }

func (f failures) Write(line []byte) (int, error) {
	f.t.Errorf("logged: %s", line)
	return len(line), nil
}

// TestRandomOperations lets learners do everything at once, for days, on two backends, with a pool and too little memory.
func TestRandomOperations(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomOperations(t, seed) })
		})
	}
}

func randomOperations(t *testing.T, seed uint64) {
	var providers []*strict
	var backends []Backend
	for _, name := range []string{"light", "heavy"} {
		fake := newFake()
		fake.sleeps, fake.memory = true, 100*mib
		providers = append(providers, &strict{fakeProvider: fake, up: map[string]*strictCluster{}})
		backends = append(backends, Backend{Name: name, Provider: providers[len(providers)-1], Parallel: 2, Memory: 100 * mib})
	}
	m := NewManager(backends, Options{FreezeAfter: time.Minute, StopAfter: 3 * time.Minute, Warm: 2, Budget: 650 * mib,
		Logger: slog.New(slog.NewTextHandler(failures{t}, &slog.HandlerOptions{Level: slog.LevelError}))})
	learners := []string{"a", "b", "c", "d", "e"}
	var acting sync.WaitGroup
	for n, id := range learners {
		for hand := range uint64(2) { // two pages of one learner
			random := rand.New(rand.NewPCG(seed, uint64(n)<<8|hand))
			acting.Go(func() {
				for range 150 {
					act(t, m, random, id)
					time.Sleep(time.Duration(random.Int64N(int64(100 * time.Second))))
				}
			})
		}
	}
	acting.Wait()
	synctest.Wait()

	owners := map[Cluster]string{}
	for _, id := range learners {
		up, ready := m.Get(id)
		if !ready {
			continue
		}
		if other, taken := owners[up]; taken {
			t.Errorf("%s and %s have the same cluster", id, other)
		}
		owners[up] = id
		if c := up.(*strictCluster); c.asleep || c.stopped {
			t.Errorf("what %s got as ready is not: %+v", id, c)
		}
	}
	for _, id := range learners {
		if err := m.Delete(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for _, p := range providers {
		for _, rule := range p.broken {
			t.Error(rule)
		}
		for id := range p.data {
			if !strings.HasPrefix(id, aheadPrefix) {
				t.Errorf("%s is left over", id)
			}
		}
		if len(p.up) > 0 {
			t.Errorf("%d clusters still run", len(p.up))
		}
	}
	if n := providers[0].spares(); n > 2 {
		t.Errorf("%d clusters are nobody's", n)
	}
}

// act does one thing that a learner may do. Errors are of what another hand of theirs has done at the same time.
func act(t *testing.T, m *Manager, random *rand.Rand, id string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.Int64N(int64(30*time.Second))))
	defer cancel()
	switch random.IntN(16) {
	case 0:
		_ = m.Stop(ctx, id)
	case 1:
		_ = m.Reset(ctx, id)
	case 2:
		_ = m.Delete(ctx, id)
	case 3, 4:
		_ = m.Switch(ctx, id, []string{"light", "heavy"}[random.IntN(2)])
	case 5, 6:
		m.Touch(id)
	case 7, 8, 9:
		defer m.Use(id)()
		up, err := m.Claim(ctx, id)
		time.Sleep(time.Duration(random.Int64N(int64(5 * time.Minute))))
		if err == nil && up.(*strictCluster).asleep {
			t.Errorf("a cluster in use was frozen")
		}
	case 10:
		if up, ready := m.Get(id); ready && up.(*strictCluster).asleep {
			t.Errorf("what was got as ready sleeps")
		}
	case 11:
		if up, ready := m.Get(id); ready {
			health := &up.(*strictCluster).health
			health.Set(Health{Reason: "it was killed"})
			time.Sleep(time.Second)
			health.Set(Health{Ready: true})
		}
	default:
		_, _ = m.Claim(ctx, id)
	}
}
