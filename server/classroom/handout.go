package classroom

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/apilab/apilab/server/protocol"
)

// handing is how many clusters a handout works in at once.
const handing = 4

// LeftOut is why a handout does not concern a learner, in a sentence.
type LeftOut string

func (l LeftOut) Error() string { return string(l) }

// HandOut brings a state into the clusters of all learners by calling run for each, some at a time, and shows the pages what
// becomes of it. It returns at once; ctx ends what is under way. A class has one handout at a time.
func (r *Room) HandOut(ctx context.Context, by, title string, run func(ctx context.Context, learner string) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.handout != nil && !r.handout.Done {
		return fmt.Errorf("%s is handing out %q right now; wait until it has reached everybody", r.handout.By, r.handout.Title)
	}
	if len(r.order) == 0 {
		return errors.New("nobody is in this class yet")
	}
	h := &protocol.Handout{Title: title, By: by, At: second(time.Now())}
	for _, learner := range r.order {
		h.Outcomes = append(h.Outcomes, protocol.HandoutOutcome{Learner: learner, State: protocol.HandoutWaiting})
	}
	r.handout = h
	r.tellHandout()
	go r.handOut(ctx, h, run)
	return nil
}

func (r *Room) handOut(ctx context.Context, h *protocol.Handout, run func(ctx context.Context, learner string) error) {
	var hands sync.WaitGroup
	free := make(chan struct{}, handing)
	for i := range h.Outcomes {
		free <- struct{}{}
		hands.Go(func() {
			defer func() { <-free }()
			learner := r.outcome(h, i, protocol.HandoutRunning, "")
			state, text := outcomeOf(run(ctx, learner))
			r.outcome(h, i, state, text)
		})
	}
	hands.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	h.Done = true
	r.tellHandout()
}

func outcomeOf(err error) (protocol.HandoutState, string) {
	var left LeftOut
	switch {
	case err == nil:
		return protocol.HandoutDone, ""
	case errors.As(err, &left):
		return protocol.HandoutLeft, string(left)
	default:
		return protocol.HandoutFailed, err.Error()
	}
}

// outcome notes how far a handout is with a learner, whom it returns.
func (r *Room) outcome(h *protocol.Handout, i int, state protocol.HandoutState, text string) (learner string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h.Outcomes[i].State, h.Outcomes[i].Text = state, text
	r.tellHandout()
	return h.Outcomes[i].Learner
}

// tellHandout sends the handout to all pages; mu is held.
func (r *Room) tellHandout() {
	message := r.encode(protocol.ClassHandout{Handout: *r.handout})
	for page := range r.pages {
		page.Send("handout", message)
	}
}
