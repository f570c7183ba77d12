package server

import (
	"context"
	"fmt"

	"github.com/coder/websocket"

	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/protocol"
)

// A request handler answers one type of message.
type requestHandler struct {
	// handle returns the reply's value. Quick ones run in the order that the page sent them; the others beside that.
	handle func(ctx context.Context, p *page, r protocol.Request) (any, error)
	quick  bool
}

// A followedReply is the value of a reply after which something happens.
type followedReply interface{ afterReply() }

// requests is the table of everything that a page can ask for.
var requests = map[string]requestHandler{
	"ping": ping,

	"exercise.open": slow(func(ctx context.Context, p *page, a protocol.Exercise) (any, error) {
		if err := p.shared.mayOpen(ctx, a.Exercise); err != nil {
			return nil, err
		}
		return p.hub.OpenExercise(ctx, a.Exercise)
	}),
	"exercise.reset": slow(func(_ context.Context, p *page, a protocol.Exercise) (any, error) {
		return p.hub.ResetExercise(a.Exercise)
	}),
	"exercise.answer": quick(func(ctx context.Context, p *page, a protocol.Answer) (any, error) {
		return p.hub.Answer(ctx, a.Exercise, a.Check, a.Value)
	}),
	"exercise.hint": quick(func(_ context.Context, p *page, a protocol.Hint) (any, error) {
		return p.hub.Hint(a.Exercise, a.Check)
	}),
	"exercise.solution": quick(func(_ context.Context, p *page, a protocol.Exercise) (any, error) {
		solution, err := p.hub.Solution(a.Exercise)
		return protocol.Solution{Solution: solution}, err
	}),

	"cluster.start":  quick(func(_ context.Context, p *page, _ protocol.None) (any, error) { return p.hub.StartCluster(), nil }),
	"cluster.reset":  quick(func(_ context.Context, p *page, _ protocol.None) (any, error) { return p.hub.ResetCluster(), nil }),
	"cluster.cancel": quick(func(_ context.Context, p *page, _ protocol.None) (any, error) { return p.hub.CancelStart(), nil }),
	"cluster.switch": quick(func(_ context.Context, p *page, a protocol.ClusterSwitch) (any, error) {
		return p.hub.SwitchCluster(a.Backend)
	}),
	"cluster.usage": slow(func(ctx context.Context, p *page, _ protocol.None) (any, error) { return p.hub.Usage(ctx) }),
	"kubeconfig": quick(func(ctx context.Context, p *page, a protocol.KubeconfigGet) (any, error) {
		text, err := p.hub.Kubeconfig(ctx, a.Renew)
		return protocol.Kubeconfig{Text: string(text)}, err
	}),

	"term.open": slow(func(_ context.Context, p *page, a protocol.TerminalOpen) (any, error) {
		id, err := p.hub.OpenTerminal(hub.Size{Cols: a.Cols, Rows: a.Rows})
		return protocol.Opened{Terminal: id}, err
	}),
	"term.attach": quick(func(ctx context.Context, p *page, a protocol.TerminalAttach) (any, error) { return p.attach(ctx, a) }),
	"term.resize": quick(func(_ context.Context, p *page, a protocol.TerminalResize) (any, error) {
		return nil, p.hub.ResizeTerminal(a.Terminal, hub.Size{Cols: a.Cols, Rows: a.Rows})
	}),
	"term.close": quick(func(_ context.Context, p *page, a protocol.TerminalClose) (any, error) {
		return nil, p.hub.CloseTerminal(a.Terminal)
	}),

	"files.list": slow(func(_ context.Context, p *page, _ protocol.None) (any, error) { return p.hub.ListFiles() }),
	"file.read":  slow(func(_ context.Context, p *page, a protocol.File) (any, error) { return p.hub.ReadFile(a.Path) }),
	"file.write": slow(func(_ context.Context, p *page, a protocol.FileWrite) (any, error) {
		return p.hub.WriteFile(a.Path, a.Text, a.Version)
	}),
	"file.delete": slow(func(_ context.Context, p *page, a protocol.File) (any, error) {
		return nil, p.hub.DeleteFile(a.Path)
	}),
	"editor.done": quick(func(_ context.Context, p *page, a protocol.EditorDone) (any, error) {
		return nil, p.hub.EditorDone(a.Token, a.Save, a.Text)
	}),

	"hand": quick(func(ctx context.Context, p *page, a protocol.Hand) (any, error) {
		return nil, p.shared.raiseHand(ctx, a.Up)
	}),
	"message.dismiss": quick(func(ctx context.Context, p *page, a protocol.MessageDismiss) (any, error) {
		return nil, p.shared.dismiss(ctx, a.Message)
	}),
	"observer.allow": quick(func(_ context.Context, p *page, a protocol.ObserverAllow) (any, error) {
		return nil, p.hub.AllowTyping(a.Observer, a.Allow)
	}),
}

var ping = quick(func(context.Context, *page, protocol.None) (any, error) { return nil, nil })

// unasked are the messages that a page sends by itself: they are no sign of its learner.
var unasked = map[string]bool{
	"ping": true, "exercise.open": true, "cluster.start": true, "cluster.usage": true,
	"term.open": true, "term.attach": true, "term.resize": true, "files.list": true,
}

func quick[Args any](handle func(context.Context, *page, Args) (any, error)) requestHandler {
	h := slow(handle)
	h.quick = true
	return h
}

func slow[Args any](handle func(context.Context, *page, Args) (any, error)) requestHandler {
	return requestHandler{handle: func(ctx context.Context, p *page, r protocol.Request) (any, error) {
		var args Args
		if err := r.Decode(&args); err != nil {
			return nil, err
		}
		return handle(ctx, p, args)
	}}
}

// takeRequest answers a text message. It waits while too many are unanswered.
func (p *page) takeRequest(ctx context.Context, message []byte) error {
	r, err := protocol.ParseRequest(message)
	if err != nil {
		return closing{websocket.StatusInvalidFramePayloadData, "a message that is not of this protocol"}
	}
	select {
	case p.waiting <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	handler, ok := p.requests[r.Type]
	if !ok {
		p.reply(r, nil, fmt.Errorf("this server does not know messages of type %q", r.Type))
		return nil
	}
	if p.hub != nil && p.observer == nil && !unasked[r.Type] {
		p.hub.Active()
	}
	answer := func() {
		value, err := p.guarded(r.Type, func() (any, error) { return handler.handle(ctx, p, r) })
		p.reply(r, value, err)
	}
	if handler.quick {
		answer()
	} else {
		go answer() // it may outlive the page; a reply then goes nowhere
	}
	return nil
}

// reply answers a request, if an answer is wanted, and frees its place.
func (p *page) reply(r protocol.Request, value any, err error) {
	sent := func() {
		if value, ok := value.(followedReply); ok && err == nil {
			value.afterReply()
		}
		<-p.waiting
	}
	if r.ID == nil {
		sent()
		return
	}
	answer := protocol.Reply{ID: *r.ID, OK: err == nil, Value: value}
	if err != nil {
		answer.Value, answer.Error = nil, err.Error()
		p.log.Debug("refuse a message", "type", r.Type, "error", err)
	}
	data, encoding := protocol.Encode(answer)
	if encoding != nil {
		p.log.Error("encode a reply", "type", r.Type, "error", encoding)
		sent()
		return
	}
	p.out.put(letter{message: data, sent: sent})
}
