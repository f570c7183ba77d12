package kind

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
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

	ends := []struct {
		name string
		run  func()
	}{
		{"cancelled", func() {
			a.page.ask("cluster.cancel")
			a.page.becomes(cluster.Absent)
		}},
		{"failed, its node killed", func() {
			a.eventually("make a node", func() error { return exec.Command(string(engine), "kill", node).Run() })
			if reason := a.page.becomes(cluster.Failed).Reason; reason == "" {
				t.Error("the learner is not told why it failed")
			}
		}},
		{"orphaned, and swept at the next start", func() {
			a.end(syscall.SIGKILL)
			a = start(t, dir)
			a.page.becomes(cluster.Creating)
			a.page.ask("cluster.cancel")
			a.page.becomes(cluster.Absent)
		}},
		{"deleted when ready", func() {
			a.page.becomes(cluster.Ready)
			a.page.ask("cluster.reset")
			a.page.becomes(cluster.Creating)
			a.page.ask("cluster.cancel")
			a.page.becomes(cluster.Absent)
		}},
	}
	for n, way := range random.Perm(len(ends)) {
		if n > 0 {
			a.page.ask("cluster.start")
			a.page.becomes(cluster.Creating)
		}
		pause := time.Duration(random.Int64N(int64(12 * time.Second)))
		t.Logf("after %s %s", pause.Round(time.Millisecond), ends[way].name)
		time.Sleep(pause)
		ends[way].run()
		if after := inventory(t); !slices.Equal(after, before) {
			t.Errorf("left behind: %v; there were %v", after, before)
		}
	}
}
