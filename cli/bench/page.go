package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cli/bench/browser"
	"github.com/apilab/apilab/cli/bench/subject"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/protocol"
)

// readyTime bounds a cluster's start on a machine that is slow and busy.
const readyTime = 5 * time.Minute

// A page is the one that the bench looks at, and what it has heard.
type page struct {
	*browser.Page
	browser.State // of what follows
	status        cluster.Status
	backends      []string           // kinds of clusters that the learner can have
	check         checker.CheckState // of the workload's exercise
	turned        time.Time          // when the page heard of it
	output        []byte             // of the terminal
	err           error
}

// open signs in as a browser does and connects the websocket.
func open(ctx context.Context, s *subject.Subject) (*page, error) {
	b, err := browser.New(s.Base)
	if err != nil {
		return nil, err
	}
	if _, err := b.Get(ctx, s.Link); err != nil {
		return nil, fmt.Errorf("open the first page: %w", err)
	}
	p := &page{}
	p.Page, err = b.Connect(ctx, "/ws", p)
	return p, err
}

// Heard is the browser.Listener's.
func (p *page) Heard(m browser.Message, at time.Time) error {
	var said struct {
		Cluster  cluster.Status        `json:"cluster"`
		Status   cluster.Status        `json:"status"`
		State    checker.ExerciseState `json:"state"`
		Backends []string              `json:"backends"`
	}
	if err := m.Decode(&said); err != nil {
		return err
	}
	p.Change(func() {
		switch m.Type {
		case "hello":
			p.status, p.backends = said.Cluster, said.Backends
		case "cluster":
			p.status = said.Status
		case "exercise":
			p.turn(said.State, at)
		}
	})
	return nil
}

// Framed is the browser.Listener's.
func (p *page) Framed(f protocol.Frame, _ time.Time) error {
	if f.Kind != protocol.Output {
		return nil
	}
	p.Change(func() { p.output = append(p.output, f.Payload...) })
	drawn := f.Offset + uint64(len(f.Payload))
	return p.Send(context.Background(), protocol.Frame{Kind: protocol.Flow, Terminal: f.Terminal, Offset: drawn})
}

// Ended is the browser.Listener's.
func (p *page) Ended(err error) {
	p.Change(func() { p.err = fmt.Errorf("the websocket broke: %w", err) })
}

func (p *page) turn(state checker.ExerciseState, at time.Time) {
	if state.ID == exercise && len(state.Checks) == 1 && state.Checks[0].State != p.check {
		p.check, p.turned = state.Checks[0].State, at
	}
}

// until waits until holds, which runs with the page's lock held, or the websocket breaks.
func (p *page) until(ctx context.Context, holds func() (bool, error)) error {
	return p.Until(ctx, func() (bool, error) {
		done, err := holds()
		if err == nil && !done {
			err = p.err
		}
		return done, err
	})
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
