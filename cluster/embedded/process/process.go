// Package process runs one child process so that it never outlives its parent, and so that its last words are kept.
// It knows nothing of what the child does.
//
// Three ties hold the child to its parent, so that at least one works on every system and in every accident: its
// standard input is a pipe whose other end closes when the parent is gone (the child must read it), on Linux the
// kernel kills it with the parent, and a lock file names it to the next parent, which can then end it (see Lock).
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Options say what to run.
type Options struct {
	Path  string
	Args  []string // without the program's name
	Env   []string // the whole environment; nothing is inherited
	Dir   string
	Files []*os.File // the child's descriptors from 3 on; closed in the parent by Start
	Input []byte     // written to the child's standard input, which then stays open for as long as the parent lives
	Lines int        // how many of the last lines of standard output and error to keep; 0 means 50
	Line  func(string)
}

// A Process is a child that was started. All its methods may be called from several goroutines.
type Process struct {
	cmd   *exec.Cmd
	tail  *Tail
	stdin io.WriteCloser

	done  chan struct{}
	err   error // set before done closes
	start time.Time

	kill   sync.Mutex // serialises signals with the reaping of the process, so that no other process is ever hit
	gone   bool
	frozen bool
}

// Start starts the child. It does not wait for it to do anything.
func Start(o Options) (*Process, error) {
	if o.Lines == 0 {
		o.Lines = 50
	}
	p := &Process{tail: NewTail(o.Lines, o.Line), done: make(chan struct{}), start: time.Now()}
	p.cmd = exec.Command(o.Path, o.Args...)
	p.cmd.Env = o.Env
	p.cmd.Dir = o.Dir
	p.cmd.ExtraFiles = o.Files
	p.cmd.SysProcAttr = attributes()
	p.cmd.Stdout = p.tail
	p.cmd.Stderr = p.tail
	p.cmd.WaitDelay = time.Second // a grandchild that holds the output open must not keep us waiting
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("open the child's input: %w", err)
	}
	p.stdin = stdin

	started := make(chan error, 1)
	go p.run(started)
	err = <-started
	for _, f := range o.Files {
		f.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", o.Path, err)
	}
	if _, err := stdin.Write(o.Input); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, os.ErrClosed) { // it has ended already
		p.Kill()
		return nil, fmt.Errorf("write the child's input: %w", err)
	}
	return p, nil
}

// run starts the child and waits for its end on one locked thread: the kernel's parent-death signal is tied to the
// thread that forked, not to the process (go.dev/issue/27505).
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	restore := coalesceTimers()
	err := p.cmd.Start()
	restore()
	started <- err
	if err != nil {
		return
	}
	state, err := p.wait()
	p.tail.Flush()
	if err == nil && !state.Success() {
		err = &exec.ExitError{ProcessState: state}
	}
	p.err = err
	close(p.done)
}

// wait waits until the child has ended and reaps it under the lock that Kill takes.
func (p *Process) wait() (*os.ProcessState, error) {
	waitWithoutReaping(p.cmd.Process.Pid)
	p.kill.Lock()
	p.gone = true
	p.kill.Unlock()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return p.cmd.ProcessState, err
}

// Pid is the child's process ID.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Started is when the child was started.
func (p *Process) Started() time.Time { return p.start }

// Done closes when the child has ended and all it wrote was read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the child ended: nil for exit code 0. It blocks until Done.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// Tail returns the last lines that the child wrote to its standard output and error.
func (p *Process) Tail() []string { return p.tail.Lines() }

// Kill ends the child and all processes of its group at once.
func (p *Process) Kill() {
	p.kill.Lock()
	defer p.kill.Unlock()
	if !p.gone {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// Freeze stops the child and all processes of its group where they are, until Thaw. Frozen, it takes no CPU and dies as
// any other: of Kill, and with its parent. (Where the kernel has no parent-death signal, it hangs up on stopped processes
// that lose their parent.) It is an error if the child has ended.
func (p *Process) Freeze() error {
	p.kill.Lock()
	defer p.kill.Unlock()
	if p.gone {
		return os.ErrProcessDone
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGSTOP); err != nil {
		return err
	}
	p.frozen = true
	return nil
}

// Thaw lets a frozen child go on, and tells whether it was frozen.
func (p *Process) Thaw() (was bool) {
	p.kill.Lock()
	defer p.kill.Unlock()
	was, p.frozen = p.frozen, false
	if was && !p.gone {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGCONT)
	}
	return was
}

// Frozen tells whether the child is frozen.
func (p *Process) Frozen() bool {
	p.kill.Lock()
	defer p.kill.Unlock()
	return p.frozen
}

// Tell writes a line to the child's input. A child that has ended does not hear it.
func (p *Process) Tell(line string) { _, _ = io.WriteString(p.stdin, line+"\n") }

// Stop tells the child a last line, which asks it to end, and kills it when ctx ends first.
func (p *Process) Stop(ctx context.Context, line string) {
	p.Thaw()
	p.Tell(line)
	select {
	case <-p.done:
	case <-ctx.Done():
		p.Kill()
		<-p.done
	}
}
