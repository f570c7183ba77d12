package shell

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// scriptKubeconfig is where a script of Run finds its kubeconfig; only it does.
const scriptKubeconfig = "/run/kubeconfig"

// Run runs a script without a terminal, in the same sandbox as a terminal's shell: exercises' setup, solutions, checks.
// The script stops when ctx ends, then err is ctx's. A script that fails is no error, exit says so.
func Run(ctx context.Context, o Options, script string, stdout, stderr io.Writer) (exit int, err error) {
	if len(script) > maxScript {
		return 0, fmt.Errorf("run script: larger than %d MiB", maxScript>>20)
	}
	rt, err := newRuntime(&o)
	if err != nil {
		return 0, err
	}
	defer rt.close()
	s, err := rt.settings(&o)
	if err != nil {
		return 0, err
	}
	s.Script = script
	if len(o.Kubeconfig) > 0 {
		// Outside of the home: it may be the platform's, and the learner's terminals are open.
		name := rt.path("kube", "config")
		if err := os.Mkdir(rt.path("kube"), 0o700); err != nil {
			return 0, fmt.Errorf("run script: %w", err)
		}
		if err := os.WriteFile(name, o.Kubeconfig, 0o600); err != nil {
			return 0, fmt.Errorf("run script: %w", err)
		}
		s.Confine.Files = map[string]string{scriptKubeconfig: name}
		s.Sandbox.Folders = []string{rt.path("kube")} // kubectl config changes it
		s.Env = append(s.Env, "KUBECONFIG="+scriptKubeconfig)
	}
	edits, err := serveEdits(rt.path("control.sock"), o.OnEdit)
	if err != nil {
		return 0, err
	}
	defer edits.close()
	if o.OnEdit != nil {
		s.Control = rt.path("control.sock")
		s.Sandbox.Control = s.Control
	}
	var end *ending
	if o.Ended != nil {
		end = &ending{to: stdout, mark: []byte("\x00ended " + rand.Text()), tell: o.Ended}
		s.Linger = string(end.mark)
		if stderr == stdout { // stays one file, in which all keeps its order
			stderr = end
		}
		stdout = end
	}
	conf, err := s.send()
	if err != nil {
		return 0, fmt.Errorf("run script: %w", err)
	}
	defer conf.Close()
	cmd := exec.CommandContext(ctx, rt.path("bin", "shell"))
	cmd.Args = []string{"shell"}
	cmd.Dir = rt.home
	cmd.Env = []string{"PATH=" + rt.path("bin"), "HOME=" + rt.home, "TMPDIR=" + filepath.Join(rt.home, ".tmp"), "GOTRACEBACK=single", startFast}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.ExtraFiles = []*os.File{conf}
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = stopTime
	if err = cmd.Start(); err == nil {
		if o.Started != nil {
			o.Started(cmd.Process.Pid)
		}
		err = cmd.Wait()
	}
	ended := false
	if end != nil {
		end.flush()
		ended = end.told.Load()
	}
	if ended && ctx.Err() != nil {
		err = nil // its jobs were to end
	}
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	}
	var ee *exec.ExitError
	switch {
	case ctx.Err() != nil && !ended:
		return 0, ctx.Err()
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return 0, nil
	case errors.As(err, &ee):
		if ws, ok := ee.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return 128 + int(ws.Signal()), nil
		}
		return ee.ExitCode(), nil
	}
	return 0, fmt.Errorf("run script: %w", err)
}

// An ending passes on what a script prints, and tells when it has ended: by a mark in its output, which therefore comes
// after all that it printed. A byte follows it, the script's status.
type ending struct {
	to   io.Writer
	mark []byte
	tell func(exit int)

	held []byte      // of the output's end, what may be the beginning of the mark
	told atomic.Bool // also read when the process is gone and something it left still prints
}

func (e *ending) Write(p []byte) (int, error) {
	if e.told.Load() {
		return e.to.Write(p)
	}
	text := append(e.held, p...)
	at := bytes.Index(text, e.mark)
	if at < 0 || at+len(e.mark) == len(text) {
		e.held = append([]byte(nil), text[e.begins(text):]...)
		_, err := e.to.Write(text[:len(text)-len(e.held)])
		return len(p), err
	}
	status := at + len(e.mark)
	_, err := e.to.Write(text[:at])
	e.told.Store(true)
	e.tell(int(text[status]))
	if err == nil {
		_, err = e.to.Write(text[status+1:])
	}
	return len(p), err
}

// begins is where a mark begins that text ends with or within, len(text) if there is none.
func (e *ending) begins(text []byte) int {
	for at := max(0, len(text)-len(e.mark)); at < len(text); at++ {
		if bytes.HasPrefix(e.mark, text[at:]) {
			return at
		}
	}
	return len(text)
}

// flush passes on what turned out to be no mark.
func (e *ending) flush() {
	if len(e.held) > 0 && !e.told.Load() {
		e.to.Write(e.held)
	}
}
