package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// spares counts the clusters of a provider with and without an owner.
func (p *fakeProvider) spares() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.data {
		if strings.HasPrefix(id, aheadPrefix) {
			n++
		}
	}
	return n
}

func TestWarmClustersAreGivenAndReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake("old")
		m := manage(t, Options{Warm: 2}, Backend{Name: "fake", Provider: p, Parallel: 1})
		time.Sleep(time.Minute)
		synctest.Wait()
		if p.spares() != 2 || p.most != 1 {
			t.Fatalf("%d made ahead, %d at a time", p.spares(), p.most)
		}
		states := follow(t, m, "a")
		begin := time.Now()
		claim(t, m, "a", "b")
		if took := time.Since(begin); took != 0 {
			t.Errorf("the first two waited for %s", took)
		}
		expect(t, "states", states(), "absent queued ready")
		up, _ := m.Get("a")
		if other, _ := m.Get("b"); up == other {
			t.Error("two learners have the same cluster")
		}
		if m.knows(up.ID()) {
			t.Error("it is still known as nobody's")
		}
		if s := m.Status("a"); s.ID != "a" || s.Capabilities.Backend != "fake" {
			t.Errorf("status %+v", s)
		}
		claim(t, m, "old") // whose data are there
		expect(t, "old one", p.calls[len(p.calls)-1], "adopt old")
		time.Sleep(time.Minute)
		synctest.Wait()
		if m.pool.size() != 2 || p.spares() != 4 {
			t.Errorf("%d in the pool, %d made ahead", m.pool.size(), p.spares())
		}

		// Its health is the learner's from now on.
		p.cluster(up.ID()).health.Set(Health{Reason: "it was killed"})
		expect(t, "states", states(), "absent queued ready healing")
	})
}

func TestAGivenClusterIsTheLearnersForGood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, choices := newFake(), &memory{}
		m := NewManager([]Backend{{Name: "fake", Provider: p}}, Options{Warm: 1, Choices: choices})
		time.Sleep(time.Minute)
		claim(t, m, "a")
		time.Sleep(time.Minute)
		given, _ := m.Get("a")
		if err := m.Close(t.Context()); err != nil {
			t.Fatal(err)
		}

		again := newManager(t, p, Options{Choices: choices})
		synctest.Wait()
		if p.spares() != 1 {
			t.Errorf("%d clusters are left, with what nobody has claimed", p.spares())
		}
		claim(t, again, "a")
		expect(t, "call", p.calls[len(p.calls)-1], "adopt "+given.ID())
		if err := again.Delete(t.Context(), "a"); err != nil || len(p.data) != 0 {
			t.Errorf("delete: %v, left are %v", err, p.data)
		}
		claim(t, again, "a")
		expect(t, "call", p.calls[len(p.calls)-1], "create a")
	})
}

func TestAResetTakesFromThePool(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		m := newManager(t, p, Options{Warm: 1})
		time.Sleep(time.Minute)
		claim(t, m, "a")
		time.Sleep(time.Minute)
		first, _ := m.Get("a")
		begin := time.Now()
		if err := m.Reset(t.Context(), "a"); err != nil || time.Since(begin) != 0 {
			t.Errorf("reset: %v after %s", err, time.Since(begin))
		}
		if second, _ := m.Get("a"); first == second || p.data[first.ID()] {
			t.Error("it is still the first")
		}
	})
}

// TestClaimsComeBeforeThePool is for a claim while the pool is being filled: it waits for no more than the one start that
// is under way, whose cluster it gets.
func TestClaimsComeBeforeThePool(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := manage(t, Options{}, Backend{Name: "fake", Provider: newFake(), Parallel: 1})
		m.StartWarmUp(20)
		time.Sleep(startTime / 3)
		begin := time.Now()
		claim(t, m, "a")
		if took := time.Since(begin); took != startTime*2/3 {
			t.Errorf("a claim waited for %s", took)
		}
		_ = m.Close(t.Context())
	})
}

// TestWarmClustersSleepToo is for those that nobody claims: they take no processor, and are awake when they are given.
func TestWarmClustersSleepToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		p.sleeps = true
		m := newManager(t, p, Options{Warm: 1, FreezeAfter: 5 * time.Minute, StopAfter: 30 * time.Minute})
		time.Sleep(10 * time.Hour)
		states := follow(t, m, "a")
		claim(t, m, "a")
		up, _ := m.Get("a")
		if up.(*sleeper).asleep || !slices.Contains(p.calls, "freeze "+up.ID()) {
			t.Errorf("it sleeps, or never did: %q", p.calls)
		}
		time.Sleep(6 * time.Minute)
		expect(t, "states, with the clock from the claim on", states(), "absent queued ready frozen")
	})
}

func TestADeadSpareIsNotGiven(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		m := newManager(t, p, Options{})
		if err := warmUp(t, m, 2); err != nil {
			t.Fatal(err)
		}
		dead := m.pool.ready[0].id
		p.cluster(dead).health.Set(Health{Reason: "it dies and dies", Fatal: true})
		synctest.Wait()
		claim(t, m, "a")
		synctest.Wait()
		if up, _ := m.Get("a"); up.ID() == dead || p.data[dead] {
			t.Error("the dead one was given, or is still there")
		}
	})
}

func TestThePoolMakesRoomFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		light, heavy := newFake(), newFake()
		light.memory, heavy.memory = 100*mib, 300*mib
		m := manage(t, Options{Budget: 450 * mib}, Backend{Name: "light", Provider: light, Memory: 100 * mib}, Backend{Name: "heavy", Provider: heavy, Memory: 300 * mib})
		if err := warmUp(t, m, 3); err != nil {
			t.Fatal(err)
		}
		claim(t, m, "a")
		time.Sleep(time.Hour)
		if err := m.Switch(t.Context(), "b", "heavy"); err != nil {
			t.Error(err)
		}
		if m.pool.size() != 0 || m.Status("a").State != Ready {
			t.Errorf("%d in the pool, a is %s", m.pool.size(), m.Status("a").State)
		}
		if err := warmUp(t, m, 3); err == nil || !strings.Contains(err.Error(), "no memory for one more cluster: 400 of 450 MiB are taken, by 2 clusters") {
			t.Errorf("a warm-up beyond the budget: %v", err)
		}
	})
}

// TestPortsOfAGivenCluster is for webhooks: a cluster that was made ahead calls those of the learner it was given to.
func TestPortsOfAGivenCluster(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ports := func(id string) string { return filepath.Join(dir, id, "ports") }
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		m := newManager(t, p, Options{Ports: ports})
		if err := warmUp(t, m, 1); err != nil {
			t.Fatal(err)
		}
		claim(t, m, "a")
		up, _ := m.Get("a")
		if err := os.WriteFile(filepath.Join(ports("a"), "8443.sock"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(p.ports[up.ID()], "8443.sock")); err != nil {
			t.Errorf("the cluster does not see the learner's socket: %v", err)
		}
		if err := m.Delete(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "a" {
			t.Errorf("left are %v, %v", entries, err)
		}
	})
}

// TestASpareThatDoesNotWake is started again when it is given, and is not given twice.
func TestASpareThatDoesNotWake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		p.sleeps = true
		m := newManager(t, p, Options{FreezeAfter: time.Minute})
		if err := warmUp(t, m, 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		spare := m.pool.ready[0]
		spare.cluster.(*sleeper).deep = errors.New("no such process")
		claim(t, m, "a", "b")
		a, _ := m.Get("a")
		if b, _ := m.Get("b"); a.ID() != spare.id || b.ID() != "b" {
			t.Errorf("a has %s, b has %s", a.ID(), b.ID())
		}
	})
}
