// Package tools holds the commands of the learner's shell: cat, grep, curl, jq and so on, written in Go and closed in to
// the learner's files and ports. A tool runs inside the shell's process and ends when its context does. The package
// knows nothing of the interpreter that calls it.
package tools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/apilab/apilab/shell/localhost"
	"github.com/apilab/apilab/shell/vfs"
)

// A Tool is one command. Its error is a Status, an errUsage, or a failure that is printed as "name: error".
type Tool struct {
	Usage string // the line after the name, e.g. "[-n NUM] [FILE...]"
	Says  string // what it does, a few words
	Run   func(context.Context, *Call) error
}

// A Call is one run of a tool.
type Call struct {
	Name   string
	Args   []string // without the name
	Env    []string // NAME=value, exported variables
	Dir    string   // virtual working folder
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Host   *Host
}

// Host is what tools need of the shell that they run in.
type Host struct {
	FS      *vfs.FS
	Ports   *localhost.Ports
	Gateway string // HOST:PORT of the learner's API server, which curl may dial
	// Exec runs another command with the call's streams, environment and folder.
	Exec func(ctx context.Context, c *Call, args []string) Status
	// Script runs a shell script in the same way.
	Script func(ctx context.Context, c *Call, script string, params ...string) Status
	// Edit lets the learner edit a text in the page; saved tells whether they kept it.
	Edit func(ctx context.Context, name, text string) (saved bool, result string, err error)
	// Size is the terminal's, 0 without one.
	Size func() (cols, rows int)
	// Keys reads single key presses from the terminal until stop is called; an error without a terminal.
	Keys func(ctx context.Context) (next func() (rune, error), stop func(), err error)
}

// Status is an exit status. 0 is success.
type Status int

func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Exit statuses with a meaning.
const (
	Failed   Status = 1
	BadUsage Status = 2
	TimedOut Status = 124
	NotFound Status = 127
	Broken   Status = 141 // its reader went away
)

// errUsage is an error in the command line.
type errUsage struct{ error }

func usagef(format string, a ...any) error { return errUsage{fmt.Errorf(format, a...)} }

var table map[string]Tool

// register is called by each tool's file; tools of one idea share a file.
func register(name string, t Tool) {
	if table == nil {
		table = map[string]Tool{}
	}
	table[name] = t
}

// Lookup finds a tool by its name.
func Lookup(name string) (Tool, bool) {
	t, ok := table[name]
	return t, ok
}

// Names lists all tools, sorted.
func Names() []string { return slices.Sorted(maps.Keys(table)) }

// Call runs a tool and prints its error.
func (t Tool) Call(ctx context.Context, c *Call) (status Status) {
	defer func() {
		if p := recover(); p != nil { // in a library that a learner's program drives: gojq, yq, goawk
			fmt.Fprintf(c.Stderr, "%s: internal error: %v\n", c.Name, p)
			status = Failed
		}
	}()
	err := t.Run(ctx, c)
	var s Status
	var u errUsage
	switch {
	case err == nil:
		return 0
	case errors.As(err, &s):
		return s
	case ctx.Err() != nil:
		return 130
	case errors.Is(err, syscall.EPIPE):
		return Broken
	case errors.As(err, &u):
		fmt.Fprintf(c.Stderr, "%s: %v\nusage: %s %s\n", c.Name, err, c.Name, t.Usage)
		return BadUsage
	}
	c.warn(err)
	return Failed
}

// warn prints an error that does not end the tool.
func (c *Call) warn(err error) {
	fmt.Fprintf(c.Stderr, "%s: %s\n", c.Name, describe(err))
}

// describe words an error as the usual tools do: "FILE: No such file or directory".
func describe(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		text := pe.Err.Error()
		return pe.Path + ": " + strings.ToUpper(text[:1]) + text[1:]
	}
	return err.Error()
}

// path is the absolute virtual path of a name as typed.
func (c *Call) path(name string) string { return vfs.Abs(c.Dir, name) }

// typed puts the name as typed into an error of the file system.
func typed(name string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return &fs.PathError{Op: pe.Op, Path: name, Err: pe.Err}
	}
	return err
}

// open opens a file for reading, "-" is the standard input.
func (c *Call) open(name string) (io.ReadCloser, error) {
	if name == "-" || name == "/dev/stdin" {
		return io.NopCloser(c.stdin()), nil
	}
	f, err := c.Host.FS.Open(c.path(name))
	if err != nil {
		return nil, typed(name, err)
	}
	if fi, err := f.Stat(); err == nil && fi.IsDir() {
		f.Close()
		return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	}
	return f, nil
}

func (c *Call) stdin() io.Reader {
	if c.Stdin == nil {
		return strings.NewReader("")
	}
	return c.Stdin
}

// each opens the named files one by one, or the standard input if there are none. It goes on after one that cannot be
// opened, and fails in the end.
func (c *Call) each(names []string, do func(name string, r io.Reader) error) error {
	if len(names) == 0 {
		names = []string{"-"}
	}
	var failed error
	for _, name := range names {
		r, err := c.open(name)
		if err == nil {
			err = do(name, r)
			r.Close()
			if errors.Is(err, syscall.EPIPE) {
				return err
			}
		}
		if err != nil {
			var s Status
			if errors.As(err, &s) {
				return err
			}
			c.warn(err)
			failed = Failed
		}
	}
	return failed
}

// maxLine bounds one line that a tool holds in memory.
const maxLine = 16 << 20

// lines calls do with each line, without its end. An error of do stops it; io.EOF does so without being one.
func lines(r io.Reader, do func(line string) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	s.Split(splitLines)
	for s.Scan() {
		if err := do(s.Text()); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than %d MiB", maxLine>>20)
	}
	return s.Err()
}

// splitLines is bufio.ScanLines without its care for carriage returns, which would be lost.
func splitLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := slices.Index(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// maxText bounds what tools that need all of their input (sort, tac, diff …) read.
const maxText = 64 << 20

func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err == nil && len(data) > maxText {
		err = fmt.Errorf("more than %d MiB of input", maxText>>20)
	}
	return data, err
}

// env looks a variable up, the last one of a name counts.
func (c *Call) env(name string) string {
	for _, kv := range slices.Backward(c.Env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// with copies the call for running another command with other streams.
func (c *Call) with(stdin io.Reader, stdout io.Writer) *Call {
	d := *c
	d.Stdin, d.Stdout = stdin, stdout
	return &d
}

// terminal reports whether a stream is the learner's terminal.
func terminal(stream any) bool {
	t, ok := stream.(interface{ Terminal() bool })
	return ok && t.Terminal()
}

// finally writes to the terminal, although the call may have been stopped.
func (c *Call) finally(text string) {
	if t, ok := c.Stdout.(interface{ Finally(string) }); ok {
		t.Finally(text)
		return
	}
	io.WriteString(c.Stdout, text)
}

// buffered gives a tool with many small writes a buffer, that is flushed as the tool ends.
func (c *Call) buffered(do func(w *bufio.Writer) error) error {
	w := bufio.NewWriterSize(c.Stdout, 32<<10)
	err := do(w)
	if ferr := w.Flush(); err == nil {
		err = ferr
	}
	return err
}

// isNotExist is errors.Is(err, fs.ErrNotExist).
func isNotExist(err error) bool { return errors.Is(err, os.ErrNotExist) }
