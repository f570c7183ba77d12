package posix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/apilab/apilab/shell/tools"
	"github.com/apilab/apilab/shell/vfs"
)

// call is run before each command, builtins and functions included.
func (s *Shell) call(ctx context.Context, args []string) ([]string, error) {
	hc := interp.HandlerCtx(ctx)
	if j := s.jobOf(hc); j != nil && j.ctx.Err() != nil && !strings.HasPrefix(args[0], internal) {
		return nil, j.ctx.Err()
	}
	if err := s.meter.check(); err != nil {
		return nil, s.exceeded(err)
	}
	return override(args), nil
}

// exceeded stops everything: the statement in the foreground, which tells why, or else all jobs.
func (s *Shell) exceeded(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil {
		s.current(err)
		return err
	}
	if !s.told {
		s.told = true
		fmt.Fprintln(s.o.Stderr, err)
		s.jobs.kill(s.jobs.list())
	}
	return err
}

func (s *Shell) jobOf(hc interp.HandlerContext) *job {
	if s.Running() == 0 {
		return nil // the look-up passes all scopes, of which a recursion has many
	}
	if pid := hc.Env.Get(jobVar); pid.IsSet() {
		return s.jobs.byPID(pid.String())
	}
	return nil
}

// exec runs a command that is neither a function nor a builtin.
func (s *Shell) exec(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	j := s.jobOf(hc)
	script := ctx
	if j != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(j.ctx, cancel)()
	}
	if s.ctx.Err() != nil {
		return s.ctx.Err() // a closed shell starts nothing
	}
	if strings.HasPrefix(args[0], internal) {
		return s.internal(ctx, script, hc, args)
	}
	c := &tools.Call{Name: args[0], Args: args[1:], Env: exported(hc.Env), Dir: hc.Dir, Stdout: hc.Stdout, Stderr: hc.Stderr, Host: s.o.Host}
	if f, ok := hc.Stdin.(*os.File); ok && f != nil {
		c.Stdin = f
	}
	for _, w := range []*io.Writer{&c.Stdout, &c.Stderr} {
		if b, ok := (*w).(bounded); ok {
			*w = b.Bound(ctx)
		}
	}
	return s.result(ctx, j, s.run(ctx, c, j != nil))
}

// bounded is a writer that others use too, and whose writes for one command end with it.
type bounded interface {
	Bound(context.Context) io.Writer
}

// result turns a status into the interpreter's error. A cancelled command stops the script that called it.
func (s *Shell) result(ctx context.Context, j *job, status tools.Status) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if status == 0 {
		return nil
	}
	return interp.ExitStatus(uint8(status))
}

// exported lists exported variables; later ones of a name count.
func exported(env expand.Environ) []string {
	values := map[string]string{}
	env.Each(func(name string, v expand.Variable) bool {
		if strings.HasPrefix(name, internal) {
			return true
		}
		if v.Exported && v.IsSet() && v.Kind == expand.String {
			values[name] = v.String()
		} else {
			delete(values, name)
		}
		return true
	})
	list := make([]string, 0, len(values))
	for name, v := range values {
		list = append(list, name+"="+v)
	}
	slices.Sort(list)
	return list
}

// run runs a tool, an external command or a script file.
func (s *Shell) run(ctx context.Context, c *tools.Call, background bool) tools.Status {
	if ext, ok := s.o.Externals[c.Name]; ok {
		return ext(ctx, c, background)
	}
	switch c.Name {
	case "bash", "sh", "dash", "zsh":
		return s.subshell(ctx, c)
	}
	if t, ok := tools.Lookup(c.Name); ok {
		release := deadlines(ctx, c)
		defer release()
		return t.Call(ctx, c)
	}
	if strings.Contains(c.Name, "/") {
		return s.file(ctx, c)
	}
	fmt.Fprintf(c.Stderr, "%s: command not found%s\n", c.Name, instead(c.Name))
	return tools.NotFound
}

// instead names what there is in place of a command that people look for.
func instead(name string) string {
	switch name {
	case "k":
		return " (try: alias k=kubectl)"
	case "docker", "podman", "crictl", "helm", "git", "ssh", "apt", "apt-get", "apk", "yum", "sudo", "su", "wget", "python", "python3", "node", "go", "make", "ping", "nc", "systemctl":
		return " (it is not part of this shell; `help` lists what is)"
	}
	return ""
}

// deadlines ends reads and writes of the call's streams that block as the context ends. The streams stay usable for
// others afterwards.
func deadlines(ctx context.Context, c *tools.Call) (release func()) {
	past := time.Unix(1, 0)
	set := func(t time.Time) {
		if f, ok := c.Stdin.(*os.File); ok {
			f.SetReadDeadline(t)
		}
		for _, w := range []io.Writer{c.Stdout, c.Stderr} {
			if d, ok := w.(interface{ SetWriteDeadline(time.Time) error }); ok {
				d.SetWriteDeadline(t)
			}
		}
	}
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		set(past)
		close(fired)
	})
	return func() {
		if !stop() {
			<-fired
			set(time.Time{})
		}
	}
}

// file runs a script of the learner's.
func (s *Shell) file(ctx context.Context, c *tools.Call) tools.Status {
	name := vfs.Abs(c.Dir, c.Name)
	fi, err := s.o.Host.FS.Stat(name)
	switch {
	case err != nil:
		// /bin/ls and /usr/bin/env name tools that are inside.
		if dir := path.Dir(name); dir == "/bin" || dir == "/usr/bin" || dir == "/usr/local/bin" {
			d := *c
			d.Name = path.Base(name)
			if _, ok := tools.Lookup(d.Name); ok || s.o.Externals[d.Name] != nil || interp.IsBuiltin(d.Name) || d.Name == "bash" || d.Name == "sh" {
				return s.execute(ctx, &d, append([]string{d.Name}, c.Args...))
			}
		}
		fmt.Fprintf(c.Stderr, "%s: No such file or directory\n", c.Name)
		return tools.NotFound
	case fi.IsDir():
		fmt.Fprintf(c.Stderr, "%s: Is a directory\n", c.Name)
		return 126
	case fi.Mode()&0o111 == 0:
		fmt.Fprintf(c.Stderr, "%s: Permission denied (chmod +x %s)\n", c.Name, c.Name)
		return 126
	}
	text, err := s.o.Host.FS.ReadFile(name, maxScript)
	if err != nil {
		fmt.Fprintf(c.Stderr, "%s: %v\n", c.Name, err)
		return 126
	}
	if slices.Contains(text[:min(len(text), 512)], 0) {
		fmt.Fprintf(c.Stderr, "%s: cannot run: programs of the host cannot be run here, only shell scripts\n", c.Name)
		return 126
	}
	if line, _, _ := strings.Cut(string(text), "\n"); strings.HasPrefix(line, "#!") {
		words := strings.Fields(line[2:])
		for len(words) > 0 && (path.Base(words[0]) == "env" || strings.HasPrefix(words[0], "-")) {
			words = words[1:]
		}
		if len(words) > 0 && !slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh"}, path.Base(words[0])) {
			fmt.Fprintf(c.Stderr, "%s: no interpreter %q here, only shell scripts can be run\n", c.Name, path.Base(words[0]))
			return 126
		}
	}
	return s.script(ctx, c, string(text), append([]string{c.Name}, c.Args...)...)
}

// maxScript bounds a script file.
const maxScript = 4 << 20

// subshell is bash: -c SCRIPT, a file, or the standard input.
func (s *Shell) subshell(ctx context.Context, c *tools.Call) tools.Status {
	args := c.Args
	var opts []string
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" && args[0] != "--" {
		flag := args[0]
		args = args[1:]
		if strings.HasPrefix(flag, "--") {
			continue // --norc, --login
		}
		script := strings.Contains(flag, "c")
		for _, l := range flag[1:] {
			if strings.ContainsRune("eux", l) {
				opts = append(opts, "-"+string(l))
			} else if l == 'o' && len(args) > 0 {
				opts, args = append(opts, "-o", args[0]), args[1:]
			}
		}
		if script {
			if len(args) == 0 {
				fmt.Fprintf(c.Stderr, "%s: -c: option requires an argument\n", c.Name)
				return tools.BadUsage
			}
			if len(args) == 1 {
				args = append(args, c.Name)
			}
			return s.interpret(ctx, c, args[0], opts, args[1:])
		}
	}
	if len(args) > 0 && args[0] != "-" && args[0] != "--" {
		text, err := s.o.Host.FS.ReadFile(vfs.Abs(c.Dir, args[0]), maxScript)
		if err != nil {
			fmt.Fprintf(c.Stderr, "%s: %s: No such file or directory\n", c.Name, args[0])
			return tools.NotFound
		}
		return s.interpret(ctx, c, string(text), opts, args)
	}
	if c.Stdin == nil || s.o.Interactive && c.Stdin == io.Reader(s.o.Stdin) {
		return 0 // an interactive shell in the shell would be the same shell
	}
	release := deadlines(ctx, c)
	text, err := io.ReadAll(io.LimitReader(c.Stdin, maxScript+1))
	release()
	if err != nil || len(text) > maxScript {
		fmt.Fprintf(c.Stderr, "%s: the script is too long\n", c.Name)
		return tools.Failed
	}
	return s.interpret(ctx, c, string(text), opts, []string{c.Name})
}

// script implements tools.Host.Script.
func (s *Shell) script(ctx context.Context, c *tools.Call, text string, params ...string) tools.Status {
	return s.interpret(ctx, c, text, nil, params)
}

// interpret runs a script in a shell of its own, that shares jobs and limits with this one. params[0] is $0.
func (s *Shell) interpret(ctx context.Context, c *tools.Call, text string, opts, params []string) tools.Status {
	name := c.Name
	if len(params) > 0 {
		name = params[0]
	}
	file, _, err := Parse(text, name)
	if err != nil {
		fmt.Fprintf(c.Stderr, "%v\n", err)
		return tools.BadUsage
	}
	adapt(file)
	stdin, _ := c.Stdin.(*os.File)
	if stdin == nil && c.Stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			fmt.Fprintf(c.Stderr, "%s: %v\n", name, err)
			return tools.Failed
		}
		go func() {
			io.Copy(w, c.Stdin)
			w.Close()
		}()
		defer r.Close()
		stdin = r
	}
	r, err := s.newRunner(c.Env, c.Dir, stdin, c.Stdout, c.Stderr)
	if err != nil {
		fmt.Fprintf(c.Stderr, "%s: %v\n", name, err)
		return tools.Failed
	}
	if len(params) > 1 {
		opts = append(opts, "--")
		opts = append(opts, params[1:]...)
	}
	if len(opts) > 0 {
		if err := interp.Params(opts...)(r); err != nil {
			fmt.Fprintf(c.Stderr, "%s: %v\n", name, err)
			return tools.BadUsage
		}
	}
	err = r.Run(ctx, file)
	var es interp.ExitStatus
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		return interrupted
	case errors.As(err, &es):
		return tools.Status(es)
	}
	var limit *LimitError
	if !errors.As(err, &limit) { // told by who runs the foreground
		fmt.Fprintf(c.Stderr, "%s: %v\n", name, err)
	}
	return tools.Failed
}

// execute implements tools.Host.Exec.
func (s *Shell) execute(ctx context.Context, c *tools.Call, args []string) tools.Status {
	if len(args) == 0 {
		return 0
	}
	if err := s.meter.check(); err != nil {
		s.exceeded(err)
		return tools.Failed
	}
	d := *c
	d.Name, d.Args = args[0], args[1:]
	if interp.IsBuiltin(args[0]) {
		var words []string
		for _, a := range args {
			q, err := syntax.Quote(a, syntax.LangBash)
			if err != nil {
				fmt.Fprintf(c.Stderr, "%s: %v\n", c.Name, err)
				return tools.Failed
			}
			words = append(words, q)
		}
		return s.script(ctx, &d, strings.Join(words, " "))
	}
	return s.run(ctx, &d, true)
}
