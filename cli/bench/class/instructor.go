package class

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apilab/apilab/cli/bench/browser"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/protocol"
)

// An instructor has the page of the class open, and looks at the lesson where most learners are.
type instructor struct {
	room    *room
	browser *browser.Browser
	class   string // ID

	browser.State // of what follows
	ended         error
	warm          cluster.WarmUp
	passing       map[string]int // cells of a learner's row, by lesson and learner
}

// look keeps the page open until ctx ends.
func (i *instructor) look(ctx context.Context) {
	defer i.browser.Close()
	for ctx.Err() == nil {
		if err := i.watch(ctx); err != nil && ctx.Err() == nil && !i.room.down.Load() {
			i.room.tally.edit(func() { i.room.tally.sockets = append(i.room.tally.sockets, fmt.Sprintf("instructor: %v", err)) })
		}
		_ = sleep(ctx, firstPause)
	}
}

func (i *instructor) watch(ctx context.Context) error {
	if _, err := i.browser.Get(ctx, "/classes/"+i.class); err != nil {
		return err
	}
	i.Change(func() { i.ended, i.passing = nil, map[string]int{} })
	page, err := i.browser.Connect(ctx, "/ws?class="+i.class, i)
	if err != nil {
		return err
	}
	defer page.Close()
	return i.Until(ctx, func() (bool, error) { return false, i.ended })
}

// warmUp asks for clusters for so many learners, and waits for them.
func (i *instructor) warmUp(ctx context.Context, learners int) error {
	page, err := i.browser.Connect(ctx, "/ws?class="+i.class, i)
	if err != nil {
		return err
	}
	defer page.Close()
	if err := page.Ask(ctx, "class.warm", map[string]any{"learners": learners}, nil); err != nil {
		return err
	}
	return i.Until(ctx, func() (bool, error) {
		if i.warm.Reason != "" {
			return false, errors.New(i.warm.Reason)
		}
		return i.warm.Ready >= learners, i.ended
	})
}

// Heard is the browser.Listener's.
func (i *instructor) Heard(m browser.Message, at time.Time) error {
	switch m.Type {
	case "class.row":
		return i.heardRow(m, at)
	case "class.warmup":
		var said protocol.ClassWarmUp
		err := m.Decode(&said)
		i.Change(func() { i.warm = said.WarmUp })
		return err
	}
	return nil
}

func (i *instructor) heardRow(m browser.Message, at time.Time) error {
	var said protocol.ClassRowChanged
	if err := m.Decode(&said); err != nil {
		return err
	}
	i.Change(func() {
		key := said.Lesson + " " + said.Row.Learner
		before, known := i.passing[key]
		i.passing[key] = said.Row.Passed
		if !known || said.Row.Passed <= before {
			return
		}
		newest := time.Time{}
		for _, cell := range said.Row.Cells {
			if cell.State == protocol.CellPassing && cell.Since.After(newest) {
				newest = cell.Since
			}
		}
		i.room.tally.milliseconds(&i.room.tally.seen, at.Sub(newest))
	})
	return nil
}

// Framed is the browser.Listener's.
func (i *instructor) Framed(protocol.Frame, time.Time) error { return nil }

// Ended is the browser.Listener's.
func (i *instructor) Ended(err error) { i.Change(func() { i.ended = err }) }
