package class

import (
	"fmt"
	"sync"
	"time"

	"github.com/apilab/apilab/cli/bench/figures"
)

// A tally is what all learners of a run have seen together.
type tally struct {
	mu sync.Mutex

	warmed time.Duration // what it took to make a cluster for each learner ahead

	// In seconds.
	claimed figures.Samples // first lesson asked for → cluster ready
	back    figures.Samples // server killed → page connected again
	whole   figures.Samples // server killed → cluster ready and a shell's prompt there again

	// In milliseconds.
	joined   figures.Samples // join page asked for → form sent → page that greets
	loaded   figures.Samples // a lesson's page asked for → all of it there
	prepared figures.Samples // exercise opened → its setup done
	green    figures.Samples // learner's request answered, or an event of their watch delivered → its check green in the page
	probed   figures.Samples // learner's write answered → probe's check green
	answered figures.Samples // answer sent → its check green
	echoed   figures.Samples // key sent → its echo there
	seen     figures.Samples // check green → so in the instructor's grid

	place     int // in the queue, the last one seen
	exercises int // done, all checks green
	notGreen  []string
	pages     int // loaded
	keys      int
	cuts      int // connections broken on purpose
	output    int // bytes of terminals
	lost      int // of them
	doubled   int
	altered   int
	mistyped  int      // commands that the shell took otherwise than they were typed
	requests  int      // over HTTP, and messages with a reply
	failed    []string // of them
	sockets   []string // websockets that broke by themselves
	vanished  []string // what a restart of the server took away
	gaveUp    []string // learners who could not go on
}

func (t *tally) edit(edit func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	edit()
}

func (t *tally) seconds(s *figures.Samples, d time.Duration) {
	t.edit(func() { s.Add(d.Seconds()) })
}

func (t *tally) milliseconds(s *figures.Samples, d time.Duration) {
	t.edit(func() { s.Add(figures.Milliseconds(d)) })
}

// maxTold bounds how many mistakes of a kind are told in full.
const maxTold = 20

// mistakes are what must not happen, for people. The first of each kind are told in full.
func (t *tally) mistakes() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := []string{}
	for _, kind := range []struct {
		what string
		told []string
	}{
		{"gave up", t.gaveUp}, {"check not green", t.notGreen}, {"failed request", t.failed}, {"websocket broke", t.sockets}, {"vanished", t.vanished},
	} {
		for i, text := range kind.told {
			if i == maxTold {
				all = append(all, fmt.Sprintf("%s: %d more", kind.what, len(kind.told)-maxTold))
				break
			}
			all = append(all, kind.what+": "+text)
		}
	}
	for what, n := range map[string]int{"terminal bytes lost": t.lost, "terminal bytes doubled": t.doubled, "terminal bytes altered": t.altered, "commands mistyped": t.mistyped} {
		if n > 0 {
			all = append(all, fmt.Sprintf("%s: %d", what, n))
		}
	}
	return all
}
