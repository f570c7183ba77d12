package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/protocol"
)

const (
	// window is how much output the page may have before it (drawn less sent), in bytes.
	window = 512 << 10
	// maxOutput bounds the payload of one frame: other messages get their turn between two.
	maxOutput = 32 << 10
	// maxInput bounds the input that waits because a terminal's program does not take it.
	maxInput = 1 << 20
	// inputTime is how long the page's other messages may be held up by that.
	inputTime = 5 * time.Second
	// maxWriter bounds the name of a writer.
	maxWriter = 64
)

// An attachment is a terminal shown on a page: output goes out as fast as the page draws it, input comes in.
type attachment struct {
	page     *page
	id       uint32
	terminal *hub.Terminal
	writer   string
	cancel   context.CancelFunc
	shown    chan struct{} // closed when no more output comes from it

	mu      sync.Mutex
	drawn   uint64        // output offset
	more    chan struct{} // closed when drawn grows
	input   []protocol.Frame
	waiting int           // bytes of input
	taken   chan struct{} // closed when fewer wait
	typed   chan struct{} // holds one: there is input
}

// attachReply starts the output after the page knows where it begins.
type attachReply struct {
	protocol.Attached
	start func()
}

func (r attachReply) afterReply() { r.start() }

// attach shows a terminal on the page. One that the page shows already is attached anew.
func (p *page) attach(ctx context.Context, args protocol.TerminalAttach) (any, error) {
	if args.Writer == "" || len(args.Writer) > maxWriter {
		return nil, fmt.Errorf("term.attach: the writer must be a string of 1 to %d bytes", maxWriter)
	}
	terminal, err := p.hub.Terminal(args.Terminal)
	if err != nil {
		return nil, err
	}
	if before := p.attached[args.Terminal]; before != nil {
		before.cancel()
		<-before.shown // no byte of it may come after the reply
	}
	from, seen, err := terminal.Resume(ctx, args.From)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	a := &attachment{
		page:     p,
		id:       args.Terminal,
		terminal: terminal,
		writer:   args.Writer,
		cancel:   cancel,
		shown:    make(chan struct{}),
		drawn:    from,
		more:     make(chan struct{}),
		taken:    make(chan struct{}),
		typed:    make(chan struct{}, 1),
	}
	p.attached[args.Terminal] = a
	reply := protocol.Attached{From: from, Acked: terminal.Acked(args.Writer), End: seen, Sizes: terminal.Sizes(from)}
	if from > args.From {
		reply.Gap = from - args.From
	}
	return attachReply{reply, func() {
		p.tasks.Go(func() { a.typeIn(ctx) })
		p.tasks.Go(func() { a.show(ctx, from) })
	}}, nil
}

// takeFrame handles a binary message.
func (p *page) takeFrame(ctx context.Context, message []byte) error {
	f, err := protocol.ParseFrame(message)
	if err != nil {
		return closing{websocket.StatusInvalidFramePayloadData, err.Error()}
	}
	a := p.attached[f.Terminal]
	if a == nil {
		return nil // of a terminal that was closed meanwhile
	}
	switch f.Kind {
	case protocol.Input:
		if p.observer != nil && !p.hub.MayType(p.observer) {
			return nil // the leave to type may end while something is on its way
		}
		return a.take(ctx, f)
	case protocol.Flow:
		a.flow(f.Offset)
		return nil
	default:
		return closing{websocket.StatusPolicyViolation, fmt.Sprintf("frames of kind %d come from the server", f.Kind)}
	}
}

// show sends output from an offset on, until the terminal has ended or the page has gone.
func (a *attachment) show(ctx context.Context, next uint64) {
	defer close(a.shown)
	for {
		room, err := a.room(ctx, next)
		if err != nil {
			return
		}
		start, output, err := a.terminal.Read(ctx, next, min(room, maxOutput))
		if len(output) > 0 {
			if err := a.page.sendFrame(protocol.Frame{Kind: protocol.Output, Terminal: a.id, Offset: start, Payload: output}); err != nil {
				a.page.fail(err)
				return
			}
			next = start + uint64(len(output))
			a.page.hub.TerminalUsed()
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) || ctx.Err() != nil:
			return
		default:
			a.page.log.Error("read a terminal", "error", err)
			a.page.notice(protocol.Error, "The terminal cannot be read: "+err.Error())
			return
		}
	}
}

// room waits until the page may get more output than it has at next, and returns how much, in bytes.
func (a *attachment) room(ctx context.Context, next uint64) (int, error) {
	for {
		a.mu.Lock()
		drawn, more := a.drawn, a.more
		a.mu.Unlock()
		if next < drawn+window {
			return int(drawn + window - next), nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// flow takes how far the page has drawn.
func (a *attachment) flow(drawn uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if drawn > a.drawn && drawn < drawn+window { // the second: no overflow
		a.drawn = drawn
		close(a.more)
		a.more = make(chan struct{})
	}
}

// take queues input. The page waits a moment where a program does not keep up with a large paste; a program that
// reads nothing for long ends the page, which comes back and sends again what was not taken.
func (a *attachment) take(ctx context.Context, f protocol.Frame) error {
	patience := time.NewTimer(inputTime)
	defer patience.Stop()
	for {
		a.mu.Lock()
		taken := a.taken
		if a.waiting == 0 || a.waiting+len(f.Payload) <= maxInput {
			a.waiting += len(f.Payload)
			a.input = append(a.input, f)
			a.mu.Unlock()
			select {
			case a.typed <- struct{}{}:
			default:
			}
			return nil
		}
		a.mu.Unlock()
		select {
		case <-taken:
		case <-patience.C:
			return closing{websocket.StatusTryAgainLater, "a terminal's program does not take its input"}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// typeIn gives the queued input to the terminal and acknowledges it.
func (a *attachment) typeIn(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.typed:
		}
		a.mu.Lock()
		input := a.input
		a.input = nil
		a.mu.Unlock()
		for _, f := range input {
			if !a.typeFrame(ctx, f) {
				return
			}
			a.mu.Lock()
			a.waiting -= len(f.Payload)
			close(a.taken)
			a.taken = make(chan struct{})
			a.mu.Unlock()
		}
	}
}

// typeFrame types until the terminal has taken all of a frame, and tells whether it goes on. A program that does not
// read is asked again after a pause that grows.
func (a *attachment) typeFrame(ctx context.Context, f protocol.Frame) (ok bool) {
	end := f.Offset + uint64(len(f.Payload))
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		acked, err := a.terminal.Write(a.writer, f.Offset, f.Payload)
		if sending := a.page.sendFrame(protocol.Frame{Kind: protocol.Ack, Terminal: a.id, Offset: acked}); sending != nil {
			a.page.fail(sending)
			return false
		}
		a.page.hub.TerminalUsed()
		if a.page.observer == nil {
			a.page.hub.Active()
		}
		if err != nil {
			a.page.log.Debug("type into a terminal", "error", err) // it has ended, and the list of terminals says so
			return true
		}
		if acked >= end || acked < f.Offset { // all of it; or some before it is missing, which the page sends first
			return true
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
	}
}
