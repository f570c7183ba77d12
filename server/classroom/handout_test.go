package classroom

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/apilab/apilab/server/protocol"
)

func TestHandout(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		bobs := make(chan error)
		run := func(_ context.Context, learner string) error {
			if learner == "ada" {
				return LeftOut("has no cluster")
			}
			return <-bobs
		}
		states := func() [2]protocol.HandoutState {
			time.Sleep(time.Second)
			return [2]protocol.HandoutState{s.page.grid.Handout.Outcomes[0].State, s.page.grid.Handout.Outcomes[1].State}
		}
		if err := s.room.HandOut(t.Context(), "Tea", "Break it", run); err != nil {
			t.Fatal(err)
		}
		if got := states(); got != [2]protocol.HandoutState{protocol.HandoutLeft, protocol.HandoutRunning} {
			t.Errorf("outcomes %v", got)
		}
		if err := s.room.HandOut(t.Context(), "Max", "Another", run); err == nil {
			t.Error("two handouts at once")
		}
		late := &screen{}
		s.room.Join(late)
		if late.grid.Handout == nil || late.grid.Handout.Done {
			t.Errorf("who comes later sees %+v", late.grid.Handout)
		}
		bobs <- errors.New("exit status 1")
		if got := states(); got[1] != protocol.HandoutFailed || !s.page.grid.Handout.Done || s.page.grid.Handout.Outcomes[1].Text != "exit status 1" {
			t.Errorf("at the end %+v", s.page.grid.Handout)
		}
		if err := s.room.HandOut(t.Context(), "Max", "Another", func(context.Context, string) error { return nil }); err != nil {
			t.Errorf("another one afterwards: %v", err)
		}
		if got := states(); got != [2]protocol.HandoutState{protocol.HandoutDone, protocol.HandoutDone} {
			t.Errorf("outcomes %v", got)
		}
	})
}
