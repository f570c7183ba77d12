package cluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// rested returns a manager that puts clusters to rest, of which a is ready since now.
func rested(t *testing.T, o Options) (*Manager, *fakeProvider, *sleeper) {
	t.Helper()
	p := newFake()
	p.sleeps = true
	m := newManager(t, p, o)
	up, err := m.Claim(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	return m, p, up.(*sleeper)
}

func TestRest(t *testing.T) {
	t.Parallel()
	const min = time.Minute
	both := Options{FreezeAfter: 5 * min, StopAfter: 30 * min}
	for _, c := range []struct {
		name string
		o    Options
		// each minute tells of the use: . none, t a touch, u a use begins, r it is released, g a Get, c a claim
		minutes string
		want    string // the states, by the minute in which they began; 0 is that of the claim
	}{
		{"never", Options{}, strings.Repeat(".", 99), "ready@0"},
		{"frozen, then stopped", both, strings.Repeat(".", 40), "ready@0 frozen@5 stopped@30"},
		{"frozen alone", Options{FreezeAfter: 5 * min}, strings.Repeat(".", 99), "ready@0 frozen@5"},
		{"stopped alone", Options{StopAfter: 30 * min}, strings.Repeat(".", 99), "ready@0 stopped@30"},
		{"stopped before it would be frozen", Options{FreezeAfter: 30 * min, StopAfter: 30 * min}, strings.Repeat(".", 99), "ready@0 stopped@30"},
		{"the clock begins again at a touch", both, "....t...t...t......", "ready@0 frozen@17"},
		{"used for long", both, "..u" + strings.Repeat(".", 60) + "r.....", "ready@0 frozen@68"},
		{"used by two", both, "uu.......r........r......", "ready@0 frozen@23"},
		{"woken by a touch", both, ".......t.....", "ready@0 frozen@5 ready@7 frozen@12"},
		{"woken by a use", both, ".......u......", "ready@0 frozen@5 ready@7"},
		{"woken by a request", both, ".......g.....", "ready@0 frozen@5 ready@7 frozen@12"},
		{"woken by a claim", both, ".......c.....", "ready@0 frozen@5 ready@7 frozen@12"},
		{"a touch does not start it", both, strings.Repeat(".", 31) + "tg..", "ready@0 frozen@5 stopped@30"},
		{"a claim starts it", both, strings.Repeat(".", 31) + "c......", "ready@0 frozen@5 stopped@30 queued@31 starting@31 ready@31 frozen@36"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, p, _ := rested(t, c.o)
				begin, seen := time.Now(), []string(nil)
				defer m.Subscribe("a", func(s Status) {
					if s.State != Queued || s.Position == 0 {
						seen = append(seen, fmt.Sprintf("%s@%d", s.State, int(time.Since(begin).Minutes())))
					}
				})()
				var releases []func()
				for _, use := range c.minutes {
					switch use {
					case 't':
						m.Touch("a")
					case 'u':
						releases = append(releases, m.Use("a"))
					case 'r':
						releases[0]()
						releases[0]() // does nothing
						releases = releases[1:]
					case 'g':
						if _, ok := m.Get("a"); ok != (m.Status("a").State != Stopped) {
							t.Errorf("get: %t while %s", ok, m.Status("a").State)
						}
					case 'c':
						if _, err := m.Claim(t.Context(), "a"); err != nil {
							t.Error(err)
						}
					}
					time.Sleep(min)
				}
				synctest.Wait()
				var states []string
				for _, s := range seen {
					if n := len(states); n == 0 || states[n-1] != s {
						states = append(states, s)
					}
				}
				expect(t, "states", strings.Join(states, " "), c.want)
				if p.cluster("a").stopped != (m.Status("a").State == Stopped) {
					t.Error("the state is not that of the cluster")
				}
			})
		})
	}
}

func TestRestHasAReason(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, p, up := rested(t, Options{FreezeAfter: time.Minute, StopAfter: 30 * time.Minute})
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if s := m.Status("a"); s.Reason != "asleep after 1 idle minute" || len(s.Phases) != 1 || !up.asleep {
			t.Errorf("frozen: %+v", s)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := m.Status("a"); s.Reason != "hibernated after 30 idle minutes" || up.stoppedAsleep {
			t.Errorf("stopped: %+v; in its sleep: %t", s, up.stoppedAsleep)
		}
		expect(t, "calls", strings.Join(p.calls, ","), "create a,freeze a,thaw a")
	})
}

func TestASleeperIsWokenForEveryOperation(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*testing.T, *Manager) error{
		"stop":   func(t *testing.T, m *Manager) error { return m.Stop(t.Context(), "a") },
		"reset":  func(t *testing.T, m *Manager) error { return m.Reset(t.Context(), "a") },
		"delete": func(t *testing.T, m *Manager) error { return m.Delete(t.Context(), "a") },
		"close":  func(t *testing.T, m *Manager) error { return m.Close(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, _, up := rested(t, Options{FreezeAfter: time.Minute})
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if err := do(t, m); err != nil {
					t.Error(err)
				}
				if up.asleep {
					t.Error("it still slept")
				}
			})
		})
	}
}

// TestRestlessAndDeepSleepers is for clusters that cannot be frozen, or not be woken: neither is lost.
func TestRestlessAndDeepSleepers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, p, up := rested(t, Options{FreezeAfter: 5 * time.Minute, StopAfter: 30 * time.Minute})
		states := follow(t, m, "a")
		up.restless = errors.New("operation not permitted")
		time.Sleep(time.Hour)
		expect(t, "states of the restless", states(), "ready stopped")
		expect(t, "calls", strings.Join(p.calls, ","), "create a"+strings.Repeat(",freeze a,thaw a", 5))

		again, err := m.Claim(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(6 * time.Minute)
		again.(*sleeper).deep = errors.New("no such process")
		if up, err := m.Claim(t.Context(), "a"); err != nil || up == again {
			t.Errorf("a claim of one that does not wake: %v, %v", up, err)
		}
		expect(t, "states of the deep", states(), "ready stopped queued starting ready frozen stopped queued starting ready")
	})
}

// TestUseWhileItFallsAsleep is for a use that comes while the cluster is being put to rest.
func TestUseWhileItFallsAsleep(t *testing.T) {
	t.Parallel()
	for _, during := range []string{"freeze", "stop"} {
		synctest.Test(t, func(t *testing.T) {
			m, _, up := rested(t, map[string]Options{"freeze": {FreezeAfter: time.Minute}, "stop": {StopAfter: time.Minute}}[during])
			up.slow = time.Second
			time.Sleep(time.Minute + time.Second/2)
			defer m.Use("a")()
			time.Sleep(time.Minute)
			if s := m.Status("a"); s.State != Ready {
				t.Errorf("used during %s: %+v", during, s)
			}
		})
	}
}

func TestDeathInSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, _, up := rested(t, Options{FreezeAfter: time.Minute})
		states := follow(t, m, "a")
		time.Sleep(90 * time.Second)
		up.health.Set(Health{Ready: true}) // said once more
		synctest.Wait()
		up.health.Set(Health{Reason: "it was killed"})
		synctest.Wait()
		up.health.Set(Health{Ready: true})
		time.Sleep(90 * time.Second)
		up.health.Set(Health{Reason: "it dies and dies", Fatal: true})
		expect(t, "states", states(), "ready frozen healing ready frozen failed")
	})
}

// TestDeathWhileItFallsAsleep is for a process that dies as it is frozen: the next one must not be left frozen.
func TestDeathWhileItFallsAsleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, p, up := rested(t, Options{FreezeAfter: time.Minute})
		up.slow = time.Second
		time.Sleep(time.Minute + time.Second/2)
		up.health.Set(Health{Reason: "it was killed"})
		time.Sleep(time.Second)
		if s := m.Status("a"); s.State != Healing || up.asleep {
			t.Errorf("status %+v, asleep: %t", s, up.asleep)
		}
		expect(t, "calls", strings.Join(p.calls, ","), "create a,freeze a,thaw a")
	})
}
