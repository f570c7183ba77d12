package kind

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/apilab/apilab/cluster"
)

// TestLeaks ends clusters in all ways that there are, in random order and at random moments. APILAB_TEST_SEED repeats a run.
func TestLeaks(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("APILAB_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("APILAB_TEST_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	leavesNothing(t, dir)
	before := inventory(t)
	a := start(t, dir)
	a.page.becomes(cluster.Creating) // the page claims a cluster when it is opened

	ends := []func(){
		func() { // cancelled
			a.page.ask("cluster.cancel")
			a.page.until("given up", over)
		},
		func() { // failed
			if exec.Command(string(engine), "kill", node).Run() != nil {
				t.Log("there was no node to kill yet")
				a.page.ask("cluster.cancel")
			}
			a.page.until("failed", over)
		},
		func() { // orphaned, and swept at the next start
			a.end(syscall.SIGKILL)
			a = start(t, dir)
			a.page.becomes(cluster.Creating)
			a.page.ask("cluster.cancel")
			a.page.until("given up", over)
		},
		func() { // deleted
			a.page.becomes(cluster.Ready)
			a.page.ask("cluster.reset")
			a.page.becomes(cluster.Creating)
			a.page.ask("cluster.cancel")
			a.page.until("given up", over)
		},
	}
	for n, way := range random.Perm(len(ends)) {
		if n > 0 {
			a.page.ask("cluster.start")
			a.page.becomes(cluster.Creating)
		}
		pause := time.Duration(random.Int64N(int64(12 * time.Second)))
		t.Logf("%d: %s, then %s", n+1, pause.Round(time.Millisecond), []string{"cancel", "kill the node", "kill apilab", "delete when ready"}[way])
		time.Sleep(pause)
		ends[way]()
		if after := inventory(t); len(after) != len(before) {
			t.Errorf("left behind: %v", after)
		}
	}
}

// over reports whether a cluster that was being made is no more.
func over(s cluster.Status) bool { return s.State == cluster.Absent || s.State == cluster.Failed }
