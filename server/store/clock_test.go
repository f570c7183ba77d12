package store

import (
	"errors"
	"testing"
	"time"
)

// The time of day may jump: a laptop that slept with a dead battery, a wrong date that is set right.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t)
	clock := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s.SetClock(func() time.Time { return clock })
	who, err := s.EnsureLearner(ctx, "local", "You")
	if err != nil {
		t.Fatal(err)
	}
	signIn := func() string {
		t.Helper()
		code, err := s.NewSignInCode(ctx, who.ID, 10*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		token, err := s.RedeemSignInCode(ctx, code, 24*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	token := signIn()
	code, err := s.NewSignInCode(ctx, who.ID, 10*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	passed := clock
	if err := s.SaveExercise(ctx, who.ID, Exercise{ID: "t/e", OpenedAt: passed, PassedAt: passed}); err != nil {
		t.Fatal(err)
	}

	clock = clock.AddDate(10, 0, 0) // everything is over, and all can begin anew
	if _, err := s.LearnerBySession(ctx, token); !errors.Is(err, ErrNotFound) {
		t.Errorf("a session of ten years ago: %v", err)
	}
	if _, err := s.RedeemSignInCode(ctx, code, time.Hour); !errors.Is(err, ErrNotFound) {
		t.Errorf("a code of ten years ago: %v", err)
	}
	later := signIn()
	if e, err := s.Exercise(ctx, who.ID, "t/e"); err != nil || !e.PassedAt.Equal(passed) {
		t.Errorf("progress after the jump: %+v, %v", e, err)
	}

	clock = clock.AddDate(-20, 0, 0) // before anything was
	if _, err := s.LearnerBySession(ctx, later); err != nil {
		t.Errorf("a session that begins in the future: %v", err)
	}
	if _, err := s.LearnerBySession(ctx, signIn()); err != nil {
		t.Errorf("a sign-in before all others: %v", err)
	}
	if err := s.SaveExercise(ctx, who.ID, Exercise{ID: "t/e", OpenedAt: passed, PassedAt: clock}); err != nil {
		t.Errorf("progress before it began: %v", err)
	}
}
