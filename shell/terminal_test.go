package shell

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// console drives a terminal as a page does.
type console struct {
	*Terminal
	t    *testing.T
	sent uint64
	mu   sync.Mutex
	out  strings.Builder
	grew chan struct{}
}

func open(t *testing.T, o Options) *console {
	t.Helper()
	term, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c := &console{Terminal: term, t: t, grew: make(chan struct{}, 1)}
	go c.listen()
	t.Cleanup(func() { term.Close() })
	c.expect("$")
	return c
}

func (c *console) listen() {
	at := uint64(0)
	for {
		start, p, err := c.Read(context.Background(), at, 64<<10)
		if err != nil {
			return
		}
		c.mu.Lock()
		c.out.Write(p)
		c.mu.Unlock()
		at = start + uint64(len(p))
		select {
		case c.grew <- struct{}{}:
		default:
		}
	}
}

func (c *console) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

func (c *console) send(text string) {
	c.t.Helper()
	p := []byte(text)
	for len(p) > 0 {
		acked, err := c.Write("page", c.sent, p)
		if err != nil {
			c.t.Fatal(err)
		}
		p = p[acked-c.sent:]
		c.sent = acked
	}
}

var sequences = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\a]*\a`)

// plain is a text without what only a terminal shows.
func plain(text string) string {
	return strings.ReplaceAll(sequences.ReplaceAllString(text, ""), "\r", "")
}

// expect waits until a pattern appears in what came since the last call, and returns what came.
func (c *console) expect(pattern string) string {
	c.t.Helper()
	re := regexp.MustCompile(`(?s)` + regexp.QuoteMeta(pattern))
	return c.match(re)
}

func (c *console) match(re *regexp.Regexp) string {
	c.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		c.mu.Lock()
		raw := c.out.String()
		if loc := re.FindStringIndex(plain(raw)); loc != nil {
			text := plain(raw)
			c.out.Reset()
			c.mu.Unlock()
			return text
		}
		c.mu.Unlock()
		select {
		case <-c.grew:
		case <-deadline:
			c.t.Fatalf("no %q in %q", re, plain(raw))
		}
	}
}

// run enters a command and returns its output.
func (c *console) run(command string) string {
	c.t.Helper()
	c.mu.Lock()
	c.out.Reset()
	c.mu.Unlock()
	c.send(command + "\r")
	for {
		c.mu.Lock()
		raw := c.out.String()
		c.mu.Unlock()
		if _, rest, ok := strings.Cut(raw, "\x1b]133;C\a"); ok {
			if body, _, ok := strings.Cut(rest, "\x1b]133;D"); ok {
				return plain(body)
			}
		}
		select {
		case <-c.grew:
		case <-time.After(20 * time.Second):
			c.t.Fatalf("%s does not end: %q", command, plain(raw))
		}
	}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	c := open(t, newOptions(t))
	if got := c.run("echo hello"); got != "hello\n" {
		t.Errorf("got %q", got)
	}
	c.send("sleep 100\r")
	c.expect("sleep 100")
	for !c.Busy() {
		<-c.grew
	}
	if c.Title() != "sleep 100" {
		t.Errorf("title %q", c.Title())
	}
	c.send("\x03")
	c.expect("$ ")
	if got := c.run("echo $?"); got != "130\n" {
		t.Errorf("got %q", got)
	}
	c.send("exit 3\r")
	<-c.Done()
	if _, _, err := c.Read(t.Context(), 1<<40, 1); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
	_ = fmt.Sprint()
}
