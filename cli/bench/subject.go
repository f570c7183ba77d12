package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/apilab/apilab/cli/control"
)

const (
	startTime = time.Minute // for the program to serve its first page
	stopTime  = 30 * time.Second
)

// A subject is the apilab that is measured.
type subject struct {
	dir   string // data directory
	cmd   *exec.Cmd
	log   bytes.Buffer
	ended chan struct{}
	link  string // signs in, once
}

// start runs the program until it hands out a sign-in link.
func start(ctx context.Context, executable, dir, content string) (*subject, error) {
	s := &subject{dir: dir, ended: make(chan struct{})}
	s.cmd = exec.Command(executable, "serve", "--no-open", "--data-dir", dir, "--content", content)
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start apilab: %w", err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.ended)
	}()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for { // it has no other sign of life that a stranger could wait for
		link, err := control.SignInURL(ctx, dir)
		if err == nil {
			s.link = link
			return s, nil
		}
		if !errors.Is(err, control.ErrNotRunning) {
			s.stop()
			return nil, err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-s.ended:
			return nil, fmt.Errorf("apilab ended at once: %s", bytes.TrimSpace(s.log.Bytes()))
		case <-ctx.Done():
			s.stop()
			return nil, fmt.Errorf("apilab did not come up within %s", startTime)
		}
	}
}

func (s *subject) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(stopTime):
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
}

// kubeconfig writes the file for a kubectl outside, and returns its path.
func (s *subject) kubeconfig(ctx context.Context) (string, error) {
	text, err := control.Kubeconfig(ctx, s.dir)
	if err != nil {
		return "", err
	}
	path := s.dir + ".kubeconfig"
	return path, os.WriteFile(path, text, 0o600)
}
