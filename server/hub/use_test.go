package hub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/apilab/apilab/cluster"
)

// A runner is a shell in which a command runs or not, as the test says.
type runner struct {
	Shell
	busy bool
	done chan struct{}
}

func (r *runner) Busy() bool            { return r.busy }
func (r *runner) Title() string         { return "" }
func (r *runner) Done() <-chan struct{} { return r.done }
func (r *runner) Close() error          { return nil }

func TestPagesAndCommandsKeepTheClusterAwake(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		inUse := func(when string, want int) {
			t.Helper()
			synctest.Wait()
			s.clusters.mu.Lock()
			defer s.clusters.mu.Unlock()
			if s.clusters.uses != want {
				t.Errorf("%s: %d uses, want %d", when, s.clusters.uses, want)
			}
		}
		inUse("one page", 1)
		second := &reader{}
		s.Join(second)
		s.Leave(s.page)
		inUse("another page", 1)
		s.Leave(second)
		inUse("no page", 0)

		s.Join(s.page)
		command := &runner{busy: true, done: make(chan struct{})}
		s.terminals = append(s.terminals, newTerminal(7, command, Size{80, 24}))
		s.Leave(s.page)
		time.Sleep(time.Hour)
		inUse("a command runs", 1)
		command.busy = false
		time.Sleep(lookAgain)
		inUse("it has ended", 0)

		s.Join(s.page)
		s.Close()
		inUse("the server stops", 0)
	})
}

func TestASessionRestsWithItsCluster(t *testing.T) {
	for _, rest := range []cluster.State{cluster.Frozen, cluster.Stopped} {
		t.Run(string(rest), func(t *testing.T) {
			bubble(t, func(t *testing.T, s *stage) {
				c := &aCluster{}
				s.clusters.turn(cluster.Ready, c)
				s.open(t, "t/00")
				s.clusters.turn(rest, c)
				synctest.Wait()
				if !s.judges[0].closed {
					t.Error("the session goes on, with watches that nobody answers")
				}
				s.clusters.turn(cluster.Ready, c)
				synctest.Wait()
				if len(s.judges) != 2 || len(s.judges[1].opened) != 1 {
					t.Error("what was open is not open again")
				}
			})
		})
	}
}
