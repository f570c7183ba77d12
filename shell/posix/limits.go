package posix

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of one shell; 0 is none.
type Limits struct {
	Memory     uint64 // bytes of heap and stacks in the shell's process
	Goroutines int    // commands at once, about
	Jobs       int    // background jobs at once
}

// A LimitError says which limit stopped a command, for the learner.
type LimitError struct{ reason string }

func (e *LimitError) Error() string { return limitPrefix + e.reason + "\x1b[0m" }

const limitPrefix = "\x1b[31mstopped: "

// meter stops what outgrows the limits.
type meter struct {
	limits Limits
	calls  atomic.Uint64
	mu     sync.Mutex
}

func newMeter(l Limits) *meter { return &meter{limits: l} }

// memory is what heap objects and stacks take.
func memory() (objects, stacks uint64) {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64(), s[1].Value.Uint64()
}

// maxStacks is some ten thousand calls deep. Each looks its variables up in all scopes, so that a deeper recursion takes
// long to reach the limit of memory.
const maxStacks = 48 << 20

// check looks at the limits. It is called for each command, and does the costlier part for some of them: a recursion
// grows the stack by a few kilobytes per command, and must be stopped before the runtime gives up.
func (m *meter) check() error {
	if m.limits.Goroutines > 0 && runtime.NumGoroutine() > m.limits.Goroutines {
		return &LimitError{"too many commands at once (a fork bomb?)"}
	}
	if m.calls.Add(1)%128 == 0 {
		return m.checkMemory()
	}
	return nil
}

func (m *meter) checkMemory() error {
	if m.limits.Memory == 0 {
		return nil
	}
	objects, stacks := memory()
	if objects+stacks <= m.limits.Memory && stacks <= maxStacks {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	runtime.GC() // what is counted may be garbage
	switch objects, stacks := memory(); {
	case stacks > maxStacks:
		return &LimitError{"it calls itself too deeply"}
	case objects+stacks > m.limits.Memory:
		return &LimitError{fmt.Sprintf("it needs more than %d MiB of memory", m.limits.Memory>>20)}
	}
	return nil
}

// watch cancels a command that grows without calling others: a command substitution that never ends, a doubling string.
func (m *meter) watch(cancel context.CancelCauseFunc) (stop func()) {
	if m.limits.Memory == 0 {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if err := m.checkMemory(); err != nil {
					cancel(err)
					return
				}
			}
		}
	}()
	return func() { close(done) }
}

// recover gives memory back after a command was stopped.
func (m *meter) recover() { debug.FreeOSMemory() }
