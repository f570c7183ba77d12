package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/server/store"
)

// maxMessageText bounds what an instructor writes at once, in characters.
const maxMessageText = 2000

// classRequests are all that an instructor's page of a class can ask for. Each asks anew whether they may.
var classRequests = map[string]requestHandler{
	"ping": ping,
	"class.show": act(false, func(_ context.Context, p *page, a protocol.ClassShow) (any, error) {
		p.class.room.Show(p, a.Lesson)
		return nil, nil
	}),
	"class.message": act(true, func(ctx context.Context, p *page, a protocol.ClassWrite) (any, error) {
		return nil, p.class.write(ctx, a)
	}),
	"class.hand": act(false, func(ctx context.Context, p *page, a protocol.ClassLearner) (any, error) {
		return nil, p.class.lowerHand(ctx, a.Learner)
	}),
	"class.lesson": act(true, func(ctx context.Context, p *page, a protocol.ClassPace) (any, error) {
		return nil, p.class.pace(ctx, a)
	}),
	"class.extend": act(true, func(ctx context.Context, p *page, a protocol.ClassExtend) (any, error) {
		return nil, p.class.extend(ctx, a.Ends)
	}),
	"class.warm": act(false, func(ctx context.Context, p *page, a protocol.ClassWarm) (any, error) {
		return nil, p.class.warmUp(ctx, a.Learners)
	}),
	"class.reset.exercise": act(true, func(ctx context.Context, p *page, a protocol.ClassReset) (any, error) {
		return p.class.resetExercise(ctx, a)
	}),
	"class.reset.cluster": act(true, func(ctx context.Context, p *page, a protocol.ClassLearner) (any, error) {
		return p.class.resetCluster(ctx, a.Learner)
	}),
	"class.handout": act(true, func(ctx context.Context, p *page, a protocol.HandoutBegin) (any, error) {
		return nil, p.class.handOut(ctx, a)
	}),
}

// act is a request of who may run the class, as is asked each time.
func act[Args any](long bool, handle func(context.Context, *page, Args) (any, error)) requestHandler {
	h := slow(func(ctx context.Context, p *page, args Args) (any, error) {
		if err := p.allowed(ctx); err != nil {
			return nil, err
		}
		return handle(ctx, p, args)
	})
	h.quick = !long
	return h
}

// write sends a message to a learner, or to all.
func (c *classPage) write(ctx context.Context, a protocol.ClassWrite) error {
	text := strings.TrimSpace(a.Text)
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return errors.New("write something first")
	case n > maxMessageText:
		return fmt.Errorf("the message has %d characters; %d is the most", n, maxMessageText)
	}
	err := c.s.store.SendMessage(ctx, c.id, a.Learner, c.person.Name, text)
	if errors.Is(err, store.ErrNotFound) {
		return errLeft
	}
	if err != nil {
		return err
	}
	if a.Learner != "" {
		return c.s.share(ctx, a.Learner)
	}
	return c.s.shareAll(ctx, c.id)
}

var errLeft = errors.New("this learner is not in the class any more; load the page again")

// member returns a learner of the class.
func (c *classPage) member(ctx context.Context, learner string) (store.Member, error) {
	m, err := c.s.store.Member(ctx, learner)
	if errors.Is(err, store.ErrNotFound) || err == nil && m.Class != c.id {
		return store.Member{}, errLeft
	}
	return m, err
}

// hub returns the hub of a learner of the class.
func (c *classPage) hub(ctx context.Context, learner string) (*hub.Hub, error) {
	m, err := c.member(ctx, learner)
	if err != nil {
		return nil, err
	}
	return c.s.hub(m.Learner)
}

func (c *classPage) lowerHand(ctx context.Context, learner string) error {
	if _, err := c.member(ctx, learner); err != nil {
		return err
	}
	return c.s.moveHand(ctx, learner, false)
}

// pace closes a lesson of the class, or opens it again.
func (c *classPage) pace(ctx context.Context, a protocol.ClassPace) error {
	if c.room.TitleOf(a.Lesson) == "" {
		return errors.New("this class has no such lesson")
	}
	set := c.s.store.OpenLesson
	if a.Closed {
		set = c.s.store.CloseLesson
	}
	if err := set(ctx, c.id, a.Lesson); err != nil {
		return err
	}
	c.s.classChanged(ctx, c.id)
	if !a.Closed {
		c.announce(fmt.Sprintf("%s has opened the lesson %q.", c.person.Name, c.room.TitleOf(a.Lesson)))
	}
	return nil
}

// announce tells the pages of the class's learners something that is not worth keeping.
func (c *classPage) announce(text string) {
	for _, learner := range c.room.Learners() {
		if h := c.s.hubOf(learner); h != nil {
			h.Notify(protocol.Info, text)
		}
	}
}

// extend moves the end of the class, also of one that is over.
func (c *classPage) extend(ctx context.Context, ends time.Time) error {
	if !ends.IsZero() && !ends.After(time.Now()) {
		return errors.New("the new end is in the past; choose a later one")
	}
	if err := c.s.store.Extend(ctx, c.id, ends); err != nil {
		return err
	}
	c.s.classChanged(ctx, c.id)
	return nil
}

func (c *classPage) resetExercise(ctx context.Context, a protocol.ClassReset) (any, error) {
	h, err := c.hub(ctx, a.Learner)
	if err != nil {
		return nil, err
	}
	by, err := h.ResetExerciseFor(ctx, c.person.Name, a.Exercise)
	return protocol.Shared{By: by}, err
}

func (c *classPage) resetCluster(ctx context.Context, learner string) (any, error) {
	h, err := c.hub(ctx, learner)
	if err != nil {
		return nil, err
	}
	by, err := h.ResetClusterFor(ctx, c.person.Name)
	return protocol.Shared{By: by}, err
}
