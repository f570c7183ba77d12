package streams

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apilab/apilab/shell"
)

// A console drives a terminal of the learner's as a page does.
type console struct {
	*shell.Terminal
	t    *testing.T
	sent uint64
	grew chan struct{}

	mu  sync.Mutex
	out strings.Builder // since the last expectation
}

func (l *lab) open(t *testing.T) *console {
	t.Helper()
	term, err := shell.Start(t.Context(), l.options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { term.Close() })
	c := &console{Terminal: term, t: t, grew: make(chan struct{}, 1)}
	go c.listen()
	c.expect(`\$ $`)
	return c
}

func (c *console) listen() {
	for at := uint64(0); ; {
		start, p, err := c.Read(context.Background(), at, 64<<10)
		if err != nil {
			return
		}
		at = start + uint64(len(p))
		c.mu.Lock()
		c.out.Write(p)
		c.mu.Unlock()
		select {
		case c.grew <- struct{}{}:
		default:
		}
	}
}

func (c *console) send(text string) {
	c.t.Helper()
	for len(text) > 0 {
		acked, err := c.Write("page", c.sent, []byte(text))
		if err != nil {
			c.t.Fatal(err)
		}
		text = text[acked-c.sent:]
		c.sent = acked
	}
}

var sequences = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\a]*\a|\r`)

// expect waits until a pattern appears in what came since the last call, and returns what came.
func (c *console) expect(pattern string) string {
	c.t.Helper()
	re := regexp.MustCompile(pattern)
	deadline := time.After(time.Minute)
	for {
		c.mu.Lock()
		text := sequences.ReplaceAllString(c.out.String(), "")
		found := re.MatchString(text)
		if found {
			c.out.Reset()
		}
		c.mu.Unlock()
		if found {
			return text
		}
		select {
		case <-c.grew:
		case <-deadline:
			c.t.Fatalf("no %q in %q", pattern, text)
		}
	}
}

// run enters a command and waits for the next prompt.
func (c *console) run(command string) string {
	c.t.Helper()
	c.send(command + "; echo status=$?\r")
	return c.expect(`\nstatus=\d+\n`)
}
