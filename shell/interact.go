package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/apilab/apilab/shell/kubectl"
	"github.com/apilab/apilab/shell/lineedit"
	"github.com/apilab/apilab/shell/posix"
	"github.com/apilab/apilab/shell/vfs"
)

// session is an interactive shell.
type session struct {
	tty      *terminal
	screen   *screen
	shell    *posix.Shell
	editor   *lineedit.Editor
	history  *lineedit.History
	launcher *kubectl.Launcher
	status   int

	mu   sync.Mutex
	stop context.CancelFunc // of the command in the foreground
}

// historyFile keeps what was entered, in the home.
const historyFile = vfs.Home + "/.shell_history"

func (t *terminal) interact(o posix.Options, l *kubectl.Launcher, greeting string) (int, error) {
	s := &session{tty: t, launcher: l}
	s.screen = &screen{t: t, std: os.Stdout, above: func(p []byte) bool { return s.editor != nil && s.editor.Print(p) }}
	text, _ := o.Host.FS.ReadFile(historyFile, 4<<20)
	s.history = lineedit.NewHistory(string(text), func(text string) {
		o.Host.FS.WriteFile(historyFile, []byte(text), 0o600) // a full home keeps no history
	})
	o.Host.Size, o.Host.Keys = t.size, t.keys
	o.History = s.history.All
	o.Interactive = true
	o.Stdin, o.Stdout, o.Stderr = t.file, s.screen, s.screen
	var err error
	if s.shell, err = posix.New(o); err != nil {
		return 0, err
	}
	defer s.shell.Close()
	s.editor = &lineedit.Editor{
		Out: &screen{t: t}, Keys: lineedit.NewKeys(t.file, t.waits), Size: t.size, History: s.history,
		Incomplete: posix.Continues,
		Complete:   (&completer{s: s, fs: o.Host.FS}).complete,
	}
	s.signals()
	if greeting != "" {
		fmt.Fprintf(s.screen, "\x1b[33m%s\x1b[0m\n", greeting)
	}
	s.source(o)
	return s.loop()
}

// source runs ~/.bashrc if the learner has made one.
func (s *session) source(o posix.Options) {
	text, err := o.Host.FS.ReadFile(vfs.Home+"/.bashrc", 1<<20)
	if err != nil {
		return
	}
	if file, _, err := posix.Parse(string(text), "~/.bashrc"); err != nil {
		fmt.Fprintln(s.screen, err)
	} else {
		s.shell.Run(context.Background(), file)
	}
}

// signals of the terminal: Ctrl-C stops the command in the foreground, a new size is for the line that is edited.
func (s *session) signals() {
	ch := make(chan os.Signal, 8)
	signal.Notify(ch, os.Interrupt, syscall.SIGWINCH, syscall.SIGHUP, syscall.SIGTERM)
	go func() {
		for sig := range ch {
			switch sig {
			case os.Interrupt:
				s.interrupt()
			case syscall.SIGHUP, syscall.SIGTERM:
				s.interrupt()
				s.tty.file.SetDeadline(time.Now()) // ends the editor
				time.AfterFunc(stopTime/2, func() { os.Exit(129) })
				s.shell.Close()
				s.launcher.Close()
				os.Exit(129)
			}
		}
	}()
}

func (s *session) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
	}
}

func (s *session) loop() (int, error) {
	warned := false
	for {
		for _, line := range s.shell.Ended() {
			fmt.Fprintln(s.screen, line)
		}
		text, err := s.read()
		switch {
		case errors.Is(err, lineedit.ErrInterrupted):
			s.status = s.shell.SetStatus(context.Background(), 130)
			continue
		case errors.Is(err, lineedit.ErrTooLong):
			fmt.Fprintln(s.screen, "\x1b[31mthe text is too long for a command: put it into a file with the page's editor\x1b[0m")
			continue
		case errors.Is(err, io.EOF):
			if n := s.shell.Running(); n > 0 && !warned {
				warned = true
				jobs := "A background job still runs"
				if n > 1 {
					jobs = fmt.Sprintf("%d background jobs still run", n)
				}
				fmt.Fprintln(s.screen, jobs+"; Ctrl-D again ends all, and the shell.")
				continue
			}
			fmt.Fprintln(s.screen, "exit")
			return s.status, nil
		case err != nil:
			return 0, fmt.Errorf("read terminal: %w", err)
		}
		warned = false
		if strings.TrimSpace(text) == "" {
			continue
		}
		s.history.Add(text)
		if exited := s.run(text); exited {
			return s.status, nil
		}
	}
}

// read reads one command, on a terminal in raw mode.
func (s *session) read() (string, error) {
	if err := s.tty.raw(); err != nil {
		return "", err
	}
	defer s.tty.cooked()
	// OSC 133 A marks a prompt, OSC 2 sets the title, 2004 has pastes marked.
	io.WriteString(s.screen, "\x1b]133;A\a\x1b]2;"+s.where()+"\a\x1b[?2004h\x1b[0m\x1b[?25h")
	defer io.WriteString(s.screen, "\x1b[?2004l")
	s.fresh()
	return s.editor.Read(s.prompt(), "\x1b[2m>\x1b[0m ")
}

// fresh starts a new line if the last command's output did not end in one: it writes a mark and as many blanks as lead to
// the next line unless the cursor was in the first column, and goes back.
func (s *session) fresh() {
	cols, _ := s.tty.size()
	if cols > 1 {
		io.WriteString(s.screen, "\x1b[7m%\x1b[0m"+strings.Repeat(" ", cols-1)+"\r\x1b[K")
	}
}

// where is the working folder, with ~ for the home.
func (s *session) where() string {
	dir := s.shell.Dir()
	if rest, ok := strings.CutPrefix(dir, vfs.Home); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return dir
}

func (s *session) prompt() string {
	mark := "32" // green
	if s.status != 0 {
		mark = "31"
	}
	return "\x1b[1;34m" + s.where() + "\x1b[0m \x1b[" + mark + "m$\x1b[0m "
}

func (s *session) run(text string) (exited bool) {
	file, _, err := posix.Parse(text, "")
	if err != nil {
		fmt.Fprintln(s.screen, err)
		s.status = 2
		return false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(first); len(r) > 60 {
		first = string(r[:60]) + "…"
	}
	first = strings.Map(func(r rune) rune {
		if r < ' ' || r == 127 {
			return -1
		}
		return r
	}, first)
	ctx, cancel := context.WithCancel(context.Background()) // jobs that it starts live on: it is cancelled by Ctrl-C only
	s.mu.Lock()
	s.stop = cancel
	s.mu.Unlock()
	fmt.Fprintf(s.screen, "\x1b]133;C\a\x1b]2;%s\a", first)
	s.status, exited = s.shell.Run(ctx, file)
	s.mu.Lock()
	s.stop = nil
	s.mu.Unlock()
	if s.status == 130 {
		io.WriteString(s.screen, "\r\n")
	}
	fmt.Fprintf(s.screen, "\x1b]133;D;%d\a", s.status)
	return exited
}

// keys lets a tool read single keys.
func (t *terminal) keys(ctx context.Context) (next func() (rune, error), stop func(), err error) {
	if err := t.raw(); err != nil {
		return nil, nil, err
	}
	k := lineedit.NewKeys(t.file, t.waits)
	return func() (rune, error) {
			key, err := k.Next()
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			return key.Code, err
		}, func() {
			t.cooked()
		}, nil
}
