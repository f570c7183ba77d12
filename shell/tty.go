package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is the shell's end of its terminal: the standard streams, opened a second time without blocking, so that a
// read or a write ends as the learner presses Ctrl-C. Processes are given the first ones.
type terminal struct {
	file *os.File
	mu   sync.Mutex
	old  *term.State // while raw
}

func openTerminal() (*terminal, error) {
	name, err := ttyName(os.Stdin)
	if err != nil {
		return nil, fmt.Errorf("open terminal: %w", err)
	}
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open terminal: %w", err)
	}
	t := &terminal{file: os.NewFile(uintptr(fd), "/dev/tty")}
	t.cooked()
	return t, nil
}

func (t *terminal) close() { t.file.Close() }

// control runs a function with the descriptor, which Fd would make blocking.
func (t *terminal) control(do func(fd int) error) error {
	raw, err := t.file.SyscallConn()
	if err != nil {
		return err
	}
	if cerr := raw.Control(func(fd uintptr) { err = do(int(fd)) }); cerr != nil {
		return cerr
	}
	return err
}

// cooked brings the terminal into the state that commands expect, whatever the last one left behind: lines are edited
// and echoed by the system, and Ctrl-C is a signal. Ctrl-\ and Ctrl-Z are not: nothing here can be stopped and go on.
func (t *terminal) cooked() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.old = nil
	t.control(func(fd int) error {
		a, err := unix.IoctlGetTermios(fd, ioctlGet)
		if err != nil {
			return err
		}
		a.Iflag |= unix.ICRNL | unix.IXON | unix.BRKINT | unix.IMAXBEL | iutf8
		a.Iflag &^= unix.INLCR | unix.IGNCR | unix.ISTRIP
		a.Oflag |= unix.OPOST | unix.ONLCR
		a.Lflag |= unix.ICANON | unix.ISIG | unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ECHOCTL | unix.ECHOKE | unix.IEXTEN
		a.Cc[unix.VINTR], a.Cc[unix.VEOF], a.Cc[unix.VERASE], a.Cc[unix.VKILL] = 3, 4, 127, 21
		a.Cc[unix.VQUIT], a.Cc[unix.VSUSP] = disabled, disabled
		a.Cc[unix.VMIN], a.Cc[unix.VTIME] = 1, 0
		return unix.IoctlSetTermios(fd, ioctlSet, a)
	})
}

// raw gives each key to the reader. What has been typed ahead is kept. What is written is treated as ever, for jobs in the
// background may write at any time.
func (t *terminal) raw() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.control(func(fd int) error {
		old, err := term.MakeRaw(fd)
		if err != nil {
			return err
		}
		if t.old == nil {
			t.old = old
		}
		a, err := unix.IoctlGetTermios(fd, ioctlGet)
		if err != nil {
			return err
		}
		a.Oflag |= unix.OPOST | unix.ONLCR
		return unix.IoctlSetTermios(fd, ioctlSet, a)
	})
}

func (t *terminal) size() (cols, rows int) {
	t.control(func(fd int) error {
		cols, rows, _ = term.GetSize(fd)
		return nil
	})
	return cols, rows
}

// waits reports whether there is something to read within a time.
func (t *terminal) waits(d time.Duration) bool {
	ready := false
	t.control(func(fd int) error {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, int(d/time.Millisecond))
		ready = n > 0
		return err
	})
	return ready
}

// screen writes to the terminal. A command that is stopped sets a deadline to end its write: that is only for itself,
// others go on as the deadline is taken back.
type screen struct {
	t     *terminal
	std   *os.File // what a process is given
	ctx   context.Context
	above func([]byte) bool // writes above the prompt if there is one; nil for the prompt itself
}

// Bound is the screen for a command that ends with ctx.
func (s *screen) Bound(ctx context.Context) io.Writer { return &screen{s.t, s.std, ctx, s.above} }

func (s *screen) Write(p []byte) (int, error) {
	if s.above != nil && s.above(p) {
		return len(p), nil
	}
	done := 0
	for {
		n, err := s.t.file.Write(p[done:])
		done += n
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return done, err
		}
		if s.ctx != nil && s.ctx.Err() != nil {
			return done, s.ctx.Err()
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Finally writes what brings the terminal back into order, also as the command has been stopped: against the deadline
// that is set for it at about the same time.
func (s *screen) Finally(text string) {
	for range 10 {
		s.t.file.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		n, err := io.WriteString(s.t.file, text)
		if text = text[n:]; !errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
	}
	s.t.file.SetWriteDeadline(time.Time{})
}

// Terminal, File and SetWriteDeadline are what tools and kubectl's launcher ask for.
func (s *screen) Terminal() bool                     { return true }
func (s *screen) File() *os.File                     { return s.std }
func (s *screen) SetWriteDeadline(d time.Time) error { return s.t.file.SetWriteDeadline(d) }
