package observe

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

func TestFollowersSeeEachValueInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var v Value[int]
		v.Set(1)
		var early, late []int
		stop := v.Follow(func(n int) { early = append(early, n) })
		v.Set(2)
		defer v.Follow(func(n int) { late = append(late, n) })()
		v.Update(func(n int) int { return n + 1 })
		synctest.Wait()
		if !slices.Equal(early, []int{1, 2, 3}) || !slices.Equal(late, []int{2, 3}) || v.Get() != 3 {
			t.Errorf("early %v, late %v, now %d", early, late, v.Get())
		}
		stop()
		stop()
		v.Set(4)
		synctest.Wait()
		if len(early) != 3 {
			t.Errorf("told after stop: %v", early)
		}
	})
}

func TestAFollowerMayUseTheValue(t *testing.T) {
	t.Parallel()
	var v Value[int]
	var once sync.WaitGroup
	once.Add(1)
	var stop func()
	ready := make(chan struct{})
	stop = v.Follow(func(int) {
		<-ready
		v.Get()
		stop()
		once.Done()
	})
	close(ready)
	once.Wait()
	v.Set(1)
}
