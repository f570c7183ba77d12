package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/apilab/apilab/shell/tools"
	"github.com/apilab/apilab/shell/vfs"
)

// A Launcher starts kubectl processes for one shell. It keeps one ready, whose start-up (package initialisation and the
// command tree, a fifth of a second of CPU) is over when it is needed.
type Launcher struct {
	Confinement
	FS *vfs.FS
	// Ahead is how many processes may be started ahead of their use, as long as the launcher lives. Each that is not used in
	// the end was started for nothing.
	Ahead int

	running atomic.Int32

	mu     sync.Mutex
	spare  *worker
	idle   *time.Timer
	closed bool
}

// spareLife is how long a process waits for its use. A learner who reads for longer pays once for a cold start.
const spareLife = 10 * time.Minute

// Warm starts a process to have one ready, if there is none.
func (l *Launcher) Warm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.spare != nil || l.closed || l.Ahead <= 0 {
		return
	}
	l.Ahead--
	w, err := l.startWorker()
	if err != nil {
		return // it will be started cold
	}
	l.spare = w
	l.idle = time.AfterFunc(spareLife, func() {
		if w := l.takeSpare(); w != nil {
			w.discard()
		}
	})
}

func (l *Launcher) takeSpare() *worker {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.spare
	l.spare = nil
	if l.idle != nil {
		l.idle.Stop()
	}
	return w
}

// Close ends the process in waiting.
func (l *Launcher) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	if w := l.takeSpare(); w != nil {
		w.discard()
	}
}

// Run runs kubectl for a call of the shell and returns its status. It ends with ctx, and when the home is full: interrupted,
// and killed if that does not help.
func (l *Launcher) Run(ctx context.Context, c *tools.Call, background bool) tools.Status {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer l.running.Add(-1)
	if l.running.Add(1) > maxRunning {
		fmt.Fprintf(c.Stderr, "kubectl: %d of it run at once, which is the most there can be: wait until some have ended\n", maxRunning)
		return tools.Failed
	}
	if err := l.FS.Full(); err != nil {
		io.WriteString(c.Stderr, "kubectl: "+err.Error()+"\n")
		return tools.Failed
	}
	go l.guard(ctx, cancel)
	status := l.run(ctx, c, background)
	if full := new(vfs.QuotaError); errors.As(context.Cause(ctx), &full) {
		io.WriteString(c.Stderr, "kubectl: "+full.Error()+"\n")
	}
	return status
}

// maxRunning bounds the kubectl processes of a shell. A script that is sourced starts background commands that are no jobs, and are
// not bounded as such.
const maxRunning = 60

// guardPause is how often it is looked whether a kubectl has filled the home: it writes files by itself, which no quota counts.
const guardPause = 2 * time.Second

func (l *Launcher) guard(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(guardPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := l.FS.Full(); err != nil {
				cancel(err)
				return
			}
		}
	}
}

func (l *Launcher) run(ctx context.Context, c *tools.Call, background bool) tools.Status {
	conf := l.Confinement
	conf.Dir = c.Dir
	job := &job{Args: c.Args, Env: conf.Environ(c.Env), Dir: l.FS.RealDir(c.Dir), Background: background}
	files, finish, err := streams(c, background)
	if err != nil {
		io.WriteString(c.Stderr, "kubectl: "+err.Error()+"\n")
		return tools.Failed
	}
	// kubectl ends at once on Ctrl-C, whatever its editor does: all that it starts inherits the end of a pipe, which tells
	// when the last one has gone.
	alive, held, err := os.Pipe()
	if err != nil {
		finish()
		io.WriteString(c.Stderr, "kubectl: "+err.Error()+"\n")
		return tools.Failed
	}
	defer alive.Close()
	defer held.Close()
	var p *exec.Cmd
	if w := l.takeSpare(); w != nil {
		if err := w.give(job, append(files[:], held)); err == nil {
			p = w.cmd
		} else {
			w.discard()
		}
	}
	if p == nil {
		p = l.command(job.Env)
		p.Args = append(p.Args, job.Args...)
		p.Dir = job.Dir
		p.Stdin, p.Stdout, p.Stderr = files[0], files[1], files[2]
		p.ExtraFiles = []*os.File{held}
		p.SysProcAttr = attributes(background)
		if err := p.Start(); err != nil {
			finish()
			io.WriteString(c.Stderr, "kubectl: "+err.Error()+"\n")
			return tools.Failed
		}
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		p.Process.Signal(os.Interrupt)
		select {
		case <-done:
		case <-time.After(2 * time.Second):
			p.Process.Kill()
		}
	})
	err = p.Wait()
	close(done)
	stop()
	held.Close()
	alive.SetReadDeadline(time.Now().Add(2 * time.Second))
	io.Copy(io.Discard, alive)
	finish()
	if !background {
		l.Warm()
	}
	return exitStatus(err)
}

func exitStatus(err error) tools.Status {
	var ee *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &ee):
		return tools.Failed
	}
	if ws, ok := ee.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return tools.Status(128 + int(ws.Signal()))
	}
	return tools.Status(ee.ExitCode())
}

func (l *Launcher) command(env []string) *exec.Cmd {
	p := exec.Command(filepath.Join(l.Bin, "kubectl"))
	p.Args = []string{"kubectl"}
	p.Env = env
	return p
}

// streams turns the call's streams into files; what is no file gets a pipe, and so does a terminal that a job in the
// background writes to: the shell shows that above its prompt. finish waits until all output has passed.
func streams(c *tools.Call, background bool) (files [3]*os.File, finish func(), err error) {
	var wg sync.WaitGroup
	var ours, theirs []*os.File
	input := io.Reader(nil)
	if c.Stdin != nil {
		input = c.Stdin
	}
	switch in := input.(type) {
	case *os.File:
		files[0] = in
	case nil:
		f, err := os.Open(os.DevNull)
		if err != nil {
			return files, nil, err
		}
		theirs = append(theirs, f)
		files[0] = f
	default:
		r, w, err := os.Pipe()
		if err != nil {
			return files, nil, err
		}
		go func() {
			io.Copy(w, in)
			w.Close()
		}()
		theirs = append(theirs, r)
		files[0] = r
	}
	if t, ok := input.(interface{ File() *os.File }); ok {
		files[0] = t.File()
	}
	for i, w := range []io.Writer{c.Stdout, c.Stderr} {
		switch w := w.(type) {
		case *os.File:
			files[i+1] = w
			continue
		case interface{ File() *os.File }:
			if t, ok := w.(interface{ Terminal() bool }); background && ok && t.Terminal() {
				break
			}
			if files[i+1] = w.File(); files[i+1] != nil {
				continue
			}
		}
		r, pw, err := os.Pipe()
		if err != nil {
			return files, nil, err
		}
		ours, theirs = append(ours, r), append(theirs, pw)
		files[i+1] = pw
		wg.Go(func() { io.Copy(w, r) })
	}
	return files, func() {
		for _, f := range theirs {
			f.Close()
		}
		wg.Wait()
		for _, f := range ours {
			f.Close()
		}
	}, nil
}
