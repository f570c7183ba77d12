package class

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cli/bench/browser"
	"github.com/apilab/apilab/server/protocol"
)

// What people take their time for. Options.Haste divides all of it.
const (
	comeTime             = 45 * time.Second // a class comes in within this
	keyFrom, keyTo       = 100 * time.Millisecond, 300 * time.Millisecond
	thinkFrom, thinkTo   = time.Second, 4 * time.Second
	readFrom, readTo     = 5 * time.Second, 20 * time.Second
	chooseFrom, chooseTo = 2 * time.Second, 6 * time.Second
)

// enter is the key.
const enter = "\r"

// pause does nothing for a time between two. It ends with the shell.
func (l *learner) pause(ctx context.Context, from, to time.Duration) error {
	limit, cancel := context.WithTimeout(ctx, time.Duration(float64(from+rand.N(to-from))/l.room.o.Haste))
	defer cancel()
	err := l.Until(limit, func() (bool, error) { return false, l.shellGone() })
	if errors.Is(err, context.DeadlineExceeded) {
		return ctx.Err()
	}
	return err
}

// shellGone returns errGone if there was a shell; the state is locked.
func (l *learner) shellGone() error {
	if l.terminal != nil && l.terminal.gone {
		return errGone
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// openTerminal opens a terminal, as the page does that finds none, and waits for its prompt.
func (l *learner) openTerminal(ctx context.Context) error {
	l.hands.Lock()
	defer l.hands.Unlock()
	var opened protocol.Opened
	if err := l.ask(ctx, "term.open", map[string]any{"cols": 120, "rows": 40}, &opened); err != nil {
		return err
	}
	t := &terminal{id: opened.Terminal}
	var c *connection
	l.Change(func() { l.terminal, l.terminals, c = t, append(l.terminals, t), l.connection })
	if c != nil { // else the next one attaches it
		if err := t.attach(ctx, c); err != nil && !errors.Is(err, browser.ErrClosed) {
			return err
		}
	}
	return l.waitPrompt(ctx, t, 0, "the shell's start")
}

func (l *learner) waitPrompt(ctx context.Context, t *terminal, from int, after string) error {
	limit, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	err := l.Until(limit, func() (bool, error) {
		if t.gone {
			return false, errGone
		}
		return t.transcript.prompts(from) > 0, nil
	})
	if err != nil && ctx.Err() == nil && !errors.Is(err, errGone) {
		var shown string
		l.Change(func() { shown = string(t.transcript.bytes[max(from, len(t.transcript.bytes)-1000):]) })
		return fmt.Errorf("no prompt after %s; the terminal shows %q", after, shown)
	}
	return err
}

// enter types a command key by key, and returns what it has printed when the next prompt is there.
func (l *learner) enter(ctx context.Context, command string) (printed string, err error) {
	var t *terminal
	l.Change(func() { t = l.terminal })
	for _, key := range strings.ReplaceAll(command, "\n", enter) {
		if err := l.press(ctx, t, string(key)); err != nil {
			return "", err
		}
		if err := l.pause(ctx, keyFrom, keyTo); err != nil {
			return "", err
		}
	}
	from := 0
	l.Change(func() { from = len(t.transcript.bytes) })
	if err := l.press(ctx, t, enter); err != nil {
		return "", err
	}
	if err := l.waitPrompt(ctx, t, from, command); err != nil {
		return "", err
	}
	l.Change(func() {
		printed = t.transcript.output(from)
		l.entered = append(l.entered, command)
	})
	return printed, nil
}

func (l *learner) press(ctx context.Context, t *terminal, key string) error {
	l.hands.Lock()
	defer l.hands.Unlock()
	var err error
	l.Change(func() { err = l.shellGone() })
	if err != nil {
		return err
	}
	t.press(ctx, l, key)
	l.room.tally.edit(func() { l.room.tally.keys++ })
	return nil
}

// answer gives an answer, after looking it up in the terminal where it is to be found there, and returns when it was sent.
func (l *learner) answer(ctx context.Context, s *script, a answer) (sent time.Time, err error) {
	value := a.value
	if strings.HasPrefix(value, "$(") {
		printed, err := l.enter(ctx, `printf '%s\n' "`+value+`"`)
		if err != nil {
			return sent, err
		}
		value = strings.TrimSpace(printed)
	}
	if err := l.pause(ctx, chooseFrom, chooseTo); err != nil {
		return sent, err
	}
	limit, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	offered := func() (bool, error) {
		sent = time.Now()
		return l.isOpen(s.exercise)
	}
	l.hands.Lock()
	defer l.hands.Unlock()
	var state checker.ExerciseState
	return sent, l.askOnce(limit, offered, "exercise.answer", map[string]any{"exercise": s.exercise, "check": a.check, "value": value}, &state)
}
