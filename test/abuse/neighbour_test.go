package abuse

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apilab/apilab/cluster"
)

const (
	// slow is how long a key of a neighbour may take to be seen, and a request of theirs to be answered: long, for the
	// machines that tests run on. How long it takes a class is measured by `make bench-class`.
	slow = 15 * time.Second
	// tooMuch is what no abuse may add to the memory of the server's process.
	tooMuch = 400 << 20
)

// A neighbour is a learner who types and asks their API server all the time, and must not notice what others do.
type neighbour struct {
	page     *page
	terminal *terminal
	api      *api
	uid      string // of an object in their cluster
	stop     func() // and waits
	worst    time.Duration
	trouble  string
	rounds   int
}

// neighbour puts a learner beside those who misbehave.
func (s *server) neighbour(t *testing.T, v *visitor) *neighbour {
	t.Helper()
	p := v.page(t)
	p.ready()
	n := &neighbour{page: p, terminal: p.terminal(), api: p.api(t)}
	n.uid = uid(n.api.does("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"kept"}}`))
	return n
}

// uid is that of an object in JSON.
func uid(object string) string {
	_, rest, _ := strings.Cut(object, `"uid":"`)
	uid, _, _ := strings.Cut(rest, `"`)
	return uid
}

// begin begins a time in which somebody misbehaves.
func (n *neighbour) begin(t *testing.T) {
	n.page.t, n.api.t = t, t
	n.worst, n.trouble, n.rounds = 0, "", 0
	ctx, cancel := context.WithCancel(context.Background())
	var living sync.WaitGroup
	n.stop = func() {
		cancel()
		living.Wait()
	}
	t.Cleanup(n.stop)
	living.Go(func() {
		for ctx.Err() == nil {
			n.live()
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	})
}

// live types a line and asks for an object.
func (n *neighbour) live() {
	n.rounds++
	began := time.Now()
	word := fmt.Sprintf("=%d=", began.UnixNano())
	n.page.mu.Lock()
	n.terminal.text = nil
	n.page.mu.Unlock()
	if err := n.terminal.keys("echo '" + word[:5] + "''" + word[5:] + "'\r"); err != nil {
		n.trouble = "typing: " + err.Error()
		return
	}
	if err := n.page.within(4*slow, func() bool { return strings.Contains(string(n.terminal.text), word) }); err != nil {
		n.trouble = "the terminal: " + err.Error()
	}
	n.worst = max(n.worst, time.Since(began))
	began = time.Now()
	if code, text, err := n.api.try("GET", "/api/v1/namespaces/default/configmaps/kept", ""); err != nil || code != 200 || uid(text) != n.uid {
		n.trouble = fmt.Sprintf("the API server: %d %.300s %v", code, text, err)
	}
	n.worst = max(n.worst, time.Since(began))
}

// end ends that time and tells what the neighbour noticed.
func (n *neighbour) end(t *testing.T) {
	t.Helper()
	n.stop()
	n.page.mu.Lock()
	state, lost := n.page.cluster.State, n.terminal.lost
	n.page.mu.Unlock()
	switch {
	case n.trouble != "":
		t.Errorf("a neighbour has trouble: %s", n.trouble)
	case n.worst > slow:
		t.Errorf("a neighbour waits %s", n.worst)
	case state != cluster.Ready:
		t.Errorf("a neighbour's cluster is %s", state)
	case lost:
		t.Error("a neighbour's terminal lost output")
	}
	t.Logf("a neighbour did %d rounds and waited %s at most", n.rounds, n.worst.Round(time.Millisecond))
}
