package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

const (
	ringSize   = 1 << 20   // output that is kept for pages that come back
	queueSize  = 256 << 10 // input that is taken and not yet read by the shell
	maxWriters = 64        // page loads whose input offsets are remembered
)

// A Terminal is a shell on a pseudo-terminal. It lives until its shell exits or Close is called, whoever is attached.
// Its methods are safe for concurrent use.
type Terminal struct {
	pty, tty *os.File
	runtime  *runtime
	control  *control
	spawn    func(tty *os.File) (*process, error)
	host     bool

	mu      sync.Mutex
	changed *sync.Cond
	ring    *ring
	read    uint64 // the furthest that anyone has read
	marks   marks
	queue   []byte
	writers map[string]uint64
	order   []string // of writers, oldest first
	proc    *process
	closing bool
	ended   bool // no more output will come
	done    chan struct{}
}

// process is one run of a shell.
type process struct {
	cmd  *exec.Cmd
	last *tail // its standard error: a crash's last words
}

// Start starts a shell on a new terminal. ctx is for the start only.
func Start(ctx context.Context, o Options) (*Terminal, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rt, err := newRuntime(&o)
	if err != nil {
		return nil, err
	}
	t := &Terminal{runtime: rt, host: o.Host, ring: newRing(ringSize), writers: map[string]uint64{}, done: make(chan struct{})}
	t.changed = sync.NewCond(&t.mu)
	if err := t.start(&o); err != nil {
		t.release()
		return nil, err
	}
	return t, nil
}

func (t *Terminal) start(o *Options) error {
	greeting, err := installKubeconfig(o.Home, o.Kubeconfig)
	if err != nil {
		return err
	}
	if t.control, err = serveEdits(t.runtime.path("control.sock"), o.OnEdit); err != nil {
		return err
	}
	if o.Host {
		t.spawn = func(tty *os.File) (*process, error) { return spawnHost(o, t.runtime, tty) }
	} else {
		s, err := t.runtime.settings(o)
		if err != nil {
			return err
		}
		s.Interactive, s.Greeting = true, greeting
		if o.OnEdit != nil {
			s.Control = t.runtime.path("control.sock")
			s.Sandbox.Control = s.Control
		}
		t.spawn = func(tty *os.File) (*process, error) {
			p, err := spawnShell(t.runtime, s, tty)
			s.Greeting = "" // once
			return p, err
		}
	}
	if t.pty, t.tty, err = pty.Open(); err != nil {
		return fmt.Errorf("open terminal: %w", err)
	}
	if err := t.Resize(o.Cols, o.Rows); err != nil {
		return err
	}
	if o.Started != nil {
		t.spawn = o.telling(t.spawn)
	}
	if t.proc, err = t.spawn(t.tty); err != nil {
		return fmt.Errorf("start shell: %w", err)
	}
	go t.supervise()
	go t.pumpOutput()
	go t.pumpInput()
	return nil
}

// telling tells of each process that spawn starts.
func (o *Options) telling(spawn func(tty *os.File) (*process, error)) func(tty *os.File) (*process, error) {
	return func(tty *os.File) (*process, error) {
		p, err := spawn(tty)
		if err == nil {
			o.Started(p.cmd.Process.Pid)
		}
		return p, err
	}
}

// supervise waits for the shell. One that crashed is started anew on the same terminal.
func (t *Terminal) supervise() {
	var crashes []time.Time
	for {
		t.mu.Lock()
		p := t.proc
		t.mu.Unlock()
		err := p.cmd.Wait()
		reason, crashed := p.reason(err)
		now := time.Now()
		for len(crashes) > 0 && now.Sub(crashes[0]) > time.Minute {
			crashes = crashes[1:]
		}
		t.mu.Lock()
		again := crashed && !t.closing && len(crashes) < 5
		t.mu.Unlock()
		if crashed {
			log := slog.With("reason", reason)
			if reason != outOfMemory {
				log = log.With("last", p.last.String()) // a fault of ours, perhaps
			}
			log.Warn("shell crashed")
		}
		if !again {
			break
		}
		crashes = append(crashes, now)
		t.say("\r\n\x1b[31m" + reason + "; it was started anew. Files are as they were, variables and jobs are gone.\x1b[0m\r\n")
		next, err := t.spawn(t.tty)
		if err != nil {
			t.say("\r\n\x1b[31mthe shell could not be started: " + err.Error() + "\x1b[0m\r\n")
			break
		}
		t.mu.Lock()
		t.proc = next
		if t.closing {
			next.hangup()
		}
		t.mu.Unlock()
	}
	// What was written is read by the pump until the last holder of the terminal is gone.
	t.tty.Close()
	t.control.close()
	t.mu.Lock()
	t.closing = true
	t.changed.Broadcast()
	t.mu.Unlock()
	// A program that left the session may hold the terminal open.
	time.AfterFunc(stopTime, func() { t.pty.SetReadDeadline(time.Now()) })
}

// say puts a message of ours into the output.
func (t *Terminal) say(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ring.write([]byte(text))
	t.changed.Broadcast()
}

// pumpOutput moves what the shell writes to the ring. It pauses as the ring is full of what nobody has read: a program
// then blocks, as on any terminal, and nothing is lost.
func (t *Terminal) pumpOutput() {
	buf := make([]byte, 32<<10)
	for {
		n, err := t.pty.Read(buf)
		t.mu.Lock()
		t.marks.write(buf[:n])
		for p := buf[:n]; len(p) > 0; {
			room := int(ringSize - min(t.ring.end-t.read, ringSize))
			if room == 0 && !t.closing {
				t.changed.Wait()
				continue
			}
			if room == 0 {
				room = len(p)
			}
			k := min(room, len(p))
			t.ring.write(p[:k])
			p = p[k:]
			t.changed.Broadcast()
		}
		t.mu.Unlock()
		if err != nil {
			break // EIO as the last holder has gone
		}
	}
	t.mu.Lock()
	t.ended = true
	t.changed.Broadcast()
	t.mu.Unlock()
	t.release()
	close(t.done)
}

// pumpInput moves what pages sent to the shell.
func (t *Terminal) pumpInput() {
	for {
		t.mu.Lock()
		for len(t.queue) == 0 && !t.closing {
			t.changed.Wait()
		}
		if len(t.queue) == 0 {
			t.mu.Unlock()
			return
		}
		p := t.queue
		t.queue = nil
		t.mu.Unlock()
		if _, err := t.pty.Write(p); err != nil {
			return
		}
		t.mu.Lock()
		t.changed.Broadcast()
		t.mu.Unlock()
	}
}

// Write takes input of a writer, p being its bytes from offset on. What was taken before is dropped, so that a frame that
// is sent again is never typed twice; what lies beyond a gap is not taken. acked is how much of the writer's input was
// taken in all: less than offset+len(p) when the shell does not read, then the rest is to be sent again.
func (t *Terminal) Write(writer string, offset uint64, p []byte) (acked uint64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	acked, known := t.writers[writer]
	if t.closing {
		return acked, ErrClosed
	}
	if !known {
		t.order = append(t.order, writer)
		if len(t.order) > maxWriters {
			delete(t.writers, t.order[0])
			t.order = t.order[1:]
		}
		t.writers[writer] = 0
	}
	if offset > acked || acked-offset >= uint64(len(p)) {
		return acked, nil
	}
	p = p[acked-offset:]
	p = p[:min(len(p), queueSize-len(t.queue))]
	t.queue = append(t.queue, p...)
	acked += uint64(len(p))
	t.writers[writer] = acked
	t.changed.Broadcast()
	return acked, nil
}

// Acked is how much of a writer's input was taken.
func (t *Terminal) Acked(writer string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.writers[writer]
}

// Read waits for output beyond the offset from, and returns at most limit bytes of it. start is greater than from when what
// lies between is not kept any more. io.EOF comes after the shell's end, as all was read.
func (t *Terminal) Read(ctx context.Context, from uint64, limit int) (start uint64, p []byte, err error) {
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.changed.Broadcast()
	})
	defer stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return from, nil, err
		}
		if start, p = t.ring.read(from, max(limit, 1)); len(p) > 0 {
			if end := start + uint64(len(p)); end > t.read {
				t.read = end
				t.changed.Broadcast()
			}
			return start, p, nil
		}
		if t.ended {
			return start, nil, io.EOF
		}
		t.changed.Wait()
	}
}

// Resize tells the shell the size of the page's terminal. 0 means 80×24.
func (t *Terminal) Resize(cols, rows int) error {
	if cols <= 0 || rows <= 0 {
		cols, rows = 80, 24
	}
	size := &pty.Winsize{Cols: uint16(min(cols, 1000)), Rows: uint16(min(rows, 1000))}
	if err := pty.Setsize(t.pty, size); err != nil {
		return fmt.Errorf("resize terminal: %w", err)
	}
	return nil
}

// Busy reports whether a command runs in the foreground.
func (t *Terminal) Busy() bool {
	t.mu.Lock()
	busy, p := t.marks.busy, t.proc
	t.mu.Unlock()
	if t.host && !t.exited() {
		group, err := foreground(t.pty)
		return err == nil && group != p.cmd.Process.Pid
	}
	return busy && !t.exited()
}

func (t *Terminal) exited() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// Title is what the terminal's tab is called: the command that runs, or the working folder.
func (t *Terminal) Title() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.marks.title
}

// Done is closed when the shell has ended and all of its output is in the ring.
func (t *Terminal) Done() <-chan struct{} { return t.done }

// Close ends the shell and all that runs in it, and waits for that.
func (t *Terminal) Close() error {
	t.mu.Lock()
	t.closing = true
	p := t.proc
	t.changed.Broadcast()
	t.mu.Unlock()
	p.hangup()
	select {
	case <-t.done:
	case <-time.After(stopTime):
		p.kill()
		<-t.done
	}
	return nil
}

func (t *Terminal) release() {
	if t.control != nil {
		t.control.close()
	}
	for _, f := range []*os.File{t.pty, t.tty} {
		if f != nil {
			f.Close()
		}
	}
	t.runtime.close()
}

// hangup tells the shell that its terminal is gone; kill ends it and its group.
func (p *process) hangup() { p.cmd.Process.Signal(syscall.SIGHUP) }

func (p *process) kill() {
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	p.cmd.Process.Kill()
}

const outOfMemory = "the shell ran out of memory"

// reason says why a process ended, and whether that was its own fault.
func (p *process) reason(err error) (text string, crashed bool) {
	last := p.last.String()
	var ee *exec.ExitError
	switch {
	case strings.Contains(last, "out of memory") || strings.Contains(last, "cannot allocate memory") || strings.Contains(last, "stack exceeds"):
		return outOfMemory, true
	case strings.Contains(last, "fatal error: ") || strings.Contains(last, "panic: "):
		return "the shell crashed", true
	case errors.As(err, &ee):
		if ws, ok := ee.Sys().(syscall.WaitStatus); ok && ws.Signaled() && ws.Signal() != syscall.SIGHUP {
			return "the shell was killed (" + ws.Signal().String() + ")", true
		}
	}
	return "the shell ended", false
}

// tail keeps the last bytes that are written to it, and the first, where Go's runtime says what happened.
type tail struct {
	mu    sync.Mutex
	first []byte
	last  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if room := 1024 - len(t.first); room > 0 {
		k := min(room, len(p))
		t.first = append(t.first, p[:k]...)
		p = p[k:]
	}
	t.last = append(t.last, p...)
	if len(t.last) > 2048 {
		t.last = t.last[len(t.last)-2048:]
	}
	return n, nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.first) + string(t.last)
}
