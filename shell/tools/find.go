package tools

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/shell"
)

func init() {
	register("find", Tool{"[FOLDER...] [-name PATTERN] [-type f|d|l] [-maxdepth N] [-exec COMMAND {} \\;] …", "find files", find})
	register("xargs", Tool{"[-0rt] [-n NUM] [-I TEXT] [-d CHAR] COMMAND [ARG...]", "run a command with words of the input", xargs})
}

// predicate is one test or action of find.
type predicate func(name string, d fs.DirEntry, depth int) (bool, error)

type finder struct {
	ctx                context.Context
	c                  *Call
	args               []string
	minDepth, maxDepth int
	prune, acts        bool
	batch              []string // -exec … +
	batchFiles         []string
	remove             []string // -delete: in the end, what is in a folder before it
}

func find(ctx context.Context, c *Call) error {
	f := &finder{ctx: ctx, c: c, args: c.Args, maxDepth: 1 << 30}
	var starts []string
	for len(f.args) > 0 && !strings.HasPrefix(f.args[0], "-") && f.args[0] != "!" && f.args[0] != "(" {
		starts, f.args = append(starts, f.args[0]), f.args[1:]
	}
	if len(starts) == 0 {
		starts = []string{"."}
	}
	test, err := f.or()
	if err != nil {
		return err
	}
	if len(f.args) > 0 {
		return usagef("unexpected %q", f.args[0])
	}
	var failed error
	for _, start := range starts {
		err := c.walk(start, func(name string, d fs.DirEntry) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			depth := strings.Count(strings.TrimPrefix(name, start), "/")
			f.prune = false
			if depth >= f.minDepth {
				ok, err := test(name, d, depth)
				if err != nil {
					return err
				}
				if ok && !f.acts {
					if _, err := fmt.Fprintln(c.Stdout, name); err != nil {
						return err
					}
				}
			}
			if d.IsDir() && (f.prune || depth >= f.maxDepth) {
				return fs.SkipDir
			}
			return nil
		})
		if s, ok := err.(Status); ok {
			failed = s
		} else if err != nil {
			return err
		}
	}
	for _, name := range slices.Backward(f.remove) {
		if err := c.Host.FS.Remove(c.path(name)); err != nil {
			c.warn(typed(name, err))
			failed = Failed
		}
	}
	if len(f.batchFiles) > 0 {
		if s := c.Host.Exec(ctx, c, append(f.batch, f.batchFiles...)); s != 0 {
			failed = Failed
		}
	}
	return failed
}

func (f *finder) take() string {
	if len(f.args) == 0 {
		return ""
	}
	a := f.args[0]
	f.args = f.args[1:]
	return a
}

func (f *finder) or() (predicate, error) {
	left, err := f.and()
	for err == nil && len(f.args) > 0 && (f.args[0] == "-o" || f.args[0] == "-or") {
		f.take()
		var right predicate
		a := left
		if right, err = f.and(); err == nil {
			left = func(n string, d fs.DirEntry, depth int) (bool, error) {
				if ok, err := a(n, d, depth); ok || err != nil {
					return ok, err
				}
				return right(n, d, depth)
			}
		}
	}
	return left, err
}

func (f *finder) and() (predicate, error) {
	all := func(string, fs.DirEntry, int) (bool, error) { return true, nil }
	var left predicate = all
	for len(f.args) > 0 && f.args[0] != "-o" && f.args[0] != "-or" && f.args[0] != ")" {
		if f.args[0] == "-a" || f.args[0] == "-and" {
			f.take()
			continue
		}
		right, err := f.one()
		if err != nil {
			return nil, err
		}
		a := left
		left = func(n string, d fs.DirEntry, depth int) (bool, error) {
			if ok, err := a(n, d, depth); !ok || err != nil {
				return false, err
			}
			return right(n, d, depth)
		}
	}
	return left, nil
}

func (f *finder) one() (predicate, error) {
	op := f.take()
	need := func() (string, error) {
		if len(f.args) == 0 {
			return "", usagef("%s needs a value", op)
		}
		return f.take(), nil
	}
	is := func(test func(name string, d fs.DirEntry) bool) (predicate, error) {
		return func(n string, d fs.DirEntry, _ int) (bool, error) { return test(n, d), nil }, nil
	}
	switch op {
	case "!", "-not":
		p, err := f.one()
		return func(n string, d fs.DirEntry, depth int) (bool, error) { ok, err := p(n, d, depth); return !ok, err }, err
	case "(":
		p, err := f.or()
		if f.take() != ")" {
			return nil, usagef("missing )")
		}
		return p, err
	case "-name", "-iname", "-path", "-wholename":
		pat, err := need()
		if err != nil {
			return nil, err
		}
		return is(func(n string, _ fs.DirEntry) bool {
			if op == "-path" || op == "-wholename" {
				return wild(pat, n)
			}
			if op == "-iname" {
				return wild(strings.ToLower(pat), strings.ToLower(path.Base(n)))
			}
			return wild(pat, path.Base(n))
		})
	case "-type":
		kind, err := need()
		if err != nil {
			return nil, err
		}
		return is(func(_ string, d fs.DirEntry) bool {
			for k := range strings.SplitSeq(kind, ",") {
				if k == "d" && d.IsDir() || k == "f" && d.Type().IsRegular() || k == "l" && d.Type()&fs.ModeSymlink != 0 {
					return true
				}
			}
			return false
		})
	case "-maxdepth", "-mindepth":
		text, err := need()
		n, err2 := strconv.Atoi(text)
		if err != nil || err2 != nil {
			return nil, usagef("%s needs a number", op)
		}
		if op == "-maxdepth" {
			f.maxDepth = n
		} else {
			f.minDepth = n
		}
		return is(func(string, fs.DirEntry) bool { return true })
	case "-empty":
		return is(func(n string, d fs.DirEntry) bool {
			if d.IsDir() {
				all, err := f.c.Host.FS.ReadDir(f.c.path(n))
				return err == nil && len(all) == 0
			}
			fi, err := d.Info()
			return err == nil && fi.Size() == 0
		})
	case "-size", "-mtime", "-mmin":
		text, err := need()
		if err != nil {
			return nil, err
		}
		return f.measure(op, text)
	case "-newer":
		ref, err := need()
		if err != nil {
			return nil, err
		}
		fi, err := f.c.Host.FS.Stat(f.c.path(ref))
		if err != nil {
			return nil, typed(ref, err)
		}
		return is(func(_ string, d fs.DirEntry) bool {
			i, err := d.Info()
			return err == nil && i.ModTime().After(fi.ModTime())
		})
	case "-print", "-print0":
		f.acts = true
		end := "\n"
		if op == "-print0" {
			end = "\x00"
		}
		return func(n string, _ fs.DirEntry, _ int) (bool, error) {
			_, err := fmt.Fprint(f.c.Stdout, n+end)
			return true, err
		}, nil
	case "-prune":
		return func(string, fs.DirEntry, int) (bool, error) { f.prune = true; return true, nil }, nil
	case "-delete":
		f.acts = true
		return func(n string, _ fs.DirEntry, _ int) (bool, error) {
			f.remove = append(f.remove, n)
			return true, nil
		}, nil
	case "-exec":
		return f.exec()
	case "-true":
		return is(func(string, fs.DirEntry) bool { return true })
	}
	return nil, usagef("unknown test %q", op)
}

func (f *finder) measure(op, text string) (predicate, error) {
	sign := byte(0)
	if text != "" && (text[0] == '+' || text[0] == '-') {
		sign, text = text[0], text[1:]
	}
	unit := int64(512)
	if op == "-size" {
		for s, u := range map[string]int64{"c": 1, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
			if t, ok := strings.CutSuffix(text, s); ok {
				text, unit = t, u
			}
		}
	}
	want, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, usagef("%s needs a number", op)
	}
	return func(_ string, d fs.DirEntry, _ int) (bool, error) {
		fi, err := d.Info()
		if err != nil {
			return false, nil
		}
		var n int64
		switch op {
		case "-size":
			n = (fi.Size() + unit - 1) / unit
		case "-mtime":
			n = int64(time.Since(fi.ModTime()) / (24 * time.Hour))
		case "-mmin":
			n = int64(time.Since(fi.ModTime()) / time.Minute)
		}
		return sign == '+' && n > want || sign == '-' && n < want || sign == 0 && n == want, nil
	}, nil
}

func (f *finder) exec() (predicate, error) {
	f.acts = true
	var cmd []string
	for {
		if len(f.args) == 0 {
			return nil, usagef("-exec needs ; at its end (write \\;)")
		}
		a := f.take()
		if a == ";" {
			break
		}
		if a == "+" && len(cmd) > 0 && cmd[len(cmd)-1] == "{}" {
			f.batch = cmd[:len(cmd)-1]
			return func(n string, _ fs.DirEntry, _ int) (bool, error) {
				f.batchFiles = append(f.batchFiles, n)
				return true, nil
			}, nil
		}
		cmd = append(cmd, a)
	}
	if len(cmd) == 0 {
		return nil, usagef("-exec needs a command")
	}
	return func(n string, _ fs.DirEntry, _ int) (bool, error) {
		var args []string
		for _, a := range cmd {
			args = append(args, strings.ReplaceAll(a, "{}", n))
		}
		return f.c.Host.Exec(f.ctx, f.c, args) == 0, f.ctx.Err()
	}, nil
}

// wild matches as find does: * also matches slashes.
func wild(pat, name string) bool {
	const slash = "\x01"
	ok, _ := path.Match(strings.ReplaceAll(pat, "/", slash), strings.ReplaceAll(name, "/", slash))
	return ok
}

func xargs(ctx context.Context, c *Call) error {
	f := c.flags().first()
	null := f.yes("null", "0", "words end with a zero byte")
	noRun := f.yes("no-run-if-empty", "r", "nothing if there are no words")
	trace := f.yes("verbose", "t", "show the commands")
	n := f.IntP("max-args", "n", 1000, "words for one run")
	lineMax := f.IntP("max-lines", "L", 0, "lines for one run")
	put := f.StringP("replace", "I", "", "put each line in place of this text")
	delim := f.StringP("delimiter", "d", "", "what ends a word")
	f.IntP("max-procs", "P", 1, "ignored")
	cmd, err := f.parse()
	if err != nil {
		return err
	}
	if len(cmd) == 0 {
		cmd = []string{"echo"}
	}
	data, err := readAll(c.stdin())
	if err != nil {
		return err
	}
	var words []string
	text := string(data)
	switch {
	case *null:
		words = strings.FieldsFunc(text, func(r rune) bool { return r == 0 })
	case *delim != "":
		d := unescape(*delim)
		words = strings.Split(strings.TrimSuffix(text, d), d)
	case *put != "" || *lineMax > 0:
		for line := range strings.SplitSeq(text, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				words = append(words, line)
			}
		}
	default:
		if words, err = shell.Fields(strings.NewReplacer("$", `\$`, "`", "\\`", "|", `\|`, "&", `\&`, ";", `\;`, "<", `\<`, ">", `\>`, "(", `\(`, ")", `\)`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`, "}", `\}`, "~", `\~`, "#", `\#`, "\n", " ").Replace(text), func(string) string { return "" }); err != nil {
			return fmt.Errorf("unmatched quote")
		}
	}
	if len(words) == 0 && (*noRun || *put != "") {
		return nil
	}
	var failed error
	run := func(args []string) error {
		if *trace {
			fmt.Fprintln(c.Stderr, join(args))
		}
		d := c.with(strings.NewReader(""), c.Stdout)
		switch s := c.Host.Exec(ctx, d, args); {
		case s == 255 || s == NotFound:
			return s
		case s != 0:
			failed = Status(123)
		}
		return ctx.Err()
	}
	per := max(1, *n)
	if *put != "" || *lineMax > 0 {
		per = max(1, *lineMax)
	}
	for first := true; first || len(words) > 0; first = false {
		k := min(per, len(words))
		args := append([]string(nil), cmd...)
		if *put != "" {
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], *put, words[0])
			}
		} else {
			args = append(args, words[:k]...)
		}
		words = words[k:]
		if err := run(args); err != nil {
			return err
		}
	}
	return failed
}
