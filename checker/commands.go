package checker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apilab/apilab/exercises"
)

// lookup returns an open exercise and, if checkID is not empty, its check. Called by the loop.
func (s *Session) lookup(id, checkID string) (*opened, *check, error) {
	o := s.open[id]
	if o == nil {
		return nil, nil, fmt.Errorf("%w: %s", ErrNotOpen, id)
	}
	if checkID == "" {
		return o, nil, nil
	}
	for _, c := range o.checks {
		if c.spec.ID == checkID {
			return o, c, nil
		}
	}
	return nil, nil, fmt.Errorf("%w: %s", ErrNoCheck, checkID)
}

// RevealSolution returns the solution and records that it was shown.
func (s *Session) RevealSolution(id string) (string, error) {
	var solution string
	err := s.do(s.ctx, func() error {
		o, _, err := s.lookup(id, "")
		if err != nil {
			return err
		}
		solution = o.spec.Solution
		o.saved.Solution = true
		o.dirty = true
		return nil
	})
	return solution, err
}

// Hint tells one more of the check's hints, those that have no condition, in their order.
func (s *Session) Hint(id, checkID string) error {
	return s.do(s.ctx, func() error {
		o, c, err := s.lookup(id, checkID)
		if err != nil {
			return err
		}
		if c.told >= len(c.hints) {
			return ErrNoHint
		}
		c.told++
		c.touch(o)
		return nil
	})
}

// maxAnswer bounds what a learner may type, in bytes.
const maxAnswer = 4 << 10

// Answer takes what the learner typed or picked. Of a probe it takes anything, and runs the probe again.
func (s *Session) Answer(ctx context.Context, id, checkID, value string) error {
	value = strings.TrimSpace(value)
	if len(value) > maxAnswer {
		return fmt.Errorf("%w: it is longer than %d bytes", ErrBadAnswer, maxAnswer)
	}
	return s.do(ctx, func() error {
		o, c, err := s.lookup(id, checkID)
		if err != nil {
			return err
		}
		if o.phase != Open {
			return fmt.Errorf("%w: %s is being prepared", ErrNotOpen, id)
		}
		answered, ok := c.judge.(answerable)
		if !ok {
			return ErrNoAnswer
		}
		if err := answered.answer(value); err != nil {
			return err
		}
		if _, isProbe := c.judge.(*probeJudge); !isProbe {
			c.answered = value
			c.touch(o)
		}
		s.evaluate(o, c)
		return nil
	})
}

// Open opens an exercise: runs its setup unless saved says that this cluster has it, and judges its checks from then on.
// It returns when the exercise is open or its setup failed (ErrSetup; the state says why), or with ctx's error, while
// opening goes on. Opening an open exercise waits for it; a changed one is opened anew with what was saved.
func (s *Session) Open(ctx context.Context, exercise *exercises.Exercise, saved Saved) error {
	if s.initErr != nil {
		return s.initErr
	}
	var o *opened
	err := s.do(ctx, func() error {
		if o = s.open[exercise.ID]; o != nil && o.spec == exercise {
			return nil
		}
		if o != nil {
			saved = o.save()
			s.drop(o)
		} else {
			s.mu.Lock()
			s.order = append(s.order, exercise.ID)
			s.mu.Unlock()
		}
		o = newOpened(exercise, saved.clone())
		s.open[exercise.ID] = o
		s.prepare(o, false)
		return nil
	})
	if err != nil {
		return err
	}
	return s.await(ctx, o)
}

// await waits until the exercise is prepared.
func (s *Session) await(ctx context.Context, o *opened) error {
	for {
		var prepared chan struct{}
		err := s.do(ctx, func() error {
			switch {
			case s.open[o.spec.ID] != o:
				return fmt.Errorf("%w: %s", ErrNotOpen, o.spec.ID)
			case o.phase == Error:
				return fmt.Errorf("%w: %s", ErrSetup, o.err)
			case o.phase == Preparing:
				prepared = o.prepared
			}
			return nil
		})
		if err != nil || prepared == nil {
			return err
		}
		select {
		case <-prepared:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.ctx.Done():
			return ErrClosed
		}
	}
}

// Reset takes an exercise back to its beginning: its reset and setup run, what passed and was answered is forgotten. It
// returns as Open does.
func (s *Session) Reset(ctx context.Context, id string) error {
	var o *opened
	err := s.do(ctx, func() error {
		var err error
		if o, _, err = s.lookup(id, ""); err != nil {
			return err
		}
		o.forget()
		s.prepare(o, true)
		return nil
	})
	if err != nil {
		return err
	}
	return s.await(ctx, o)
}

// CloseExercise stops judging an exercise, and watching what only it watched.
func (s *Session) CloseExercise(id string) error {
	return s.do(s.ctx, func() error {
		o, _, err := s.lookup(id, "")
		if err != nil {
			return err
		}
		s.drop(o)
		delete(s.open, id)
		s.mu.Lock()
		s.order = slices.DeleteFunc(s.order, func(other string) bool { return other == id })
		s.mu.Unlock()
		o.phase = Closed
		s.tell(o.snapshot())
		return nil
	})
}
