package ownmachine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cli/bench/browser"
	"github.com/apilab/apilab/server/protocol"
)

// An operator that runs beside the learner's editor turns the checks of an exercise green on their page.
func TestOperatorOnOwnMachine(t *testing.T) {
	l := overTLS(t).join(t, "Ada", t.TempDir())
	const exercise = "operator-build/create-the-cronjob"
	page := l.page(t)
	if err := page.Ask(t.Context(), "exercise.open", map[string]any{"exercise": exercise}, nil); err != nil {
		t.Fatal(err)
	}
	page.until(t, "the exercise to be open", exercise, func(s checker.ExerciseState) bool {
		return s.Phase == checker.Open && count(s, checker.Passing) == 0 && count(s, checker.Failing) > 0
	})

	// The project that they work on finds the cluster by the file that they downloaded.
	project := l.machine + "/project"
	if out, err := l.command(t.Context(), binary, "workspace", "operator", "--kubeconfig", l.kubeconfig, project).CombinedOutput(); err != nil {
		t.Fatalf("apilab workspace: %v: %s", err, out)
	}
	var log bytes.Buffer
	ctx, stop := context.WithTimeout(context.Background(), patience)
	manager := l.command(ctx, operator)
	manager.Env = append(manager.Env, "KUBECONFIG="+project+"/apilab.kubeconfig")
	manager.Stdout, manager.Stderr = &log, &log
	manager.Cancel = func() error { return manager.Process.Signal(os.Interrupt) }
	if err := manager.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		_ = manager.Wait()
		if t.Failed() {
			t.Logf("the operator's log:\n%s", log.String())
		}
	}()
	page.until(t, "all checks to pass", exercise, func(s checker.ExerciseState) bool {
		return count(s, checker.Passing) == len(s.Checks)
	})
}

func count(s checker.ExerciseState, state checker.CheckState) (n int) {
	for _, c := range s.Checks {
		if c.State == state {
			n++
		}
	}
	return n
}

// A page is the learner's, in a browser.
type page struct {
	*browser.Page
	state browser.State
	// Guarded by state.
	exercises map[string]checker.ExerciseState
	ended     error
}

func (l *learner) page(t *testing.T) *page {
	t.Helper()
	p := &page{exercises: map[string]checker.ExerciseState{}}
	var err error
	if p.Page, err = l.browser.Connect(t.Context(), "/ws", p); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Cut)
	return p
}

func (p *page) Heard(m browser.Message, _ time.Time) error {
	if m.Type != "exercise" {
		return nil
	}
	var changed protocol.ExerciseChanged
	if err := m.Decode(&changed); err != nil {
		return err
	}
	p.state.Change(func() { p.exercises[changed.State.ID] = changed.State })
	return nil
}

func (p *page) Framed(protocol.Frame, time.Time) error { return nil }
func (p *page) Ended(err error)                        { p.state.Change(func() { p.ended = err }) }

func (p *page) until(t *testing.T, what, exercise string, holds func(checker.ExerciseState) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := p.state.Until(ctx, func() (bool, error) { return holds(p.exercises[exercise]), p.ended })
	if err == nil {
		return
	}
	p.state.Change(func() {
		var lines []string
		for _, c := range p.exercises[exercise].Checks {
			lines = append(lines, fmt.Sprintf("%s %s: %s", c.State, c.ID, c.Why))
		}
		t.Fatalf("waiting for %s: %v; %s\n%s", what, err, p.exercises[exercise].Error, strings.Join(lines, "\n"))
	})
}
