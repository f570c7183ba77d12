package cluster

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const mib = 1 << 20

// budgeted returns a manager with memory for two clusters.
func budgeted(t *testing.T, o Options) (*Manager, *fakeProvider) {
	t.Helper()
	p := newFake()
	p.memory = 100 * mib
	o.Budget = 250 * mib
	return manage(t, o, Backend{Name: "fake", Provider: p, Parallel: 4, Memory: 80 * mib}), p
}

func claim(t *testing.T, m *Manager, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if _, err := m.Claim(t.Context(), id); err != nil {
			t.Errorf("claim %s: %v", id, err)
		}
	}
}

func TestTheIdlestMakesRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		use     string // who used theirs, a minute after the one before each
		stopped string
	}{
		{"the first", "b", "a"},
		{"not the one in use since", "a b a", "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, p := budgeted(t, Options{})
				claim(t, m, "a", "b")
				for id := range strings.FieldsSeq(c.use) {
					time.Sleep(time.Minute)
					m.Touch(id)
				}
				time.Sleep(2 * time.Minute)
				begin := time.Now()
				claim(t, m, "c")
				if took := time.Since(begin); took != startTime {
					t.Errorf("the third took %s", took)
				}
				s := m.Status(c.stopped)
				if s.State != Stopped || !strings.HasPrefix(s.Reason, "hibernated to make room") || !p.cluster(c.stopped).stopped {
					t.Errorf("status of %s: %+v", c.stopped, s)
				}
				claim(t, m, c.stopped) // which pushes out nobody who was there just now, but waits
				if m.Status("c").State != Ready {
					t.Error("the newest was pushed out")
				}
			})
		})
	}
}

// TestAStartWaitsForMemory is for clusters that are all in use: the next one waits, says why, and comes when one has gone.
func TestAStartWaitsForMemory(t *testing.T) {
	t.Parallel()
	for name, free := range map[string]func(t *testing.T, m *Manager, release func()){
		"one is idle":    func(_ *testing.T, _ *Manager, release func()) { release() },
		"one is stopped": func(t *testing.T, m *Manager, _ func()) { _ = m.Stop(t.Context(), "a") },
		"one is deleted": func(t *testing.T, m *Manager, _ func()) { _ = m.Delete(t.Context(), "b") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, _ := budgeted(t, Options{})
				claim(t, m, "a", "b")
				release := m.Use("a")
				defer m.Use("b")()
				time.Sleep(time.Hour)
				claimed := make(chan error, 1)
				go func() {
					_, err := m.Claim(t.Context(), "c")
					claimed <- err
				}()
				time.Sleep(time.Hour)
				const says = "no memory for one more cluster: 200 of 250 MiB are taken, by 2 clusters, all of them in use; waits for one that is not"
				if s := m.Status("c"); s.State != Queued || s.Reason != says {
					t.Errorf("status %+v", s)
				}
				begin := time.Now()
				free(t, m, release)
				if err := <-claimed; err != nil || time.Since(begin) > leastIdle+lookEvery+startTime {
					t.Errorf("the claim: %v after %s", err, time.Since(begin))
				}
			})
		})
	}
}

func TestAWaitForMemoryCanBeGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, p := budgeted(t, Options{})
		claim(t, m, "a", "b")
		claimed := make(chan error, 1)
		go func() {
			_, err := m.Claim(t.Context(), "c")
			claimed <- err
		}()
		synctest.Wait()
		if err := m.Stop(t.Context(), "c"); err != nil {
			t.Error(err)
		}
		if err := <-claimed; !errors.Is(err, ErrCancelled) {
			t.Errorf("claim: %v", err)
		}
		expect(t, "state", string(m.Status("c").State), "absent")
		expect(t, "calls", strings.Join(p.calls, ","), "create a,create b")
	})
}

// TestMemoryIsGivenOnce is for starts at the same moment: none of them takes memory yet.
func TestMemoryIsGivenOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		m := manage(t, Options{Budget: 250 * mib}, Backend{Name: "fake", Provider: p, Parallel: 9, Memory: 100 * mib})
		for _, id := range []string{"a", "b", "c", "d"} {
			go m.Claim(t.Context(), id)
		}
		synctest.Wait()
		if p.most != 2 {
			t.Errorf("%d started with memory for 2", p.most)
		}
		time.Sleep(time.Second)
		_ = m.Close(t.Context())
	})
}

func TestALoneClusterIsAlwaysAfforded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		claim(t, manage(t, Options{Budget: 1}, Backend{Name: "fake", Provider: p, Memory: mib}), "a")
	})
}
