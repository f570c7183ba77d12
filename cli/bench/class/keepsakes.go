package class

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/server/protocol"
)

// fidget loads the page again and loses its connection, each at a random moment of the class.
func (l *learner) fidget(ctx context.Context) {
	for _, do := range rand.Perm(2) {
		if sleep(ctx, rand.N(l.room.o.Duration/2)) != nil {
			return
		}
		if do == 0 {
			_ = l.reload(ctx) // what fails is counted
		} else {
			l.loseConnection()
		}
	}
}

// loseConnection breaks the page's websocket, as a network does. The learner goes on typing.
func (l *learner) loseConnection() {
	var c *connection
	l.Change(func() { c, l.cut = l.connection, l.connection != nil })
	if c != nil {
		l.room.tally.edit(func() { l.room.tally.cuts++ })
		c.page.Cut()
	}
}

// printMarks has the shell print lines that all differ, and write them into a file as well, loads the page again in the
// midst of them, and compares.
func (l *learner) printMarks(ctx context.Context) error {
	const command = "for i in $(seq 1 300); do echo mark-$i-of-300; sleep 0.01; done | tee marks"
	reloaded := make(chan error, 1)
	go func() {
		typing := time.Duration(len(command)) * (keyFrom + keyTo) / 2
		err := sleep(ctx, time.Duration(float64(typing)/l.room.o.Haste)+rand.N(3*time.Second))
		if err == nil {
			err = l.reload(ctx)
		}
		reloaded <- err
	}()
	shown, err := l.enter(ctx, command)
	if err != nil {
		return err
	}
	if err := <-reloaded; err != nil {
		return err
	}
	var written protocol.FileText
	if err := l.ask(ctx, "file.read", map[string]any{"path": "marks"}, &written); err != nil {
		return err
	}
	lost, doubled := difference(written.Text, shown)
	tally := &l.room.tally
	tally.edit(func() { tally.lost, tally.doubled = tally.lost+lost, tally.doubled+doubled })
	return nil
}

// keep makes an object that must outlive a restart of the server.
func (l *learner) keep(ctx context.Context) error {
	uid, err := l.enter(ctx, "kubectl create configmap kept -o jsonpath='{.metadata.uid}{\"\\n\"}'")
	l.kept = uid
	return err
}

// comesBack notes when the page is there again after the server was killed; the state is locked.
func (l *learner) comesBack(at time.Time) {
	if killed := l.room.killed.Load(); killed != nil && !l.back {
		l.back = true
		l.room.tally.seconds(&l.room.tally.back, at.Sub(*killed))
	}
}

// comeBack goes on after the server was killed: with a new shell, once the cluster is there, and what was done.
func (l *learner) comeBack(ctx context.Context) error {
	if err := l.waitReady(ctx); err != nil {
		return err
	}
	if err := l.openTerminal(ctx); err != nil {
		return err
	}
	tally := &l.room.tally
	tally.seconds(&tally.whole, time.Since(*l.room.killed.Load()))
	var missing []string
	uid, err := l.enter(ctx, "kubectl get configmap kept -o jsonpath='{.metadata.uid}{\"\\n\"}'")
	if err != nil {
		return err
	}
	if uid != l.kept {
		missing = append(missing, fmt.Sprintf("%s: the object kept was %q and is %q", l.name, l.kept, uid))
	}
	for _, s := range l.done {
		var state checker.ExerciseState
		if err := l.ask(ctx, "exercise.open", map[string]any{"exercise": s.exercise}, &state); err != nil {
			return err
		}
		if state.PassedAt == nil {
			missing = append(missing, fmt.Sprintf("%s: %s was passed", l.name, s.exercise))
		}
	}
	tally.edit(func() { tally.vanished = append(tally.vanished, missing...) })
	return nil
}

// review looks at the end whether the shell has taken what was typed, and reckons what the terminals have shown.
func (l *learner) review(ctx context.Context) error {
	if err := l.reload(ctx); err != nil { // the last page draws all of it once more
		return err
	}
	if _, err := l.enter(ctx, "true"); err != nil {
		return err
	}
	var history protocol.FileText
	if err := l.ask(ctx, "file.read", map[string]any{"path": ".shell_history"}, &history); err != nil {
		return err
	}
	var took []string
	for line := range strings.Lines(history.Text) {
		took = append(took, unquote(strings.TrimSuffix(line, "\n")))
	}
	missing := 0
	for _, command := range l.entered {
		if i := slices.Index(took, command); i >= 0 {
			took = slices.Delete(took, i, i+1)
		} else {
			missing++
		}
	}
	if l.back {
		took = nil // one that was being typed when the server was killed may be among them
	}
	l.room.tally.edit(func() { l.room.tally.mistyped += missing + len(took) })
	return nil
}

// unquote reads a line of the history: a command of several lines is quoted.
func unquote(line string) string {
	if text, err := strconv.Unquote(line); err == nil && strings.HasPrefix(line, `"`) {
		return text
	}
	return line
}
