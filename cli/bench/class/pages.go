package class

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cli/bench/browser"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/gateway"
	"github.com/apilab/apilab/server/protocol"
)

// A connection is the websocket of one load of a page. It may be lost and followed by another one.
type connection struct {
	learner *learner
	load    int
	page    *browser.Page
	greeted bool  // hello has come; the learner's state guards it, and the next
	err     error // why it has ended
}

// A page's websocket comes back after a pause that doubles.
const firstPause, longestPause = 250 * time.Millisecond, 5 * time.Second

var (
	assetLink    = regexp.MustCompile(`(?:src|href)="(/assets/[^"]+)"`)
	exerciseLink = regexp.MustCompile(`<apilab-exercise [^>]*exercise="([^"]+)"`)
)

// visit leaves the page, if there is one, and loads a lesson's, with what it links to and its websocket.
func (l *learner) visit(ctx context.Context, lesson string) error {
	l.hands.Lock()
	defer l.hands.Unlock()
	l.settle(ctx)
	load := l.leave(lesson)
	began := time.Now()
	l.Change(func() {
		if load == 1 {
			l.came = began
		}
	})
	answer, err := l.get(ctx, "/lessons/"+lesson)
	if err != nil {
		return err
	}
	for _, link := range assetLink.FindAllSubmatch(answer.Body, -1) {
		if path := string(link[1]); !l.cached[path] {
			if _, err := l.get(ctx, path); err != nil {
				return err
			}
			l.cached[path] = true
		}
	}
	tally := &l.room.tally
	tally.milliseconds(&tally.loaded, time.Since(began))
	tally.edit(func() { tally.pages++ })
	l.Change(func() {
		l.cards = nil
		for _, found := range exerciseLink.FindAllSubmatch(answer.Body, -1) {
			l.cards = append(l.cards, string(found[1]))
		}
	})
	if err := l.connect(ctx, load); err != nil {
		l.reconnect(ctx, load)
	}
	return nil
}

// reload loads the same page again.
func (l *learner) reload(ctx context.Context) error {
	var lesson string
	l.Change(func() { lesson = l.lesson })
	return l.visit(ctx, lesson)
}

// settle waits until the server has taken what was typed: whoever reloads a page has seen it.
func (l *learner) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	_ = l.Until(ctx, func() (bool, error) { return l.terminal == nil || l.terminal.gone || l.terminal.settled(), nil })
}

// leave closes the page for another one, whose number it returns.
func (l *learner) leave(next string) (load int) {
	var c *connection
	var t *terminal
	l.Change(func() {
		c, l.connection, t = l.connection, nil, l.terminal
		l.load++
		load, l.lesson = l.load, next
	})
	if t != nil {
		t.detach()
	}
	if c != nil {
		c.page.Close()
	}
	return load
}

// connect opens the page's websocket, shows its terminal on it and asks for a cluster where there is none.
func (l *learner) connect(ctx context.Context, load int) error {
	c := &connection{learner: l, load: load}
	var err error
	if c.page, err = l.browser.Connect(l.ctx, "/ws", c); err != nil {
		return err
	}
	if err := c.begin(ctx); err != nil {
		c.page.Cut()
		return err
	}
	return nil
}

func (c *connection) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	l := c.learner
	var t *terminal
	rests := false
	err := l.Until(ctx, func() (bool, error) {
		t, rests = l.terminal, l.status.State == cluster.Absent || l.status.State == cluster.Stopped
		return c.greeted, c.err
	})
	if err != nil {
		return err
	}
	if rests {
		if err := l.request(ctx, c.page, "cluster.start", nil, nil); err != nil {
			return err
		}
	}
	if t != nil && !t.gone {
		if err := t.attach(ctx, c); err != nil {
			return err
		}
	}
	l.Change(func() {
		if err = c.gone(); err == nil {
			l.connection = c
			go c.openExercises(l.cards)
		}
	})
	return err
}

var errLeft = errors.New("the page was left")

// reconnect tries until the page is connected again, or left.
func (l *learner) reconnect(ctx context.Context, load int) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		if sleep(ctx, pause/2+rand.N(pause/2)) != nil {
			return
		}
		err := l.connect(ctx, load)
		if err == nil || errors.Is(err, errLeft) || ctx.Err() != nil {
			return
		}
		if !l.room.down.Load() {
			tally := &l.room.tally
			tally.edit(func() { tally.sockets = append(tally.sockets, fmt.Sprintf("%s: %v", l.name, err)) })
		}
	}
}

// Heard is the browser.Listener's.
func (c *connection) Heard(m browser.Message, at time.Time) error {
	var said struct {
		Cluster   cluster.Status          `json:"cluster"`
		Status    cluster.Status          `json:"status"`
		State     checker.ExerciseState   `json:"state"`
		Exercises []checker.ExerciseState `json:"exercises"`
		Terminals []protocol.Terminal     `json:"terminals"`
		Record    gateway.Record          `json:"record"`
	}
	if err := m.Decode(&said); err != nil {
		return err
	}
	l := c.learner
	l.Change(func() {
		switch m.Type {
		case "hello":
			c.greeted = true
			l.status = said.Cluster
			l.comesBack(at)
			for id, state := range l.exercises { // as they were, until they are opened again
				state.Phase = checker.Closed
				l.exercises[id] = state
			}
			for _, state := range said.Exercises {
				l.exercises[state.ID] = state
			}
			l.missTerminal(said.Terminals)
		case "terminals":
			l.missTerminal(said.Terminals)
		case "cluster":
			l.status = said.Status
			l.room.tally.edit(func() { l.room.tally.place = max(l.room.tally.place, said.Status.Position) })
		case "exercise":
			l.turn(said.State, at)
		case "request":
			l.records = append(l.records, newRecord(said.Record))
		}
	})
	return nil
}

// missTerminal looks whether the terminal is among those that there are; the state is locked.
func (l *learner) missTerminal(all []protocol.Terminal) {
	t := l.terminal
	if t == nil {
		return
	}
	t.gone = true
	for _, other := range all {
		if other.ID == t.id && !other.Exited {
			t.gone = false
		}
	}
}

// Framed is the browser.Listener's.
func (c *connection) Framed(f protocol.Frame, at time.Time) error {
	l := c.learner
	var drawn uint64
	l.Change(func() {
		if t := l.terminal; t != nil && t.id == f.Terminal && t.feeder == c {
			drawn = t.take(f, at, &l.room.tally)
		}
	})
	if drawn == 0 {
		return nil
	}
	return c.page.Send(context.Background(), protocol.Frame{Kind: protocol.Flow, Terminal: f.Terminal, Offset: drawn})
}

// Ended is the browser.Listener's.
func (c *connection) Ended(err error) {
	l := c.learner
	lost, onPurpose := false, false
	var t *terminal
	l.Change(func() {
		c.err = err
		if lost = l.connection == c; lost {
			l.connection, t = nil, l.terminal
			onPurpose, l.cut = l.cut, false
		}
	})
	if !lost {
		return
	}
	if t != nil {
		t.detach()
	}
	if !onPurpose && !l.room.down.Load() && l.ctx.Err() == nil {
		l.room.tally.edit(func() { l.room.tally.sockets = append(l.room.tally.sockets, fmt.Sprintf("%s: %v", l.name, err)) })
	}
	go l.reconnect(l.ctx, c.load)
}

// openExercises opens the exercises of a page one after the other as soon as the cluster is ready, as the page does, until
// the connection ends.
func (c *connection) openExercises(ids []string) {
	l := c.learner
	for _, id := range ids {
		open := false
		err := l.Until(l.ctx, func() (bool, error) {
			phase := l.exercises[id].Phase
			open = phase != "" && phase != checker.Closed
			return open || l.status.State == cluster.Ready, c.gone()
		})
		if err != nil {
			return
		}
		if open {
			continue
		}
		began := time.Now()
		var answered checker.ExerciseState
		if err := l.request(l.ctx, c.page, "exercise.open", map[string]any{"exercise": id}, &answered); err != nil {
			return
		}
		l.Change(func() {
			if phase := l.exercises[id].Phase; phase == "" || phase == checker.Closed { // what was pushed meanwhile is newer
				l.exercises[id] = answered
			}
		})
		prepared := false
		err = l.Until(l.ctx, func() (bool, error) {
			phase := l.exercises[id].Phase
			prepared = phase == checker.Open
			return prepared || phase == checker.Error, c.gone()
		})
		if err != nil {
			return
		}
		if prepared {
			l.room.tally.milliseconds(&l.room.tally.prepared, time.Since(began))
		}
	}
}

// gone returns why the connection is of no use any more; the state is locked.
func (c *connection) gone() error { return cmp.Or(c.err, c.learner.left(c.load)) }

func (l *learner) left(load int) error {
	if l.load != load {
		return errLeft
	}
	return nil
}

// ask asks on the page that there is, and waits for it where the connection is lost.
func (l *learner) ask(ctx context.Context, kind string, args map[string]any, value any) error {
	return l.askOnce(ctx, func() (bool, error) { return true, nil }, kind, args, value)
}

// askOnce asks on the page that there is as soon as that offers to, as the page's buttons do. offered is called while the
// state is locked.
func (l *learner) askOnce(ctx context.Context, offered func() (bool, error), kind string, args map[string]any, value any) error {
	for {
		var page *browser.Page
		err := l.Until(ctx, func() (bool, error) {
			if l.connection == nil {
				return false, nil
			}
			page = l.connection.page
			return offered()
		})
		if err != nil {
			return err
		}
		if err := l.request(ctx, page, kind, args, value); !errors.Is(err, browser.ErrClosed) {
			return err
		}
		if err := sleep(ctx, firstPause); err != nil {
			return err
		}
	}
}

// request asks on one page. A refusal is a mistake; a connection that is lost counts by itself.
func (l *learner) request(ctx context.Context, page *browser.Page, kind string, args map[string]any, value any) error {
	err := page.Ask(ctx, kind, args, value)
	l.count(kind, err)
	return err
}

// get asks for a page or a file over HTTP.
func (l *learner) get(ctx context.Context, path string) (browser.Answer, error) {
	for {
		answer, err := l.browser.Get(ctx, path)
		if err != nil && l.room.down.Load() && ctx.Err() == nil { // the learner tries again
			if err := sleep(ctx, firstPause); err != nil {
				return answer, err
			}
			continue
		}
		l.count(path, err)
		return answer, err
	}
}

func (l *learner) count(what string, err error) {
	tally := &l.room.tally
	tally.edit(func() {
		tally.requests++
		if err != nil && !errors.Is(err, browser.ErrClosed) && !errors.Is(err, context.Canceled) {
			tally.failed = append(tally.failed, fmt.Sprintf("%s: %s: %v", l.name, what, err))
		}
	})
}
