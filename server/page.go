package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/protocol"
)

const (
	pingEvery = 20 * time.Second
	// writeTime is how long one message may take to leave. A page that is slower is cut off; it comes back and goes on
	// where it was.
	writeTime = 20 * time.Second
	// What a page may send in a second, and at once. A page beyond that is read more slowly, which costs it nothing but
	// time. A page that draws as fast as it can sends some hundred flow frames a second, a learner some ten messages.
	messageRate, messageBurst = 200, 400
	frameRate, frameBurst     = 2000, 4000
	// maxUnanswered bounds the requests of a page that are being worked on, or whose reply is not sent yet.
	maxUnanswered = 64
)

// A page is one browser page, by its websocket: a learner's own, an instructor's that observes a learner, or an
// instructor's of a class.
type page struct {
	conn *websocket.Conn
	hub  *hub.Hub // nil: the page is of a class
	log  *slog.Logger
	// requests are what it may ask for.
	requests map[string]requestHandler
	// join makes it known to what it shows.
	join     func() (leave func())
	observer *hub.Observer // nil: it does not observe
	class    *classPage    // nil: it is of no class
	shared   sharing       // what a learner's page does about their class
	// allowed tells now and then whether its reader may still see it; nil: always.
	allowed func(context.Context) error
	// warning is told once the page knows everything else; empty: none.
	warning string

	out      *outbox
	messages *rate.Limiter
	frames   *rate.Limiter
	slowed   bool          // said so
	waiting  chan struct{} // a place for each unanswered request
	tasks    sync.WaitGroup

	ctx      context.Context         // ends with the page
	fail     context.CancelCauseFunc // ends it
	attached map[uint32]*attachment  // by terminal; only the reading goroutine's
}

func newPage(conn *websocket.Conn, h *hub.Hub, log *slog.Logger) *page {
	p := &page{
		conn:     conn,
		hub:      h,
		log:      log,
		requests: requests,
		out:      newOutbox(),
		messages: rate.NewLimiter(messageRate, messageBurst),
		frames:   rate.NewLimiter(frameRate, frameBurst),
		waiting:  make(chan struct{}, maxUnanswered),
		attached: make(map[uint32]*attachment),
	}
	p.join = func() (leave func()) {
		h.Join(p)
		return func() { h.Leave(p) }
	}
	return p
}

// Send queues a message of the hub's.
func (p *page) Send(key string, message []byte) { p.out.put(letter{key: key, message: message}) }

// run serves the page until it leaves, or until live ends with the server.
func (p *page) run(live context.Context) {
	ctx, cancel := context.WithCancelCause(context.Background())
	p.ctx, p.fail = ctx, cancel
	defer p.conn.CloseNow()
	defer p.join()()
	if p.warning != "" {
		p.notice(protocol.Warning, p.warning)
	}
	goodbye := context.AfterFunc(live, p.sayGoodbye)
	defer goodbye()

	p.tasks.Go(func() { cancel(p.write(ctx)) })
	p.tasks.Go(func() { cancel(p.keepAlive(ctx)) })
	err := p.read(ctx)
	p.close(err) // before the context ends: that would break a message in the middle
	cancel(err)
	p.tasks.Wait()
	if cause := context.Cause(ctx); websocket.CloseStatus(cause) == -1 && !errors.Is(cause, io.EOF) {
		p.log.Debug("a page went away", "error", cause)
	}
}

// A closing is an error after which the page is told why.
type closing struct {
	code   websocket.StatusCode
	reason string // at most 123 bytes
}

func (c closing) Error() string { return c.reason }

// close tells the page why, where there is something to tell.
func (p *page) close(err error) {
	var c closing
	if errors.As(err, &c) {
		_ = p.conn.Close(c.code, c.reason) // it may be gone already
	}
}

// sayGoodbye ends the page when the server stops.
func (p *page) sayGoodbye() {
	const reason = "apilab is stopping"
	data, err := protocol.Encode(protocol.Bye{Reason: reason})
	if err != nil {
		p.fail(err)
		return
	}
	p.out.put(letter{message: data, sent: func() { p.close(closing{websocket.StatusGoingAway, reason}) }})
}

// read takes what the page sends.
func (p *page) read(ctx context.Context) error {
	p.conn.SetReadLimit(-1) // we say more than the library does
	for {
		kind, r, err := p.conn.Reader(ctx)
		if err != nil {
			return err
		}
		message, err := io.ReadAll(io.LimitReader(r, protocol.MaxMessage+1))
		if err != nil {
			return err
		}
		if len(message) > protocol.MaxMessage {
			return closing{websocket.StatusMessageTooBig, fmt.Sprintf("a message may have at most %d bytes", protocol.MaxMessage)}
		}
		limit, take := p.messages, p.takeRequest
		if kind == websocket.MessageBinary {
			limit, take = p.frames, p.takeFrame
		}
		if err := p.throttle(ctx, limit); err != nil {
			return err
		}
		if err := take(ctx, message); err != nil {
			return err
		}
	}
}

func (p *page) throttle(ctx context.Context, limit *rate.Limiter) error {
	if limit.Allow() {
		return nil
	}
	if !p.slowed {
		p.slowed = true
		p.notice(protocol.Warning, "This page sends more messages than a page should; they are taken more slowly.")
	}
	return limit.Wait(ctx)
}

func (p *page) notice(level protocol.Level, text string) {
	if data, err := protocol.Encode(protocol.Notice{Level: level, Text: text}); err == nil {
		p.Send("notice "+text, data)
	}
}

// write sends what waits in the outbox.
func (p *page) write(ctx context.Context) error {
	for {
		l, ok := p.out.take()
		if !ok {
			select {
			case <-p.out.wake:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := p.send(ctx, websocket.MessageText, l.message); err != nil {
			return err
		}
		if l.sent != nil {
			l.sent()
		}
	}
}

func (p *page) send(ctx context.Context, kind websocket.MessageType, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	return p.conn.Write(ctx, kind, message)
}

// sendFrame sends bytes of a terminal. Its context is the page's: one that ends within a message breaks the websocket.
func (p *page) sendFrame(f protocol.Frame) error {
	return p.send(p.ctx, websocket.MessageBinary, f.Append(make([]byte, 0, protocol.HeaderSize+len(f.Payload))))
}

// keepAlive finds out that a page has gone without a word.
func (p *page) keepAlive(ctx context.Context) error {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		pong, cancel := context.WithTimeout(ctx, pingEvery)
		err := p.conn.Ping(pong)
		cancel()
		if err != nil {
			return fmt.Errorf("no answer to a ping: %w", err)
		}
		if p.allowed != nil {
			if err := p.allowed(ctx); err != nil {
				return closing{websocket.StatusPolicyViolation, "this page may not be seen any more"}
			}
		}
	}
}

// guarded runs a message's handler: a mistake in it must not end the server.
func (p *page) guarded(what string, handle func() (any, error)) (value any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			p.log.Error("answer a message", "type", what, "error", fmt.Sprintf("panic: %v\n%s", cause, debug.Stack()))
			value, err = nil, errors.New("something went wrong here; the log of apilab has more")
		}
	}()
	return handle()
}
