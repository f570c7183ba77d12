package abuse

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/protocol"
)

// A page is one page of the server's, by its websocket. It draws all output as it comes.
type page struct {
	t    *testing.T
	conn *websocket.Conn

	mu        sync.Mutex
	changed   chan struct{} // closed at each message
	run       string        // of the server
	cluster   cluster.Status
	terminals map[uint32]*terminal // shown on it
	listed    []uint32             // all there are
	replies   map[uint64]reply
	notices   []string
	exercises map[string]json.RawMessage // newest states
	last      uint64                     // id of a request
	closed    error
}

type reply struct {
	ID    uint64
	OK    bool
	Error string
	Value json.RawMessage
}

// connect opens a websocket as one of the server's pages does, to "/ws" or an address like it.
func (v *visitor) connect(path string, change ...func(http.Header)) (*websocket.Conn, error) {
	h := http.Header{"Origin": {v.server.url}}
	for _, c := range v.cookies() {
		h.Add("Cookie", c.String())
	}
	for _, fn := range change {
		fn(h)
	}
	ctx, cancel := context.WithTimeout(v.t.Context(), patience)
	defer cancel()
	conn, response, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(v.server.url, "http")+path,
		&websocket.DialOptions{HTTPHeader: h, HTTPClient: &http.Client{Transport: v.client.Transport}, Subprotocols: []string{protocol.Subprotocol}})
	if err != nil {
		if response != nil {
			err = errors.Join(err, errors.New(response.Status))
		}
		return nil, err
	}
	conn.SetReadLimit(-1)
	return conn, nil
}

// page opens a page.
func (v *visitor) page(t *testing.T) *page {
	t.Helper()
	conn, err := v.connect("/ws")
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t: t, conn: conn, changed: make(chan struct{}), terminals: map[uint32]*terminal{}, replies: map[uint64]reply{}, exercises: map[string]json.RawMessage{}}
	t.Cleanup(func() { conn.CloseNow() })
	go p.read()
	return p
}

func (p *page) read() {
	for {
		kind, data, err := p.conn.Read(context.Background())
		p.mu.Lock()
		switch {
		case err != nil:
			p.closed = err
		case kind == websocket.MessageBinary:
			p.takeFrame(data)
		default:
			p.takeMessage(data)
		}
		close(p.changed)
		p.changed = make(chan struct{})
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *page) takeMessage(data []byte) {
	var m struct {
		Type      string
		Run       string         // of hello
		Cluster   cluster.Status // of hello
		Status    cluster.Status // of cluster
		Text      string         // of notice
		State     json.RawMessage
		Terminals []struct{ ID uint32 }
		Exercises []json.RawMessage
		reply
	}
	if err := json.Unmarshal(data, &m); err != nil {
		p.closed = err
		return
	}
	switch m.Type {
	case "hello":
		p.run, p.cluster = m.Run, m.Cluster
		p.list(m.Terminals)
		for _, state := range m.Exercises {
			p.takeExercise(state)
		}
	case "cluster":
		p.cluster = m.Status
	case "notice":
		p.notices = append(p.notices, m.Text)
	case "terminals":
		p.list(m.Terminals)
	case "exercise":
		p.takeExercise(m.State)
	case "reply":
		p.replies[m.reply.ID] = m.reply
	}
}

func (p *page) list(terminals []struct{ ID uint32 }) {
	p.listed = nil
	for _, t := range terminals {
		p.listed = append(p.listed, t.ID)
	}
}

func (p *page) takeExercise(state json.RawMessage) {
	var e struct{ ID string }
	if json.Unmarshal(state, &e) == nil {
		p.exercises[e.ID] = state
	}
}

func (p *page) takeFrame(data []byte) {
	f, err := protocol.ParseFrame(data)
	if err != nil {
		p.closed = err
		return
	}
	t := p.terminals[f.Terminal]
	if f.Kind != protocol.Output || t == nil {
		return
	}
	t.take(f)
	flow := protocol.Frame{Kind: protocol.Flow, Terminal: f.Terminal, Offset: f.Offset + uint64(len(f.Payload))}
	go p.conn.Write(context.Background(), websocket.MessageBinary, flow.Append(nil))
}

// until waits until fn, called with the lock held at each change, is content.
func (p *page) until(what string, fn func() bool) {
	p.t.Helper()
	if err := p.within(patience, fn); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

func (p *page) within(limit time.Duration, fn func() bool) error {
	deadline := time.After(limit)
	for {
		p.mu.Lock()
		ok, closed, changed := fn(), p.closed, p.changed
		p.mu.Unlock()
		switch {
		case ok:
			return nil
		case closed != nil:
			return closed
		}
		select {
		case <-changed:
		case <-deadline:
			return errors.New("it did not come in " + limit.String())
		}
	}
}

// send sends a message and returns its id.
func (p *page) send(kind string, fields map[string]any) (uint64, error) {
	p.mu.Lock()
	p.last++
	id := p.last
	p.mu.Unlock()
	all := map[string]any{"type": kind, "id": id}
	for k, v := range fields {
		all[k] = v
	}
	data, err := json.Marshal(all)
	if err != nil {
		return 0, err
	}
	return id, p.conn.Write(p.t.Context(), websocket.MessageText, data)
}

// ask sends a request and returns its reply.
func (p *page) ask(kind string, fields map[string]any) reply {
	p.t.Helper()
	id, err := p.send(kind, fields)
	if err != nil {
		p.t.Fatalf("%s: %v", kind, err)
	}
	var r reply
	p.until("the reply to "+kind, func() (ok bool) { r, ok = p.replies[id]; return ok })
	return r
}

// get is ask for something that must succeed. It decodes the value into v, unless that is nil.
func (p *page) get(kind string, fields map[string]any, v any) {
	p.t.Helper()
	r := p.ask(kind, fields)
	if !r.OK {
		p.t.Fatalf("%s: %s", kind, r.Error)
	}
	if v == nil {
		return
	}
	if err := json.Unmarshal(r.Value, v); err != nil {
		p.t.Fatalf("%s: %v in %s", kind, err, r.Value)
	}
}

// ready starts the cluster, as a page does that has something to show of it, and waits until it is ready. One that failed
// is an error.
func (p *page) ready() {
	p.t.Helper()
	p.get("cluster.start", nil, nil)
	p.until("a cluster that is ready", func() bool {
		if p.cluster.State == cluster.Failed {
			p.closed = errors.New("the cluster failed: " + p.cluster.Reason)
		}
		return p.cluster.State == cluster.Ready
	})
}

// reset resets the cluster and waits for the new one.
func (p *page) reset() {
	p.t.Helper()
	p.get("cluster.reset", nil, nil)
	p.until("the old cluster's end", func() bool { return p.cluster.State != cluster.Ready && p.cluster.State != cluster.Failed })
	p.ready()
}
