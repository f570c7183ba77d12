// Package posix interprets the learner's shell scripts with mvdan.cc/sh: jobs, scripts, limits, and the tools as its
// commands. No program of the host can be run and no file outside of the view can be opened by construction: there is
// no code here that does either. It knows nothing of terminals beyond the streams that it is given.
package posix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/apilab/apilab/shell/tools"
	"github.com/apilab/apilab/shell/vfs"
)

// External runs a command that is a process of its own. background tells that it may not take the terminal's signals.
type External func(ctx context.Context, c *tools.Call, background bool) tools.Status

// Options of a Shell.
type Options struct {
	Host        *tools.Host // Exec and Script are set by New
	Env         []string    // NAME=value, exported
	Dir         string      // virtual
	Stdin       *os.File    // nil for none
	Stdout      io.Writer
	Stderr      io.Writer
	Externals   map[string]External
	Pipes       string // real folder for process substitutions, "" for none
	Interactive bool   // tells of jobs that start and end, expands aliases
	History     func() []string
	Limits      Limits
}

// Shell is one shell: variables, functions, a working folder and jobs. Run may not be called concurrently.
type Shell struct {
	o      Options
	ctx    context.Context
	cancel context.CancelFunc
	runner *interp.Runner
	jobs   jobs
	meter  *meter

	mu      sync.Mutex
	current context.CancelCauseFunc // of the statement in the foreground
	told    bool                    // that a limit stopped the jobs
}

// New makes a shell.
func New(o Options) (*Shell, error) {
	s := &Shell{o: o}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	host := *o.Host
	host.Exec, host.Script = s.execute, s.script
	s.o.Host = &host
	s.meter = newMeter(o.Limits)
	s.jobs.changed = sync.NewCond(&s.jobs.mu)
	s.jobs.first = func() {
		// Nobody waits for a job, so its growth is watched for as long as there are any.
		ctx, cancel := context.WithCancelCause(s.ctx)
		stop := s.meter.watch(cancel)
		context.AfterFunc(ctx, func() {
			if err := context.Cause(ctx); s.ctx.Err() == nil && err != errIdle {
				s.exceeded(err)
			}
		})
		s.jobs.idle = func() {
			stop()
			cancel(errIdle)
		}
	}
	var err error
	s.runner, err = s.newRunner(o.Env, o.Dir, o.Stdin, o.Stdout, o.Stderr)
	if err != nil {
		return nil, err
	}
	interp.Interactive(o.Interactive)(s.runner)
	s.runner.Reset()
	return s, nil
}

// Close ends all jobs and waits for them.
func (s *Shell) Close() {
	s.cancel()
	s.jobs.wait(context.Background(), s.jobs.list())
}

// environ is the initial environment. TMPDIR is where the interpreter makes its named pipes, in the real file system;
// it asks once, in its first Reset. Afterwards, TMPDIR is what the learner has.
type environ struct {
	expand.Environ
	pipes string
	once  *atomic.Bool
}

func (e environ) Get(name string) expand.Variable {
	if user, ok := strings.CutPrefix(name, "HOME "); ok {
		// ~user, which the interpreter would look up among the host's users.
		return expand.Variable{Set: true, Kind: expand.String, Str: "~" + user}
	}
	if name == "TMPDIR" && e.pipes != "" && !e.once.Swap(true) {
		return expand.Variable{Set: true, Kind: expand.String, Str: e.pipes}
	}
	return e.Environ.Get(name)
}

func (s *Shell) newRunner(env []string, dir string, stdin *os.File, stdout, errOut io.Writer) (*interp.Runner, error) {
	var in io.Reader
	if stdin != nil {
		in = stdin
	}
	r, err := interp.New(
		interp.Env(environ{expand.ListEnviron(env...), s.o.Pipes, new(atomic.Bool)}),
		interp.Dir("/"),
		interp.StdIO(in, stdout, stderr{errOut}),
		interp.CallHandler(s.call),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return s.exec }),
		interp.OpenHandler(s.open),
		interp.ReadDirHandler2(s.readDir),
		interp.StatHandler(s.stat),
		interp.AccessHandler(s.access),
	)
	if err != nil {
		return nil, fmt.Errorf("start interpreter: %w", err)
	}
	r.Dir = dir // interp.Dir would look for it in the real file system
	return r, nil
}

// parser accepts what bash does.
func parser() *syntax.Parser { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }

// Parse reads a script. incomplete tells that more lines may make it one: an open quote, a here-document, a loop.
func Parse(text, name string) (file *syntax.File, incomplete bool, err error) {
	file, err = parser().Parse(strings.NewReader(text), name)
	return file, err != nil && (syntax.IsIncomplete(err) || unclosedHeredoc(err)), err
}

// unclosedHeredoc: the parser does not call one incomplete whose delimiter is quoted.
func unclosedHeredoc(err error) bool {
	var at syntax.ParseError
	return errors.As(err, &at) && strings.HasPrefix(at.Text, "unclosed here-document")
}

// Continues reports whether what was typed so far, without the end of its last line, wants more lines: it is incomplete, or its
// last line ends in a backslash that continues it.
func Continues(text string) bool {
	if _, incomplete, _ := Parse(text+"\n", ""); incomplete {
		return true
	}
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

// Run runs a script's statements one after the other. exited tells that it called exit. The reason of a statement that
// was stopped by a limit has been printed.
func (s *Shell) Run(ctx context.Context, file *syntax.File) (status int, exited bool) {
	adapt(file)
	for _, stmt := range file.Stmts {
		status, exited = s.statement(ctx, stmt)
		if exited || status == interrupted {
			return status, exited
		}
		if ctx.Err() != nil {
			return interrupted, false
		}
	}
	return status, false
}

// End runs the EXIT trap.
func (s *Shell) End(ctx context.Context) {
	s.runner.Run(ctx, &syntax.File{})
}

const interrupted = 130

var (
	errInterrupted = errors.New("interrupted")
	errIdle        = errors.New("no jobs")
)

func (s *Shell) statement(ctx context.Context, stmt *syntax.Stmt) (status int, exited bool) {
	jobsBefore := s.jobs.started()
	run, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	s.current, s.told = cancel, false
	s.mu.Unlock()
	stop := s.meter.watch(cancel)
	err := s.runner.Run(run, stmt)
	stop()
	s.mu.Lock()
	s.current = nil
	s.mu.Unlock()
	cause := context.Cause(run)
	if s.jobs.started() == jobsBefore {
		cancel(nil) // else jobs live on its context
	}
	var limit *LimitError
	switch {
	case errors.As(cause, &limit), errors.As(err, &limit):
		s.jobs.kill(s.jobs.since(jobsBefore))
		s.meter.recover()
		fmt.Fprintf(s.o.Stderr, "%s\n", limit.Error())
		return s.SetStatus(ctx, 137), false
	case cause != nil:
		return s.SetStatus(ctx, interrupted), false
	case err == nil:
		return 0, s.runner.Exited()
	}
	var es interp.ExitStatus
	if errors.As(err, &es) {
		return int(es), s.runner.Exited()
	}
	if errors.Is(err, context.Canceled) {
		return interrupted, false
	}
	fmt.Fprintf(s.o.Stderr, "%v\n", err)
	return 1, false
}

// SetStatus sets $?, which the interpreter leaves at 1 for a statement that was stopped.
func (s *Shell) SetStatus(ctx context.Context, status int) int {
	file, _, err := Parse(fmt.Sprintf("(exit %d)", status), "")
	if err != nil {
		panic(err) // a constant
	}
	s.runner.Run(context.WithoutCancel(ctx), file.Stmts[0])
	return status
}

// Dir is the working folder.
func (s *Shell) Dir() string { return s.runner.Dir }

// Var returns a variable's value.
func (s *Shell) Var(name string) string { return s.runner.Vars[name].String() }

// Environ returns the exported variables.
func (s *Shell) Environ() []string {
	env := slices.Clone(s.o.Env)
	for name, v := range s.runner.Vars {
		if v.Exported && v.Kind == expand.String && !strings.HasPrefix(name, internal) {
			env = append(env, name+"="+v.String())
		}
	}
	return env
}

// Vars and Funcs list names, for completion.
func (s *Shell) Vars() []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(s.runner.Vars)), func(n string) bool { return strings.HasPrefix(n, internal) })
}

// Funcs lists the names of functions.
func (s *Shell) Funcs() []string { return slices.Collect(maps.Keys(s.runner.Funcs)) }

// Commands lists what can be called, without functions.
func (s *Shell) Commands() []string {
	all := append(tools.Names(), slices.Collect(maps.Keys(s.o.Externals))...)
	return append(all, "bg", "cd", "echo", "eval", "exit", "export", "fg", "history", "jobs", "kill", "printf", "pwd", "read", "set", "source", "test", "time", "type", "unset", "wait",
		"if", "for", "while", "until", "case", "bash", "sh")
}

func (s *Shell) open(ctx context.Context, name string, flag int, perm os.FileMode) (io.ReadWriteCloser, error) {
	hc := interp.HandlerCtx(ctx)
	if id, ok := strings.CutPrefix(name, jobStream); ok {
		return s.jobs.begin(id)
	}
	switch name {
	case "/dev/stdin":
		if r, ok := hc.Stdin.(*os.File); ok && r != nil {
			return stream{Reader: r}, nil
		}
	case "/dev/stdout":
		return stream{Writer: hc.Stdout}, nil
	case "/dev/stderr":
		return stream{Writer: hc.Stderr}, nil
	case "/dev/tty":
		if s.o.Interactive {
			return stream{Reader: s.o.Stdin, Writer: s.o.Stdout}, nil
		}
	}
	path := vfs.Abs(hc.Dir, name)
	if flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		f, err := s.o.Host.FS.Open(path)
		if err != nil {
			return nil, typed(name, err)
		}
		return f, nil
	}
	f, err := s.o.Host.FS.OpenFile(path, flag, perm)
	if err != nil {
		return nil, typed(name, err)
	}
	return f, nil
}

// stream lends one of the shell's streams: closing it does nothing.
type stream struct {
	io.Reader
	io.Writer
}

func (stream) Close() error { return nil }

// typed puts the name as typed into an error; what the interpreter is given has to be a *fs.PathError.
func typed(name string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &fs.PathError{Op: "open", Path: name, Err: err}
}

func (s *Shell) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	return s.o.Host.FS.ReadDir(vfs.Abs(interp.HandlerCtx(ctx).Dir, name))
}

func (s *Shell) stat(ctx context.Context, name string, follow bool) (fs.FileInfo, error) {
	path := vfs.Abs(interp.HandlerCtx(ctx).Dir, name)
	if follow {
		return s.o.Host.FS.Stat(path)
	}
	return s.o.Host.FS.Lstat(path)
}

func (s *Shell) access(ctx context.Context, name string, mode interp.AccessMode) error {
	fi, err := s.stat(ctx, name, true)
	if err != nil {
		return err
	}
	if fi.Mode().Perm()>>6&fs.FileMode(mode) != fs.FileMode(mode) {
		return &fs.PathError{Op: "access", Path: name, Err: fs.ErrPermission}
	}
	return nil
}
