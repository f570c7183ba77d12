package posix

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/apilab/apilab/shell/tools"
	"github.com/apilab/apilab/shell/vfs"
)

// overridden builtins: those that the interpreter lacks, and those that would look at the real file system.
var overridden = []string{"type", "jobs", "fg", "bg", "kill", "wait", "help", "history", "hash", "ulimit", "umask", "disown", "which", "ps", "suspend", "bind", "complete", "compgen"}

// override replaces a command's words before it is looked up.
func override(args []string) []string {
	for args[0] == "builtin" && len(args) > 1 && !strings.HasPrefix(args[1], "-") {
		args = args[1:]
	}
	switch {
	case slices.Contains(overridden, args[0]):
		return append([]string{internal + args[0]}, args[1:]...)
	case args[0] == "command" && len(args) > 1 && strings.HasPrefix(args[1], "-") && args[1] != "--" && args[1] != "-p":
		return append([]string{internal + "command"}, args[1:]...)
	case args[0] == "command" && len(args) > 1 && slices.Contains(overridden, args[1]):
		return override(args[1:])
	case (args[0] == "source" || args[0] == ".") && len(args) > 1 && !strings.Contains(args[1], "/"):
		// Else PATH would be searched in the real file system. The file is opened in the view in any case.
		return append([]string{args[0], "./" + args[1]}, args[2:]...)
	case args[0] == "pwd":
		return args[:1]
	case args[0] == "echo":
		return echo(args[1:])
	case args[0] == "logout":
		return append([]string{"exit"}, args[1:]...)
	}
	return args
}

// echo is the interpreter's echo by its printf, which writes once: echo writes each word and the newline apart, and the
// lines of jobs that append to one file would mix.
func echo(args []string) []string {
	end, escapes := "\n", false
	for len(args) > 0 && (args[0] == "-n" || args[0] == "-e" || args[0] == "-E") {
		switch args[0] {
		case "-n":
			end = ""
		case "-e":
			escapes = true
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		return []string{"builtin", "printf", strings.ReplaceAll(text, "%", "%%") + end}
	}
	return []string{"builtin", "printf", "%s" + end, text}
}

// internal runs one of the overridden builtins. script is the context of the script that calls it, ctx also ends with the
// job that it is part of.
func (s *Shell) internal(ctx, script context.Context, hc interp.HandlerContext, args []string) error {
	out, errOut := hc.Stdout, hc.Stderr
	status := tools.Status(0)
	switch name := strings.TrimPrefix(args[0], internal); name {
	case strings.TrimPrefix(newJob, internal):
		j, err := s.jobs.add(s.ctx, args[1], s.o.Limits.Jobs)
		if err != nil {
			return s.exceeded(err)
		}
		context.AfterFunc(script, func() { s.jobs.abandon(j) })
		if s.o.Interactive && s.jobOf(hc) == nil {
			fmt.Fprintf(s.o.Stderr, "[%d] %d\n", j.number, j.pid)
		}
		fmt.Fprintln(out, j.pid)
	case strings.TrimPrefix(jobStatus, internal):
		s.jobs.setStatus(hc.Env.Get(jobVar).String(), hc.LastExitStatus)
	case "type", "which", "command":
		status = s.which(hc, name, args[1:])
	case "jobs":
		s.listJobs(out, slices.Contains(args, "-p"))
	case "ps":
		fmt.Fprintln(out, "    PID TTY          TIME CMD\n    999 pts/0    00:00:00 bash")
		for _, j := range s.jobs.list() {
			if !j.done {
				fmt.Fprintf(out, "%7d pts/0    00:00:00 %s\n", j.pid, j.text)
			}
		}
	case "kill":
		status = s.kill(errOut, out, args[1:])
	case "wait":
		return s.wait(ctx, errOut, args[1:])
	case "fg":
		return s.foreground(ctx, out, errOut, args[1:])
	case "bg", "disown", "hash", "bind", "complete", "compgen", "suspend":
		// Jobs are never stopped here, and there is nothing to set up.
	case "help":
		t, _ := tools.Lookup("help")
		status = t.Call(ctx, &tools.Call{Name: "help", Args: args[1:], Stdout: out, Stderr: errOut, Host: s.o.Host})
	case "history":
		if s.o.History != nil {
			all := s.o.History()
			for i, line := range all {
				fmt.Fprintf(out, "%5d  %s\n", i+1, line)
			}
		}
	case "ulimit":
		fmt.Fprintln(out, "unlimited")
	case "umask":
		if len(args) == 1 {
			fmt.Fprintln(out, "0022")
		}
	default:
		fmt.Fprintf(errOut, "%s: command not found\n", name)
		status = tools.NotFound
	}
	if status != 0 {
		return interp.ExitStatus(uint8(status))
	}
	return nil
}

// which tells what a name is, for type, which and command -v.
func (s *Shell) which(hc interp.HandlerContext, how string, args []string) tools.Status {
	mode := how
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-t":
			mode = "kind"
		case "-v", "-p", "-P":
			mode = "which"
		case "-V":
			mode = "type"
		}
		args = args[1:]
	}
	status := tools.Status(0)
	for _, name := range args {
		kind, text := "", ""
		_, tool := tools.Lookup(name)
		switch {
		case s.o.Externals[name] != nil || tool && !slices.Contains(overridden, name) || name == "bash" || name == "sh":
			kind, text = "file", "/usr/bin/"+name
		case s.runner.Funcs[name] != nil:
			kind, text = "function", name
		case syntax.IsKeyword(name):
			kind, text = "keyword", name
		case interp.IsBuiltin(name) || slices.Contains(overridden, name):
			kind, text = "builtin", name
		default:
			if fi, err := s.o.Host.FS.Stat(vfs.Abs(hc.Dir, name)); strings.Contains(name, "/") && err == nil && fi.Mode()&0o111 != 0 {
				kind, text = "file", name
			}
		}
		switch {
		case kind == "":
			status = tools.Failed
			if mode == "type" {
				fmt.Fprintf(hc.Stderr, "type: %s: not found\n", name)
			}
		case mode == "kind":
			fmt.Fprintln(hc.Stdout, kind)
		case mode == "type" && kind == "file":
			fmt.Fprintf(hc.Stdout, "%s is %s\n", name, text)
		case mode == "type":
			fmt.Fprintf(hc.Stdout, "%s is a shell %s\n", name, kind)
		case how == "which" && kind != "file":
			status = tools.Failed
		default:
			fmt.Fprintln(hc.Stdout, text)
		}
	}
	return status
}

func (s *Shell) listJobs(out io.Writer, pids bool) {
	for _, j := range s.jobs.list() {
		s.jobs.mu.Lock()
		line := fmt.Sprintf("[%d]+  %-23s %s", j.number, j.state(), j.text)
		show := !j.told
		j.told = j.told || j.done
		s.jobs.mu.Unlock()
		switch {
		case !show:
		case pids:
			fmt.Fprintln(out, j.pid)
		case !j.done:
			fmt.Fprintln(out, line+" &")
		default:
			fmt.Fprintln(out, line)
		}
	}
}

func (s *Shell) kill(errOut, out io.Writer, args []string) tools.Status {
	test := false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && len(args[0]) > 1 {
		switch args[0] {
		case "-l":
			fmt.Fprintln(out, "HUP INT QUIT KILL TERM")
			return 0
		case "-0":
			test = true
		case "-s", "-n":
			args = args[1:]
		}
		args = args[min(1, len(args)):]
	}
	if len(args) == 0 {
		fmt.Fprintln(errOut, "usage: kill [-SIGNAL] %JOB | PID")
		return tools.BadUsage
	}
	status := tools.Status(0)
	for _, spec := range args {
		j := s.jobs.find(spec)
		switch {
		case j == nil || j.done:
			fmt.Fprintf(errOut, "kill: %s: no such job\n", spec)
			status = tools.Failed
		case !test:
			s.jobs.kill([]*job{j})
		}
	}
	return status
}

func (s *Shell) wait(ctx context.Context, errOut io.Writer, args []string) error {
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	if len(args) == 0 {
		self := s.jobOf(interp.HandlerCtx(ctx))
		return s.jobs.wait(ctx, slices.DeleteFunc(s.jobs.list(), func(j *job) bool { return j == self }))
	}
	status := 0
	for _, spec := range args {
		j := s.jobs.find(spec)
		if j == nil {
			fmt.Fprintf(errOut, "wait: %s: no such job\n", spec)
			status = int(tools.NotFound)
			continue
		}
		if err := s.jobs.wait(ctx, []*job{j}); err != nil {
			return err
		}
		s.jobs.mu.Lock()
		status, j.told = j.status, true
		s.jobs.mu.Unlock()
	}
	if status != 0 {
		return interp.ExitStatus(uint8(status))
	}
	return nil
}

// foreground waits for a job as if it had been started without &: Ctrl-C stops it.
func (s *Shell) foreground(ctx context.Context, out, errOut io.Writer, args []string) error {
	spec := "%+"
	if len(args) > 0 {
		spec = args[0]
		if !strings.HasPrefix(spec, "%") {
			spec = "%" + spec
		}
	}
	j := s.jobs.find(spec)
	if j == nil || j.done {
		fmt.Fprintf(errOut, "fg: %s: no such job\n", strings.TrimPrefix(spec, "%+"))
		return interp.ExitStatus(1)
	}
	fmt.Fprintln(out, j.text)
	err := s.jobs.wait(ctx, []*job{j})
	if err != nil {
		s.jobs.kill([]*job{j})
		s.jobs.wait(context.Background(), []*job{j})
	}
	s.jobs.mu.Lock()
	j.told = true
	status := j.status
	s.jobs.mu.Unlock()
	if err != nil {
		return err
	}
	if status != 0 {
		return interp.ExitStatus(uint8(status))
	}
	return nil
}
