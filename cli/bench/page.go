package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/protocol"
)

// readyTime bounds a cluster's start on a machine that is slow and busy.
const readyTime = 5 * time.Minute

// A page is what a browser would be: signed in, with its websocket.
type page struct {
	conn *websocket.Conn

	mu      sync.Mutex
	nextID  uint64
	replies map[uint64]chan reply
	status  cluster.Status
	// backends are the kinds of clusters that the learner can have.
	backends []string
	check    checker.CheckState // of the workload's exercise
	turned   time.Time          // when the page heard of it
	output   []byte             // of the terminal
	drawn    uint64             // offset of the end of output
	err      error
	changed  chan struct{} // closed and replaced at each change
}

type reply struct {
	OK    bool            `json:"ok"`
	Error string          `json:"error"`
	Value json.RawMessage `json:"value"`
}

// open signs in as a browser does and connects the websocket.
func (s *subject) open(ctx context.Context) (*page, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Jar: jar}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.link, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("open the first page: %w", err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the first page answers %s", response.Status)
	}
	link, err := url.Parse(s.link)
	if err != nil {
		return nil, err
	}
	conn, _, err := websocket.Dial(ctx, "ws://"+link.Host+"/ws", &websocket.DialOptions{
		HTTPClient:   client,
		HTTPHeader:   http.Header{"Origin": {"http://" + link.Host}},
		Subprotocols: []string{protocol.Subprotocol},
	})
	if err != nil {
		return nil, fmt.Errorf("connect the websocket: %w", err)
	}
	conn.SetReadLimit(-1)
	p := &page{conn: conn, replies: map[uint64]chan reply{}, changed: make(chan struct{})}
	go p.read(ctx)
	return p, nil
}

func (p *page) close() { _ = p.conn.Close(websocket.StatusNormalClosure, "") }

func (p *page) read(ctx context.Context) {
	for {
		kind, data, err := p.conn.Read(ctx)
		at := time.Now()
		if err == nil {
			err = p.take(ctx, kind, data, at)
		}
		if err != nil {
			p.change(func() { p.err = fmt.Errorf("the websocket broke: %w", err) })
			return
		}
	}
}

func (p *page) change(edit func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	edit()
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *page) take(ctx context.Context, kind websocket.MessageType, data []byte, at time.Time) error {
	if kind == websocket.MessageBinary {
		frame, err := protocol.ParseFrame(data)
		if err != nil || frame.Kind != protocol.Output {
			return err
		}
		p.change(func() {
			p.output = append(p.output, frame.Payload...)
			p.drawn = frame.Offset + uint64(len(frame.Payload))
		})
		flow := protocol.Frame{Kind: protocol.Flow, Terminal: frame.Terminal, Offset: p.drawn}
		return p.conn.Write(ctx, websocket.MessageBinary, flow.Append(nil))
	}
	var message struct {
		Type     string                `json:"type"`
		ID       uint64                `json:"id"`
		Cluster  cluster.Status        `json:"cluster"`
		Status   cluster.Status        `json:"status"`
		State    checker.ExerciseState `json:"state"`
		Backends []string              `json:"backends"`
		reply
	}
	if err := json.Unmarshal(data, &message); err != nil {
		return err
	}
	p.change(func() {
		switch message.Type {
		case "hello":
			p.status, p.backends = message.Cluster, message.Backends
		case "cluster":
			p.status = message.Status
		case "exercise":
			p.heard(message.State, at)
		case "reply":
			if waiting, ok := p.replies[message.ID]; ok {
				delete(p.replies, message.ID)
				waiting <- message.reply
			}
		}
	})
	return nil
}

func (p *page) heard(state checker.ExerciseState, at time.Time) {
	if state.ID == exercise && len(state.Checks) == 1 && state.Checks[0].State != p.check {
		p.check, p.turned = state.Checks[0].State, at
	}
}

// ask sends a message and waits for its reply, whose value it reads into value unless that is nil.
func (p *page) ask(ctx context.Context, kind string, args map[string]any, value any) error {
	answer := make(chan reply, 1)
	p.mu.Lock()
	p.nextID++
	id := p.nextID
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
		return fmt.Errorf("%s: %w", kind, err)
	}
	select {
	case r := <-answer:
		if !r.OK {
			return fmt.Errorf("%s: %s", kind, r.Error)
		}
		if value == nil {
			return nil
		}
		return json.Unmarshal(r.Value, value)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", kind, ctx.Err())
	}
}

// until waits until the page has heard what holds waits for; holds runs with the page's lock held.
func (p *page) until(ctx context.Context, holds func() (bool, error)) error {
	for {
		p.mu.Lock()
		done, err := holds()
		if err == nil {
			err = p.err
		}
		changed := p.changed
		p.mu.Unlock()
		if done || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *page) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	return p.until(ctx, func() (bool, error) {
		if p.status.State == cluster.Failed {
			return false, errors.New(p.status.Reason)
		}
		return p.status.State == cluster.Ready, nil
	})
}
