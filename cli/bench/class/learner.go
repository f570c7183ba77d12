package class

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cli/bench/browser"
	"github.com/apilab/apilab/cluster"
)

// How long a learner waits before they give up, on a machine that is slow and busy.
const (
	readyTime   = 10 * time.Minute // for a cluster, behind a whole class
	commandTime = 2 * time.Minute  // for a prompt
	greenTime   = time.Minute      // for a check
	settleTime  = 10 * time.Second // for the server to take what was typed
)

// errGone says that the server was restarted, and the shell is not there any more.
var errGone = errors.New("the shell is gone")

// A learner is one scripted person with a browser. One goroutine does what the script says; another one reloads the page
// and loses the connection meanwhile.
type learner struct {
	ctx     context.Context // of the run; connections live as long
	room    *room
	name    string
	browser *browser.Browser
	hands   sync.Mutex // held by what one does with one's hands: a key, a click, a reload
	cached  map[string]bool

	browser.State             // of what follows
	load          int         // of pages, the number of this one
	lesson        string      // that it shows
	cards         []string    // exercises on it
	connection    *connection // nil: lost
	cut           bool        // it is broken on purpose
	status        cluster.Status
	came          time.Time // when the first page was asked for, which asks for the cluster
	back          bool      // since the server was killed
	exercises     map[string]checker.ExerciseState
	green         map[string]green // by "exercise check"
	records       []record
	terminal      *terminal
	terminals     []*terminal // all that there were
	done          []*script   // exercises
	kept          string      // uid of an object that must outlive a restart
	entered       []string    // commands
}

// A green is when a check became so.
type green struct {
	at time.Time
	by checker.Evidence
}

func newLearner(ctx context.Context, r *room, name string, b *browser.Browser) *learner {
	return &learner{
		ctx: ctx, room: r, name: name, browser: b,
		cached: map[string]bool{}, exercises: map[string]checker.ExerciseState{}, green: map[string]green{},
	}
}

// attend is a learner's whole class: until the exercises or the time are over.
func (l *learner) attend(ctx context.Context) error {
	if err := l.pause(ctx, 0, comeTime); err != nil {
		return err
	}
	if err := l.room.join(ctx, l); err != nil {
		return fmt.Errorf("join: %w", err)
	}
	if err := l.visit(ctx, l.room.scripts[0].lesson); err != nil {
		return err
	}
	if err := errors.Join(l.openTerminal(ctx), l.claim(ctx)); err != nil {
		return err
	}
	if err := l.keep(ctx); err != nil {
		return err
	}
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	go l.fidget(ctx)
	marks := rand.IntN(len(l.room.scripts)) // before this one
	for i := range l.room.scripts {
		if l.room.over() && len(l.done) > 0 { // a server that is killed may have taken the only one
			break
		}
		err := l.work(ctx, &l.room.scripts[i], i == marks)
		if errors.Is(err, errGone) {
			err = l.comeBack(ctx)
		}
		if err != nil {
			return err
		}
	}
	return l.review(ctx)
}

// goHome leaves for good, and reckons what the terminals have shown.
func (l *learner) goHome() {
	l.leave("")
	l.browser.Close()
	tally := &l.room.tally
	l.Change(func() {
		for _, t := range l.terminals {
			tally.edit(func() {
				tally.output += len(t.transcript.bytes)
				tally.lost += t.transcript.lost
				tally.doubled += t.transcript.doubled
				tally.altered += t.transcript.altered
			})
		}
	})
}

// work does one exercise.
func (l *learner) work(ctx context.Context, s *script, marks bool) error {
	if err := l.visit(ctx, s.lesson); err != nil {
		return err
	}
	if err := l.waitOpen(ctx, s.exercise); err != nil {
		return err
	}
	if marks {
		if err := l.printMarks(ctx); err != nil {
			return err
		}
	}
	if err := l.pause(ctx, readFrom, readTo); err != nil {
		return err
	}
	for _, command := range s.commands {
		if _, err := l.enter(ctx, command); err != nil {
			return err
		}
		if err := l.pause(ctx, thinkFrom, thinkTo); err != nil {
			return err
		}
	}
	sent := map[string]time.Time{}
	for _, a := range s.answers {
		at, err := l.answer(ctx, s, a)
		if err != nil {
			return err
		}
		sent[a.check] = at
	}
	return l.waitGreen(ctx, s, sent)
}

// claim waits for the cluster that the page has asked for.
func (l *learner) claim(ctx context.Context) error {
	if err := l.waitReady(ctx); err != nil {
		return err
	}
	l.Change(func() { l.room.tally.seconds(&l.room.tally.claimed, time.Since(l.came)) })
	return nil
}

func (l *learner) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	err := l.Until(ctx, func() (bool, error) {
		if l.status.State == cluster.Failed {
			return false, errors.New(l.status.Reason)
		}
		return l.status.State == cluster.Ready, nil
	})
	if err != nil {
		var status cluster.Status
		l.Change(func() { status = l.status })
		return fmt.Errorf("wait for the cluster, which is %q (%s): %w", status.State, status.Reason, err)
	}
	return nil
}

// waitOpen waits until an exercise's setup is done.
func (l *learner) waitOpen(ctx context.Context, exercise string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	err := l.Until(ctx, func() (bool, error) { return l.isOpen(exercise) })
	if err != nil {
		return fmt.Errorf("wait for the exercise %s: %w", exercise, err)
	}
	return nil
}

// isOpen tells whether the page takes answers to an exercise; the state is locked.
func (l *learner) isOpen(exercise string) (bool, error) {
	state := l.exercises[exercise]
	if state.Phase == checker.Error {
		return false, errors.New(state.Error)
	}
	return state.Phase == checker.Open, l.shellGone()
}

// waitGreen waits until all checks pass, and reckons what they took since the learner did their part.
func (l *learner) waitGreen(ctx context.Context, s *script, answered map[string]time.Time) error {
	ctx, cancel := context.WithTimeoutCause(ctx, greenTime, errNotGreen)
	defer cancel()
	var state checker.ExerciseState
	err := l.Until(ctx, func() (bool, error) {
		state = l.exercises[s.exercise]
		return allPass(state), l.shellGone()
	})
	tally := &l.room.tally
	if err != nil && errors.Is(context.Cause(ctx), errNotGreen) {
		for _, c := range state.Checks {
			if c.State != checker.Passing {
				tally.edit(func() {
					tally.notGreen = append(tally.notGreen, fmt.Sprintf("%s, %s %s: %s, %s", l.name, s.exercise, c.ID, c.State, c.Why))
				})
			}
		}
		return nil
	}
	if err != nil {
		return err
	}
	l.Change(func() {
		l.reckon(s, answered)
		l.done = append(l.done, s)
	})
	tally.edit(func() { tally.exercises++ })
	return nil
}

var errNotGreen = errors.New("a check did not turn green")

func allPass(state checker.ExerciseState) bool {
	for _, c := range state.Checks {
		if c.State != checker.Passing {
			return false
		}
	}
	return len(state.Checks) > 0
}
