package cluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// warmUp waits for the end of a warm-up.
func warmUp(t *testing.T, m *Manager, n int) error {
	t.Helper()
	m.StartWarmUp(n)
	ended := make(chan WarmUp, 100)
	stop := m.FollowWarmUp(func(w WarmUp) {
		if !w.UnderWay {
			ended <- w
		}
	})
	defer stop()
	if w := <-ended; w.Reason != "" {
		return errors.New(w.Reason)
	}
	return nil
}

func TestWarmUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		m := manage(t, Options{}, Backend{Name: "fake", Provider: p, Parallel: 2})
		begin := time.Now()
		for _, n := range []int{3, 5, 4} {
			if err := warmUp(t, m, n); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(begin); took != 3*startTime || p.spares() != 5 {
			t.Errorf("%d after %s", p.spares(), took)
		}
		m.StartWarmUp(50)
		time.Sleep(startTime * 3 / 2)
		m.StopWarmUp()
		synctest.Wait()
		expect(t, "one that was given up", fmt.Sprint(m.warming.told.Get()), "{50 7 false it was given up}")
		if p.spares() != 7 || m.pool.size() != 7 {
			t.Errorf("%d clusters, %d in the pool", p.spares(), m.pool.size())
		}
		p.fail = errors.New("no space left")
		if err := warmUp(t, m, 50); err == nil || !strings.HasSuffix(err.Error(), p.fail.Error()) {
			t.Errorf("one that fails: %v", err)
		}
		if p.spares() != 7 || m.pool.size() != 7 {
			t.Errorf("%d clusters, %d in the pool", p.spares(), m.pool.size())
		}
	})
}

// TestSeveralPagesSeeOneWarmUp is for instructors who press the button at the same time, and pages that are opened later.
func TestSeveralPagesSeeOneWarmUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		m := manage(t, Options{}, Backend{Name: "fake", Provider: p, Parallel: 1})
		page := func() (told func() string) {
			var seen []string
			t.Cleanup(m.FollowWarmUp(func(w WarmUp) { seen = append(seen, fmt.Sprintf("%d/%d", w.Ready, w.Wanted)) }))
			return func() string { synctest.Wait(); return strings.Join(seen, " ") }
		}
		first := page()
		m.StartWarmUp(3)
		time.Sleep(startTime + time.Second)
		m.StartWarmUp(2)
		second := page()
		m.StartWarmUp(4)
		claim(t, m, "a") // takes the one that is ready, which is not made again
		time.Sleep(time.Minute)
		expect(t, "the first page", first(), "0/0 0/3 1/3 1/4 2/4 3/4 4/4")
		expect(t, "the second", second(), "1/3 1/4 2/4 3/4 4/4")
		if m.pool.size() != 3 || p.most != 1 {
			t.Errorf("%d are left, made %d at a time", m.pool.size(), p.most)
		}
	})
}

func TestNoWarmUpOfAClosedManager(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := manage(t, Options{}, Backend{Name: "fake", Provider: newFake()})
		m.StartWarmUp(3)
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
		m.StartWarmUp(3)
		expect(t, "it", fmt.Sprint(m.warming.told.Get().UnderWay, m.pool.size()), "false 0")
	})
}

// TestAWarmUpGivenUpAtTheLastMoment leaves each cluster in the pool or nowhere.
func TestAWarmUpGivenUpAtTheLastMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newFake()
		m := manage(t, Options{}, Backend{Name: "fake", Provider: p, Parallel: 3})
		for range 20 {
			m.StartWarmUp(m.pool.size() + 3)
			time.Sleep(startTime)
			m.StopWarmUp()
			synctest.Wait()
			if p.spares() != m.pool.size() {
				t.Fatalf("%d clusters, %d in the pool", p.spares(), m.pool.size())
			}
		}
	})
}
