package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// two returns a manager of the backends light and heavy.
func two(t *testing.T, o Options) (m *Manager, light, heavy *fakeProvider) {
	t.Helper()
	light, heavy = newFake(), newFake()
	return manage(t, o, Backend{Name: "light", Provider: light}, Backend{Name: "heavy", Provider: heavy}), light, heavy
}

func TestSwitch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		choices := &memory{}
		m, light, heavy := two(t, Options{Choices: choices})
		expect(t, "backends", strings.Join(m.Backends(), " "), "light heavy")
		expect(t, "backend at first", m.Status("a").Backend, "light")
		states := follow(t, m, "a")
		if _, err := m.Claim(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{"heavy", "heavy", "light", "heavy"} {
			if err := m.Switch(t.Context(), "a", to); err != nil {
				t.Fatal(err)
			}
			expect(t, "backend", m.Status("a").Backend, to)
		}
		expect(t, "states", states(), "absent queued creating ready "+
			"stopped queued creating ready stopped queued starting ready stopped queued starting ready")
		expect(t, "calls of light", strings.Join(light.calls, ","), "create a,adopt a")
		expect(t, "calls of heavy", strings.Join(heavy.calls, ","), "create a,adopt a")
		if !light.cluster("a").stopped || heavy.cluster("a").stopped {
			t.Error("the wrong one runs")
		}

		again := manage(t, Options{Choices: choices}, m.backends[0].Backend, m.backends[1].Backend)
		expect(t, "backend of the next run", again.Status("a").Backend, "heavy")
		expect(t, "backend of another learner", again.Status("b").Backend, "light")
	})
}

func TestSwitchThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("no space left")
	for _, c := range []struct {
		name   string
		claim  bool
		broken func(light, heavy *fakeProvider)
		state  State
		states string
		reason string
	}{
		{"the old one ran", true, func(_, heavy *fakeProvider) { heavy.fail = broken }, Ready,
			"absent queued creating ready stopped queued creating failed stopped queued starting ready", "switch to heavy: no space left"},
		{"there was none", false, func(_, heavy *fakeProvider) { heavy.fail = broken }, Absent,
			"absent queued creating failed absent", "switch to heavy: no space left"},
		{"the old one does not stop", true, func(light, _ *fakeProvider) { light.cluster("a").stuck = broken }, Ready,
			"absent queued creating ready", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, light, heavy := two(t, Options{})
				states := follow(t, m, "a")
				if c.claim {
					if _, err := m.Claim(t.Context(), "a"); err != nil {
						t.Fatal(err)
					}
				}
				c.broken(light, heavy)
				if err := m.Switch(t.Context(), "a", "heavy"); !errors.Is(err, broken) {
					t.Errorf("switch: %v", err)
				}
				s := m.Status("a")
				if s.Backend != "light" || s.State != c.state || s.Reason != c.reason {
					t.Errorf("status %+v", s)
				}
				expect(t, "states", states(), c.states)
				if _, ok := m.Get("a"); ok != (c.state == Ready) {
					t.Errorf("ready: %t", ok)
				}
				light.mend("a")
				heavy.fail = nil
				if err := m.Switch(t.Context(), "a", "heavy"); err != nil {
					t.Errorf("the next switch: %v", err)
				}
			})
		})
	}
}

// TestClaimDuringASwitch is for requests that come while a switch is under way: they wait for it, and get what is there
// then.
func TestClaimDuringASwitch(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m, light, heavy := two(t, Options{})
			if _, err := m.Claim(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
			if fails {
				heavy.fail = errors.New("no space left")
			}
			go m.Switch(t.Context(), "a", "heavy")
			synctest.Wait()
			up, err := m.Claim(t.Context(), "a")
			if want := map[bool]*fakeProvider{false: heavy, true: light}[fails].cluster("a"); err != nil || up != want {
				t.Errorf("the switch fails: %t, the claim got %v, %v", fails, up, err)
			}
		})
	}
}

func TestResetReplacesASwitch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, light, heavy := two(t, Options{})
		if _, err := m.Claim(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		switched := make(chan error, 1)
		go func() { switched <- m.Switch(t.Context(), "a", "heavy") }()
		time.Sleep(startTime / 2)
		if err := m.Reset(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		if err := <-switched; !errors.Is(err, ErrCancelled) {
			t.Errorf("the switch that was replaced: %v", err)
		}
		expect(t, "backend", m.Status("a").Backend, "light")
		expect(t, "calls of light", strings.Join(light.calls, ","), "create a,delete a,create a")
		expect(t, "calls of heavy", strings.Join(heavy.calls, ","), "create a")
	})
}

func TestResetAndDeleteWithTwoBackends(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, light, heavy := two(t, Options{})
		if _, err := m.Claim(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if err := m.Switch(t.Context(), "a", "heavy"); err != nil {
			t.Fatal(err)
		}
		if err := m.Reset(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		if slices.Contains(light.calls, "delete a") {
			t.Error("a reset deletes what is not active")
		}
		expect(t, "calls", strings.Join(heavy.calls, ","), "create a,delete a,create a")
		if err := m.Delete(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		if len(light.data)+len(heavy.data) != 0 {
			t.Errorf("left over: %v, %v", light.data, heavy.data)
		}
	})
}

func TestUnknownBackends(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		choices := &memory{}
		if err := choices.SetBackend(t.Context(), "a", "gone"); err != nil {
			t.Fatal(err)
		}
		m, light, _ := two(t, Options{Choices: choices})
		const says = `there is no backend "gone" on this server; it has light, heavy`
		_, err := m.Claim(t.Context(), "a")
		for what, err := range map[string]error{
			"claim": err, "reset": m.Reset(t.Context(), "a"), "switch": m.Switch(t.Context(), "b", "gone"),
		} {
			var unknown *UnknownBackendError
			if !errors.As(err, &unknown) || err.Error() != says {
				t.Errorf("%s: %v", what, err)
			}
		}
		if s := m.Status("a"); s.State != Failed || s.Reason != says || s.Backend != "gone" {
			t.Errorf("status %+v", s)
		}
		if err := m.Switch(t.Context(), "a", "light"); err != nil {
			t.Errorf("a way out: %v", err)
		}
		expect(t, "calls", strings.Join(light.calls, ","), "create a")
	})
}

// TestChoicesThatCannotBeRead is for a store that fails: nobody gets a cluster that may not be theirs.
func TestChoicesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		choices := &flaky{err: errors.New("the disk is gone")}
		m, light, _ := two(t, Options{Choices: choices})
		if _, err := m.Claim(t.Context(), "a"); !errors.Is(err, choices.err) {
			t.Errorf("claim: %v", err)
		}
		choices.err = nil
		if err := m.Retry(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		expect(t, "calls", strings.Join(light.calls, ","), "create a")
	})
}

// flaky are Choices that cannot be read.
type flaky struct {
	memory
	err error
}

func (f *flaky) Backend(ctx context.Context, learner string) (string, error) {
	if f.err != nil {
		return "", f.err
	}
	return f.memory.Backend(ctx, learner)
}

// checked is a provider that says beforehand what it lacks.
type checked struct {
	*fakeProvider
	lacks error
}

func (c *checked) Check(context.Context, Spec) error { return c.lacks }

// TestSwitchThatCannotBegin leaves the cluster running that there is.
func TestSwitchThatCannotBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		light, heavy := newFake(), &checked{newFake(), errors.New("no container engine")}
		m := manage(t, Options{}, Backend{Name: "light", Provider: light}, Backend{Name: "heavy", Provider: heavy})
		claim(t, m, "a")
		states := follow(t, m, "a")
		if err := m.Switch(t.Context(), "a", "heavy"); !errors.Is(err, heavy.lacks) {
			t.Errorf("switch: %v", err)
		}
		expect(t, "states", states(), "ready")
		s := m.Status("a")
		expect(t, "status", s.Backend+" "+s.Reason, "light switch to heavy: no container engine")
		if light.cluster("a").stopped || len(heavy.calls) > 0 {
			t.Error("the cluster was stopped, or the other one was made")
		}

		heavy.data["a"] = true // as their cluster is there, nothing need be made
		if err := m.Switch(t.Context(), "a", "heavy"); err != nil {
			t.Error(err)
		}
		expect(t, "backend", m.Status("a").Backend, "heavy")
	})
}
