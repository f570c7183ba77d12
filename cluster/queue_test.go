package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		// do are steps, one after the other: enter NAME, ahead NAME (enters for nobody), cancel NAME, leave (of whoever has
		// a turn).
		do   string
		want string // who has a turn, and who waits at which place
	}{
		{"free places", "enter a, enter b", "a b |"},
		{"in order", "enter a, enter b, enter c, enter d", "a b | c1 d2"},
		{"a turn ends", "enter a, enter b, enter c, enter d, leave", "a b c | d1"},
		{"all turns end", "enter a, enter b, enter c, leave, leave, leave, enter d", "a b c d |"},
		{"one gives up", "enter a, enter b, enter c, enter d, enter e, cancel c", "a b | d1 e2"},
		{"what is made ahead waits behind", "enter a, enter b, ahead x, enter c, ahead y, enter d", "a b | c1 d2 x3 y4"},
		{"what is made ahead gets its turn", "enter a, enter b, ahead x, leave, enter c", "a b x | c1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := &queue{free: 2}
				var mu sync.Mutex
				var turns []string
				waits, cancels := map[string]int{}, map[string]context.CancelFunc{}
				for step := range strings.SplitSeq(c.do, ", ") {
					verb, name, _ := strings.Cut(step, " ")
					switch verb {
					case "enter", "ahead":
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						cancels[name] = cancel
						go func() {
							err := q.enter(ctx, verb == "ahead", func(position int) {
								mu.Lock()
								defer mu.Unlock()
								waits[name] = position
							})
							mu.Lock()
							defer mu.Unlock()
							delete(waits, name)
							if err == nil {
								turns = append(turns, name)
							}
						}()
					case "cancel":
						cancels[name]()
					case "leave":
						q.leave()
					}
					synctest.Wait()
				}
				var waiting []string
				for name, position := range waits {
					waiting = append(waiting, fmt.Sprint(name, position))
				}
				slices.SortFunc(waiting, func(a, b string) int { return strings.Compare(a[1:], b[1:]) })
				got := strings.TrimSpace(strings.Join(turns, " ") + " | " + strings.Join(waiting, " "))
				expect(t, "turns and places", got, c.want)
			})
		})
	}
}

// TestATurnIsNotLost is for who gives up at the moment of their turn.
func TestATurnIsNotLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &queue{free: 1}
		for round := range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			if err := q.enter(t.Context(), false, nil); err != nil {
				t.Fatal(err)
			}
			entered := make(chan error, 1)
			go func() { entered <- q.enter(ctx, false, func(int) {}) }()
			synctest.Wait()
			if round%2 == 0 {
				cancel()
				q.leave()
			} else {
				q.leave()
				cancel()
			}
			if <-entered == nil {
				q.leave()
			}
			synctest.Wait()
			if q.free != 1 {
				t.Fatalf("%d turns are free", q.free)
			}
		}
	})
}

func TestPositionsAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := manage(t, Options{}, Backend{Name: "fake", Provider: newFake(), Parallel: 1})
		claim := func(id string) chan error {
			done := make(chan error, 1)
			go func() {
				_, err := m.Claim(t.Context(), id)
				done <- err
			}()
			synctest.Wait()
			return done
		}
		positions := func() string {
			var all []string
			for _, id := range []string{"a", "b", "c", "d"} {
				s := m.Status(id)
				all = append(all, fmt.Sprint(s.State, s.Position))
			}
			return strings.Join(all, " ")
		}
		claim("a")
		b := claim("b")
		claim("c")
		d := claim("d")
		expect(t, "at first", positions(), "creating0 queued1 queued2 queued3")
		if err := m.Stop(t.Context(), "b"); err != nil {
			t.Error(err)
		}
		if err := <-b; !errors.Is(err, ErrCancelled) {
			t.Errorf("the claim that was given up: %v", err)
		}
		expect(t, "reason of b", m.Status("b").Reason, "its start was given up")
		expect(t, "when b has left", positions(), "creating0 absent0 queued1 queued2")
		time.Sleep(startTime)
		synctest.Wait()
		expect(t, "when a is ready", positions(), "ready0 absent0 creating0 queued1")
		if err := <-d; err != nil {
			t.Error(err)
		}
	})
}

// TestParallelIsPerBackend is for one backend that is busy: it does not keep those waiting who want another.
func TestParallelIsPerBackend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		light, heavy := newFake(), newFake()
		m := manage(t, Options{}, Backend{Name: "light", Provider: light, Parallel: 2}, Backend{Name: "heavy", Provider: heavy, Parallel: 1})
		begin := time.Now()
		var claims sync.WaitGroup
		for i := range 4 {
			claims.Go(func() {
				if _, err := m.Claim(t.Context(), fmt.Sprint("l", i)); err != nil {
					t.Error(err)
				}
			})
			claims.Go(func() {
				if err := m.Switch(t.Context(), fmt.Sprint("h", i), "heavy"); err != nil {
					t.Error(err)
				}
			})
		}
		claims.Wait()
		if took := time.Since(begin); took != 4*startTime || light.most != 2 || heavy.most != 1 {
			t.Errorf("took %s; at most %d light and %d heavy ones at a time", took, light.most, heavy.most)
		}
	})
}

// TestWhyAClusterWaits is what the learner reads beside their place.
func TestWhyAClusterWaits(t *testing.T) {
	t.Parallel()
	for parallel, want := range map[int]string{
		1: "1 another cluster is being started, and this machine's processors bear one at a time",
		2: "1 2 clusters are being started, as many as this machine's processors bear at a time",
	} {
		synctest.Test(t, func(t *testing.T) {
			m := manage(t, Options{}, Backend{Name: "fake", Provider: newFake(), Parallel: parallel})
			for n := range parallel {
				go m.Claim(t.Context(), fmt.Sprint("before-", n))
			}
			synctest.Wait()
			go m.Claim(t.Context(), "a")
			synctest.Wait()
			s := m.Status("a")
			expect(t, "why", fmt.Sprint(s.Position, " ", s.Reason), want)
			time.Sleep(startTime)
			synctest.Wait()
			expect(t, "when it is its turn", fmt.Sprint(m.Status("a").State, m.Status("a").Reason), "creating")
			_ = m.Close(t.Context())
		})
	}
}
