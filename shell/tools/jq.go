package tools

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/itchyny/gojq"
)

func init() {
	register("jq", Tool{"[-rcnsejRSCM] [--arg NAME VALUE] [--argjson NAME JSON] FILTER [FILE...]", "query JSON", jq})
}

// jqOptions are jq's flags. Some of them take two values, so they are not parsed by pflag.
type jqOptions struct {
	raw, compact, null, slurp, exit, join, rawIn, color, tab, ascii, seq bool
	indent                                                               int
	filter                                                               string
	haveFilter                                                           bool
	files                                                                []string
	names                                                                []string
	values                                                               []any
	named                                                                map[string]any
	positional                                                           []any
}

func (c *Call) jqOptions() (*jqOptions, error) {
	o := &jqOptions{indent: 2, color: terminal(c.Stdout), named: map[string]any{}}
	args := c.Args
	take := func(flag string) (string, error) {
		if len(args) == 0 {
			return "", usagef("%s needs a value", flag)
		}
		v := args[0]
		args = args[1:]
		return v, nil
	}
	set := func(name string, v any) {
		o.names, o.values = append(o.names, "$"+name), append(o.values, v)
		o.named[name] = v
	}
	rest, only := 0, false // rest: operands are 1 strings, 2 JSON
	for len(args) > 0 {
		arg, _ := take("")
		if only || arg == "-" || !strings.HasPrefix(arg, "-") {
			switch {
			case !o.haveFilter:
				o.filter, o.haveFilter = arg, true
			case rest == 1:
				o.positional = append(o.positional, arg)
			case rest == 2:
				v, err := decodeJSON(arg)
				if err != nil {
					return nil, usagef("invalid JSON: %s", arg)
				}
				o.positional = append(o.positional, v)
			default:
				o.files = append(o.files, arg)
			}
			continue
		}
		if arg == "--" {
			only = true
			continue
		}
		if !strings.HasPrefix(arg, "--") {
			for _, l := range arg[1:] {
				if err := o.letter(l); err != nil {
					return nil, err
				}
				if l == 'f' {
					name, err := take("-f")
					if err != nil {
						return nil, err
					}
					if err := c.jqFile(o, name); err != nil {
						return nil, err
					}
				}
			}
			continue
		}
		switch arg {
		case "--arg", "--argjson", "--slurpfile", "--rawfile":
			name, err := take(arg)
			if err != nil {
				return nil, err
			}
			text, err := take(arg)
			if err != nil {
				return nil, err
			}
			v, err := c.jqValue(arg, text)
			if err != nil {
				return nil, err
			}
			set(name, v)
		case "--args":
			rest = 1
		case "--jsonargs":
			rest = 2
		case "--indent":
			text, err := take(arg)
			if err != nil {
				return nil, err
			}
			if _, err := fmt.Sscan(text, &o.indent); err != nil || o.indent < 0 || o.indent > 9 {
				return nil, usagef("invalid indent: %q", text)
			}
			o.compact = o.indent == 0
		case "--from-file":
			name, err := take(arg)
			if err != nil {
				return nil, err
			}
			if err := c.jqFile(o, name); err != nil {
				return nil, err
			}
		default:
			long := map[string]rune{"--raw-output": 'r', "--compact-output": 'c', "--null-input": 'n', "--slurp": 's', "--exit-status": 'e', "--join-output": 'j',
				"--raw-input": 'R', "--sort-keys": 'S', "--color-output": 'C', "--monochrome-output": 'M', "--tab": 't', "--ascii-output": 'a', "--help": 'h', "--unbuffered": 'u', "--seq": 'q'}
			l, ok := long[arg]
			if !ok {
				return nil, usagef("unknown option %s", arg)
			}
			if err := o.letter(l); err != nil {
				return nil, err
			}
		}
	}
	if !o.haveFilter {
		o.filter = "."
		if len(c.Args) == 0 {
			return nil, usagef("needs a filter, e.g. '.metadata.name'")
		}
	}
	return o, nil
}

func (o *jqOptions) letter(l rune) error {
	switch l {
	case 'r':
		o.raw = true
	case 'c':
		o.compact = true
	case 'n':
		o.null = true
	case 's':
		o.slurp = true
	case 'e':
		o.exit = true
	case 'j':
		o.raw, o.join = true, true
	case 'R':
		o.rawIn = true
	case 'C':
		o.color = true
	case 'M':
		o.color = false
	case 't':
		o.tab = true
	case 'a':
		o.ascii = true
	case 'q':
		o.seq = true
	case 'S', 'f', 'u':
	case 'h':
		return usagef("jq filters JSON: .a.b, .items[], select(…), map(…), length, keys, @base64d")
	default:
		return usagef("unknown option -%c", l)
	}
	return nil
}

// jqFile makes a file the filter; what was taken for one was a file of input.
func (c *Call) jqFile(o *jqOptions, name string) error {
	text, err := c.Host.FS.ReadFile(c.path(name), 1<<20)
	if err != nil {
		return typed(name, err)
	}
	if o.haveFilter {
		o.files = append([]string{o.filter}, o.files...)
	}
	o.filter, o.haveFilter = string(text), true
	return nil
}

func (c *Call) jqValue(kind, text string) (any, error) {
	switch kind {
	case "--argjson":
		v, err := decodeJSON(text)
		if err != nil {
			return nil, usagef("invalid JSON for --argjson: %s", text)
		}
		return v, nil
	case "--slurpfile", "--rawfile":
		r, err := c.open(text)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		data, err := readAll(r)
		if err != nil || kind == "--rawfile" {
			return string(data), err
		}
		all := []any{}
		for dec := json.NewDecoder(strings.NewReader(string(data))); ; {
			var v any
			dec.UseNumber()
			if err := dec.Decode(&v); err == io.EOF {
				return all, nil
			} else if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
	}
	return text, nil
}

func decodeJSON(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}

func jq(ctx context.Context, c *Call) error {
	o, err := c.jqOptions()
	if err != nil {
		return err
	}
	query, err := gojq.Parse(o.filter)
	if err != nil {
		fmt.Fprintf(c.Stderr, "jq: error in the filter: %v\n", err)
		return Status(3)
	}
	in := &jqInput{c: c, ctx: ctx, o: o, files: o.files}
	defer in.close()
	o.named = map[string]any{"named": o.named, "positional": append([]any{}, o.positional...)}
	code, err := gojq.Compile(query, gojq.WithVariables(append(o.names, "$ARGS")), gojq.WithInputIter(in),
		gojq.WithEnvironLoader(func() []string { return c.Env }))
	if err != nil {
		fmt.Fprintf(c.Stderr, "jq: error in the filter: %v\n", err)
		return Status(3)
	}
	values := append(o.values, o.named)
	out := &jsonWriter{w: bufio.NewWriter(c.Stdout), o: o}
	defer out.w.Flush()
	last := any(nil)
	some := false
	var failed error
	run := func(v any) error {
		iter := code.RunWithContext(ctx, v, values...)
		for {
			v, ok := iter.Next()
			if !ok {
				return nil
			}
			if err, ok := v.(error); ok {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				var halt *gojq.HaltError
				if errors.As(err, &halt) {
					out.w.Flush()
					if text, ok := halt.Value().(string); ok {
						io.WriteString(c.Stderr, text)
					} else if halt.Value() != nil {
						b, _ := gojq.Marshal(halt.Value())
						fmt.Fprintln(c.Stderr, string(b))
					}
					return Status(halt.ExitCode())
				}
				out.w.Flush()
				fmt.Fprintf(c.Stderr, "jq: error: %v\n", err)
				failed = Status(5)
				return nil
			}
			last, some = v, true
			if err := out.print(v); err != nil {
				return err
			}
		}
	}
	if o.null {
		err = run(nil)
	} else {
		for err == nil {
			v, ok := in.Next()
			if !ok {
				break
			}
			if e, ok := v.(error); ok {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				out.w.Flush()
				fmt.Fprintf(c.Stderr, "jq: error: %s\n", describe(e))
				failed = BadUsage
				break
			}
			if err = run(v); err == nil {
				err = out.w.Flush()
			}
		}
	}
	if err == nil {
		err = out.w.Flush()
	}
	switch {
	case err != nil:
		return err
	case failed != nil:
		return failed
	case o.exit && !some:
		return Status(4)
	case o.exit && (last == nil || last == false):
		return Failed
	}
	return nil
}

// jqInput reads values from the files one by one, as they come.
type jqInput struct {
	c     *Call
	ctx   context.Context
	o     *jqOptions
	files []string
	cur   io.ReadCloser
	dec   *json.Decoder
	text  *bufio.Reader
	begun bool
	done  bool
}

func (in *jqInput) close() {
	if in.cur != nil {
		in.cur.Close()
	}
}

// Next implements gojq.Iter.
func (in *jqInput) Next() (any, bool) {
	if in.done {
		return nil, false
	}
	if !in.o.slurp {
		return in.one()
	}
	in.done = true
	if in.o.rawIn {
		var all strings.Builder
		for {
			v, ok := in.raw(true)
			if !ok {
				return all.String(), true
			}
			if err, ok := v.(error); ok {
				return err, true
			}
			all.WriteString(v.(string))
		}
	}
	all := []any{}
	for {
		v, ok := in.one()
		if !ok {
			return all, true
		}
		if err, ok := v.(error); ok {
			return err, true
		}
		all = append(all, v)
	}
}

func (in *jqInput) open() error {
	in.close()
	name := "-"
	if len(in.files) > 0 {
		name, in.files = in.files[0], in.files[1:]
	} else if in.begun {
		return io.EOF
	}
	in.begun = true
	r, err := in.c.open(name)
	if err != nil {
		return err
	}
	in.cur = r
	in.text = bufio.NewReader(ctxReader{in.ctx, r})
	in.dec = json.NewDecoder(in.text)
	in.dec.UseNumber()
	return nil
}

func (in *jqInput) one() (any, bool) {
	if in.o.rawIn {
		return in.raw(false)
	}
	for {
		if in.dec == nil {
			if err := in.open(); err == io.EOF {
				return nil, false
			} else if err != nil {
				return err, true
			}
		}
		var v any
		err := in.dec.Decode(&v)
		switch {
		case err == nil:
			return v, true
		case err == io.EOF:
			in.dec = nil
		default:
			in.done = true
			if err == io.ErrUnexpectedEOF {
				err = errors.New("the input ends in the middle of a value")
			}
			return fmt.Errorf("the input is not JSON: %w", err), true
		}
	}
}

func (in *jqInput) raw(ends bool) (any, bool) {
	for {
		if in.text == nil {
			if err := in.open(); err == io.EOF {
				return nil, false
			} else if err != nil {
				return err, true
			}
		}
		line, err := in.text.ReadString('\n')
		if err != nil && line == "" {
			in.text = nil
			if err != io.EOF {
				return err, true
			}
			continue
		}
		if !ends {
			line = strings.TrimSuffix(line, "\n")
		}
		return line, true
	}
}
