package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/benhoyt/goawk/interp"
	"github.com/benhoyt/goawk/parser"
)

func init() {
	awkTool := Tool{"[-F TEXT] [-v NAME=VALUE] [-f FILE | PROGRAM] [FILE...]", "process text by patterns", awk}
	register("awk", awkTool)
	register("gawk", awkTool)
}

func awk(ctx context.Context, c *Call) error {
	f := c.flags().first()
	sep := f.StringP("field-separator", "F", " ", "what separates fields")
	vars := f.StringArrayP("assign", "v", nil, "set a variable")
	from := f.StringArrayP("file", "f", nil, "file with the program")
	args, err := f.parse()
	if err != nil {
		return err
	}
	var src string
	for _, name := range *from {
		text, err := c.Host.FS.ReadFile(c.path(name), 1<<20)
		if err != nil {
			return typed(name, err)
		}
		src += string(text) + "\n"
	}
	if len(*from) == 0 {
		if len(args) == 0 {
			return usagef("needs a program")
		}
		src, args = args[0], args[1:]
	}
	prog, err := parser.ParseProgram([]byte(src), nil)
	if err != nil {
		return usagef("%v", err)
	}
	var set, files []string
	if *sep == "t" {
		*sep = `\t`
	}
	set = append(set, "FS", *sep)
	for _, kv := range *vars {
		name, value, ok := strings.Cut(kv, "=")
		if !ok {
			return usagef("-v needs NAME=VALUE")
		}
		set = append(set, name, value)
	}
	for _, a := range args {
		if name, value, ok := strings.Cut(a, "="); ok && !strings.Contains(name, "/") {
			set = append(set, name, value)
		} else {
			files = append(files, a)
		}
	}
	// The library would open files itself: it is given one stream, and may open none.
	in := io.Reader(ctxReader{ctx, c.stdin()})
	if len(files) > 0 {
		var readers []io.Reader
		for _, name := range files {
			r, err := c.open(name)
			if err != nil {
				return err
			}
			defer r.Close()
			readers = append(readers, r)
		}
		in = ctxReader{ctx, io.MultiReader(readers...)}
	}
	environ := []string{}
	for _, kv := range c.Env {
		name, value, _ := strings.Cut(kv, "=")
		environ = append(environ, name, value)
	}
	ip, err := interp.New(prog)
	if err != nil {
		return err
	}
	s, err := ip.ExecuteContext(ctx, &interp.Config{
		Stdin: in, Output: c.Stdout, Error: c.Stderr, Argv0: "awk", Vars: set, NoArgVars: true,
		NoExec: true, NoFileReads: true, NoFileWrites: true, Environ: environ, Chars: true,
	})
	if err != nil {
		var ie *interp.Error
		if errors.As(err, &ie) && strings.Contains(ie.Error(), "No") {
			return fmt.Errorf("a program here can neither run commands nor open files: %w", err)
		}
		return err
	}
	return status(Status(s))
}
