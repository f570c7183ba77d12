package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/apilab/apilab/server/protocol"
)

// patience bounds what a test waits for; it is long, and only spent when the test fails.
const patience = 20 * time.Second

// A tab is a page in a browser, by its websocket.
type tab struct {
	t      *testing.T
	conn   *websocket.Conn
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	changed  chan struct{} // closed at each message
	messages []message
	frames   []protocol.Frame
	closed   error
	lastID   uint64
}

type message struct {
	Type string
	raw  json.RawMessage
}

func (m message) decode(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(m.raw, v); err != nil {
		t.Fatalf("%s: %v", m.raw, err)
	}
}

// dialOptions are those of a browser with the visitor's cookies.
func (v *visitor) dialOptions() *websocket.DialOptions {
	here := &url.URL{Scheme: "http", Host: v.server.Addr()}
	h := http.Header{"Origin": {here.String()}}
	for _, c := range v.client.Jar.Cookies(here) {
		h.Add("Cookie", c.String())
	}
	return &websocket.DialOptions{HTTPHeader: h, Subprotocols: []string{protocol.Subprotocol}}
}

// open opens a page that reads what it is sent; the query says which, such as "?class=ID".
func (v *visitor) open(t *testing.T, query ...string) *tab {
	t.Helper()
	tab := v.dial(t, query...)
	go tab.read()
	return tab
}

// dial opens a page that reads nothing.
func (v *visitor) dial(t *testing.T, query ...string) *tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	conn, _, err := websocket.Dial(ctx, "ws://"+v.server.Addr()+"/ws"+strings.Join(query, ""), v.dialOptions())
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	tab := &tab{t: t, conn: conn, ctx: ctx, cancel: cancel, changed: make(chan struct{})}
	t.Cleanup(tab.leave)
	return tab
}

func (tab *tab) leave() {
	tab.conn.CloseNow()
	tab.cancel()
}

func (tab *tab) read() {
	for {
		kind, data, err := tab.conn.Read(tab.ctx)
		tab.mu.Lock()
		switch {
		case err != nil:
			tab.closed = err
		case kind == websocket.MessageBinary:
			f, err := protocol.ParseFrame(data)
			if err != nil {
				tab.closed = err
			}
			tab.frames = append(tab.frames, f)
		default:
			m := message{raw: data}
			if err := json.Unmarshal(data, &m); err != nil {
				tab.closed = err
			}
			tab.messages = append(tab.messages, m)
		}
		close(tab.changed)
		tab.changed = make(chan struct{})
		ended := tab.closed != nil
		tab.mu.Unlock()
		if ended {
			return
		}
	}
}

// until waits until fn, called with the lock held at each change, is content.
func (tab *tab) until(what string, fn func() bool) {
	tab.t.Helper()
	deadline := time.After(patience)
	for {
		tab.mu.Lock()
		ok, closed, changed := fn(), tab.closed, tab.changed
		tab.mu.Unlock()
		if ok {
			return
		}
		if closed != nil {
			tab.t.Fatalf("the websocket closed before %s: %v", what, closed)
		}
		select {
		case <-changed:
		case <-deadline:
			tab.mu.Lock()
			defer tab.mu.Unlock()
			for _, m := range tab.messages {
				tab.t.Logf("had %.300s", m.raw)
			}
			tab.t.Fatalf("no sign of %s", what)
		}
	}
}

// wait returns the first message of a type that fn (nil: any) is content with, also of those that came before.
func (tab *tab) wait(kind string, fn func(m message) bool) message {
	tab.t.Helper()
	var found message
	tab.until("a message of type "+kind, func() bool {
		for _, m := range tab.messages {
			if m.Type == kind && (fn == nil || fn(m)) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

func (tab *tab) send(fields map[string]any) {
	tab.t.Helper()
	data, err := json.Marshal(fields)
	if err != nil {
		tab.t.Fatal(err)
	}
	if err := tab.conn.Write(tab.ctx, websocket.MessageText, data); err != nil {
		tab.t.Fatal(err)
	}
}

func (tab *tab) sendFrame(f protocol.Frame) {
	tab.t.Helper()
	if err := tab.conn.Write(tab.ctx, websocket.MessageBinary, f.Append(nil)); err != nil {
		tab.t.Fatal(err)
	}
}

type reply struct {
	ID    uint64
	OK    bool
	Error string
	Value json.RawMessage
}

// ask sends a request and returns its reply.
func (tab *tab) ask(kind string, fields map[string]any) reply {
	tab.t.Helper()
	tab.mu.Lock()
	tab.lastID++
	id := tab.lastID
	tab.mu.Unlock()
	all := map[string]any{"type": kind, "id": id}
	for k, v := range fields {
		all[k] = v
	}
	tab.send(all)
	var r reply
	tab.wait("reply", func(m message) bool {
		r = reply{}
		return json.Unmarshal(m.raw, &r) == nil && r.ID == id
	})
	return r
}

// get is ask for something that must succeed; it decodes the value into v, unless that is nil.
func (tab *tab) get(kind string, fields map[string]any, v any) {
	tab.t.Helper()
	r := tab.ask(kind, fields)
	if !r.OK {
		tab.t.Fatalf("%s: %s", kind, r.Error)
	}
	if v != nil {
		if err := json.Unmarshal(r.Value, v); err != nil {
			tab.t.Fatalf("%s: %v in %s", kind, err, r.Value)
		}
	}
}

// openTerminal opens a terminal and attaches to it.
func (tab *tab) openTerminal() uint32 {
	tab.t.Helper()
	var opened protocol.Opened
	tab.get("term.open", map[string]any{"cols": 80, "rows": 24}, &opened)
	tab.attach(opened.Terminal, "w", 0)
	return opened.Terminal
}

func (tab *tab) attach(terminal uint32, writer string, from uint64) protocol.Attached {
	tab.t.Helper()
	var attached protocol.Attached
	tab.get("term.attach", map[string]any{"terminal": terminal, "writer": writer, "from": from}, &attached)
	return attached
}

// output joins the output frames of a terminal; they must follow one another from an offset on. The lock is held.
func (tab *tab) output(terminal uint32, from uint64) ([]byte, error) {
	var all []byte
	for _, f := range tab.frames {
		if f.Kind != protocol.Output || f.Terminal != terminal {
			continue
		}
		if next := from + uint64(len(all)); f.Offset != next {
			return all, fmt.Errorf("a frame begins at %d, the one before ended at %d", f.Offset, next)
		}
		all = append(all, f.Payload...)
	}
	return all, nil
}
