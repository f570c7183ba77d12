// Package subject runs the apilab that is measured: the program itself, in a process of its own, on a data directory of its
// own. It knows nothing of what is measured.
package subject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/apilab/apilab/cli/control"
)

const (
	startTime = 3 * time.Minute // for the program to serve its first page
	stopTime  = 2 * time.Minute
)

// A Subject is a running apilab.
type Subject struct {
	Dir  string // data directory
	Link string // signs in, once
	Base string // address of the pages, "http://127.0.0.1:8484"
	PID  int

	cmd   *exec.Cmd
	log   log
	ended chan struct{}
}

// Start runs `apilab serve` with more flags on a data directory, until it hands out a sign-in link.
func Start(ctx context.Context, executable, dir string, flags ...string) (*Subject, error) {
	s := &Subject{Dir: dir, ended: make(chan struct{})}
	s.cmd = exec.Command(executable, slices.Concat([]string{"serve", "--no-open", "--data-dir", dir}, flags)...)
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start apilab: %w", err)
	}
	s.PID = s.cmd.Process.Pid
	go func() {
		_ = s.cmd.Wait()
		close(s.ended)
	}()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for { // it has no other sign of life that a stranger could wait for
		link, err := control.SignInURL(ctx, dir)
		if err == nil {
			return s, s.found(link)
		}
		if !errors.Is(err, control.ErrNotRunning) && !errors.Is(err, context.DeadlineExceeded) {
			s.Stop()
			return nil, err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-s.ended:
			return nil, fmt.Errorf("apilab ended at once: %s", s.log.text())
		case <-ctx.Done():
			s.Stop()
			return nil, fmt.Errorf("apilab did not come up within %s", startTime)
		}
	}
}

func (s *Subject) found(link string) error {
	u, err := url.Parse(link)
	if err != nil {
		s.Stop()
		return err
	}
	s.Link, s.Base = link, u.Scheme+"://"+u.Host
	return nil
}

// Stop ends it as Ctrl-C does.
func (s *Subject) Stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(stopTime):
		s.Kill()
	}
}

// Kill ends it without a warning.
func (s *Subject) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.ended
}

// Log is the end of what it has logged.
func (s *Subject) Log() string { return s.log.text() }

// A log keeps the end of what is written.
type log struct {
	mu   sync.Mutex
	kept []byte
}

const logKept = 64 << 10

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p...)
	if len(l.kept) > 2*logKept {
		l.kept = slices.Clone(l.kept[len(l.kept)-logKept:])
	}
	return len(p), nil
}

func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(bytes.TrimSpace(l.kept))
}
