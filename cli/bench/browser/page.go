package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/apilab/apilab/server/protocol"
)

// ErrClosed says that the page's websocket is gone.
var ErrClosed = errors.New("the websocket is closed")

// A Listener is told what comes over a page's websocket, in order, from one goroutine.
type Listener interface {
	// Heard is called with each message but replies, and when it came.
	Heard(m Message, at time.Time) error
	// Framed is called with each binary frame.
	Framed(f protocol.Frame, at time.Time) error
	// Ended is called once, last. The error says why.
	Ended(err error)
}

// A Message is what the server says.
type Message struct {
	Type string
	data []byte
}

// Decode reads the message's fields.
func (m Message) Decode(v any) error { return json.Unmarshal(m.data, v) }

// A Page is one load of a page, by its websocket.
type Page struct {
	conn *websocket.Conn

	mu      sync.Mutex
	lastID  uint64
	replies map[uint64]chan reply // nil when the websocket is gone
}

type reply struct {
	OK    bool            `json:"ok"`
	Error string          `json:"error"`
	Value json.RawMessage `json:"value"`
}

// Connect opens a page's websocket by its path, "/ws" for a learner's own. It lives until ctx ends.
func (b *Browser) Connect(ctx context.Context, path string, listener Listener) (*Page, error) {
	u, err := b.base.Parse(path)
	if err != nil {
		return nil, err
	}
	conn, _, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{ // it takes http for ws
		HTTPClient:   b.client,
		HTTPHeader:   http.Header{"Origin": {b.origin()}},
		Subprotocols: []string{protocol.Subprotocol},
	})
	if err != nil {
		return nil, fmt.Errorf("connect the websocket: %w", err)
	}
	conn.SetReadLimit(-1)
	p := &Page{conn: conn, replies: map[uint64]chan reply{}}
	go p.read(ctx, listener)
	return p, nil
}

// Close leaves as a browser does that goes to another page.
func (p *Page) Close() { _ = p.conn.Close(websocket.StatusNormalClosure, "") }

// Cut breaks the connection without a word, as a network does.
func (p *Page) Cut() { _ = p.conn.CloseNow() }

func (p *Page) read(ctx context.Context, listener Listener) {
	for {
		kind, data, err := p.conn.Read(ctx)
		at := time.Now()
		if err == nil {
			err = p.take(kind, data, at, listener)
		}
		if err != nil {
			_ = p.conn.CloseNow()
			p.mu.Lock()
			for _, waiting := range p.replies {
				close(waiting)
			}
			p.replies = nil
			p.mu.Unlock()
			listener.Ended(err)
			return
		}
	}
}

func (p *Page) take(kind websocket.MessageType, data []byte, at time.Time, listener Listener) error {
	if kind == websocket.MessageBinary {
		frame, err := protocol.ParseFrame(data)
		if err != nil {
			return err
		}
		return listener.Framed(frame, at)
	}
	var head struct {
		Type string `json:"type"`
		ID   uint64 `json:"id"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	if head.Type != "reply" {
		return listener.Heard(Message{Type: head.Type, data: data}, at)
	}
	var r reply
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if waiting, ok := p.replies[head.ID]; ok {
		delete(p.replies, head.ID)
		waiting <- r
	}
	return nil
}

// Ask sends a message and waits for its reply, whose value it reads into value unless that is nil.
func (p *Page) Ask(ctx context.Context, kind string, args map[string]any, value any) error {
	answer := make(chan reply, 1)
	p.mu.Lock()
	if p.replies == nil {
		p.mu.Unlock()
		return fmt.Errorf("%s: %w", kind, ErrClosed)
	}
	p.lastID++
	id := p.lastID
	p.replies[id] = answer
	p.mu.Unlock()
	message := map[string]any{"type": kind, "id": id}
	for key, arg := range args {
		message[key] = arg
	}
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if err := p.conn.Write(ctx, websocket.MessageText, data); err != nil {
		return fmt.Errorf("%s: %w: %w", kind, ErrClosed, err)
	}
	select {
	case r, ok := <-answer:
		switch {
		case !ok:
			return fmt.Errorf("%s: %w", kind, ErrClosed)
		case !r.OK:
			return fmt.Errorf("%s: %s", kind, r.Error)
		case value == nil:
			return nil
		}
		return json.Unmarshal(r.Value, value)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", kind, ctx.Err())
	}
}

// Send sends a frame.
func (p *Page) Send(ctx context.Context, f protocol.Frame) error {
	if err := p.conn.Write(ctx, websocket.MessageBinary, f.Append(nil)); err != nil {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return nil
}
