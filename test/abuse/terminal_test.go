package abuse

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/apilab/apilab/server/protocol"
)

// screenful is how much of a terminal's output is kept, in bytes: enough for any answer.
const screenful = 1 << 20

// A terminal is one of the learner's, shown on a page.
type terminal struct {
	page *page
	id   uint32
	sent uint64 // offset of input

	total uint64 // bytes that came; guarded by the page's lock, as all below
	lost  bool   // some were missing or came twice
	next  uint64
	text  []byte // since the last command began
}

// terminal opens a terminal and waits for its prompt.
func (p *page) terminal() *terminal {
	p.t.Helper()
	var opened protocol.Opened
	p.get("term.open", map[string]any{"cols": 200, "rows": 50}, &opened)
	return p.attach(opened.Terminal, 0)
}

// attach shows a terminal from an offset of its output on.
func (p *page) attach(id uint32, from uint64) *terminal {
	p.t.Helper()
	t := &terminal{page: p, id: id, next: from}
	p.mu.Lock()
	p.terminals[id] = t
	p.mu.Unlock()
	p.get("term.attach", map[string]any{"terminal": id, "writer": "w", "from": from}, nil)
	return t
}

// take takes output; the page's lock is held.
func (t *terminal) take(f protocol.Frame) {
	t.lost = t.lost || f.Offset != t.next
	t.next = f.Offset + uint64(len(f.Payload))
	t.total += uint64(len(f.Payload))
	t.text = append(t.text, f.Payload...)
	if excess := len(t.text) - screenful; excess > screenful {
		t.text = append([]byte(nil), t.text[excess:]...)
	}
}

// keys presses keys.
func (t *terminal) keys(keys string) error {
	f := protocol.Frame{Kind: protocol.Input, Terminal: t.id, Offset: t.sent, Payload: []byte(keys)}
	t.sent += uint64(len(keys))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return t.page.conn.Write(ctx, websocket.MessageBinary, f.Append(nil))
}

var sequences = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\a]*\a|\r`)

// begin starts a script of many lines, of which the terminal shows only one.
func (t *terminal) begin(script string) (ended func() bool) {
	t.page.t.Helper()
	name := fmt.Sprintf(".script-%d", t.id)
	t.page.get("file.write", map[string]any{"path": name, "text": script + "\n"}, nil)
	return t.enter(". ~/" + name)
}

// enter types a line.
func (t *terminal) enter(line string) (ended func() bool) {
	t.page.t.Helper()
	t.page.mu.Lock()
	t.text = nil
	t.page.mu.Unlock()
	if err := t.keys(line + "; echo \"=end of it: $?=\"\r"); err != nil {
		t.page.t.Fatal(err)
	}
	return func() bool {
		last := t.text[max(0, len(t.text)-lastLines):]
		return endOfIt.Match(last) || bytes.Contains(last, []byte(startedAnew))
	}
}

// lastLines is where the end of a script is looked for, in bytes, whenever something comes.
const lastLines = 64 << 10

var endOfIt = regexp.MustCompile(`=end of it: \d+=`)

// startedAnew is told in place of a script's end where the shell itself ran out of memory before it could stop the script.
const startedAnew = "it was started anew"

// run runs a script and returns what it printed.
func (t *terminal) run(script string) string {
	t.page.t.Helper()
	out := t.outgrow(script)
	if strings.Contains(out, startedAnew) {
		t.page.t.Fatalf("%s\nthe shell ended, after\n%s", script, out)
	}
	return out
}

// outgrow is run of what may need more memory than the shell has.
func (t *terminal) outgrow(script string) string {
	t.page.t.Helper()
	out, err := t.runWithin(patience, script)
	if err != nil {
		t.page.t.Fatalf("%s\n%v, after\n%s", script, err, out)
	}
	return out
}

func (t *terminal) runWithin(limit time.Duration, script string) (string, error) {
	t.page.t.Helper()
	return t.wait(limit, t.begin(script))
}

// runTyped is run of a short line, for a home that is full: a script would be a file.
func (t *terminal) runTyped(line string) string {
	t.page.t.Helper()
	out, err := t.wait(patience, t.enter(line))
	if err != nil {
		t.page.t.Fatalf("%s\n%v, after\n%s", line, err, out)
	}
	return out
}

func (t *terminal) wait(limit time.Duration, ended func() bool) (string, error) {
	err := t.page.within(limit, ended)
	t.page.mu.Lock()
	defer t.page.mu.Unlock()
	text := sequences.ReplaceAllString(string(t.text), "")
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[i+1:] // the line that was typed
	}
	if found := endOfIt.FindStringIndex(text); found != nil {
		text = text[:found[0]]
	}
	return text, err
}

// interrupt presses Ctrl-C until the prompt answers again.
func (t *terminal) interrupt() {
	t.page.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		if err := t.keys("\x03"); err != nil {
			t.page.t.Fatal(err)
		}
		out, err := t.runWithin(10*time.Second, "echo alive")
		if err == nil && strings.Contains(out, "alive") {
			return
		}
		if time.Now().After(deadline) {
			t.page.t.Fatalf("the prompt does not come back: %v, %.2000s", err, out)
		}
	}
}
