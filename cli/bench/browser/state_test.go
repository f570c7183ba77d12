package browser

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestUntil(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s State
		n := 0
		go func() {
			for range 3 {
				time.Sleep(time.Second)
				s.Change(func() { n++ })
			}
		}()
		began := time.Now()
		if err := s.Until(t.Context(), func() (bool, error) { return n == 2, nil }); err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		broken := errors.New("broken")
		err := s.Until(t.Context(), func() (bool, error) {
			if n == 3 {
				return false, broken
			}
			return false, nil
		})
		if !errors.Is(err, broken) {
			t.Errorf("what fails: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Until(ctx, func() (bool, error) { return false, nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("what never holds: %v", err)
		}
	})
}
