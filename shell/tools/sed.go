package tools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

func init() {
	register("sed", Tool{"[-nEi] [-e SCRIPT | -f FILE | SCRIPT] [FILE...]", "edit lines", sed})
}

func sed(ctx context.Context, c *Call) error {
	args := attach(c.Args, "-i")
	f := c.flags()
	quiet := f.yes("quiet", "n", "print only what the script prints")
	ext := f.yes("regexp-extended", "E", "extended expressions")
	ext2 := f.yes("", "r", "like -E")
	scripts := f.StringArrayP("expression", "e", nil, "script")
	from := f.StringP("file", "f", "", "file with the script")
	inPlace := f.StringP("in-place", "i", "", "change the files, keeping the old ones with this suffix")
	f.Lookup("in-place").NoOptDefVal = "\x00"
	f.yes("separate", "s", "each file by itself")
	names, err := f.parseArgs(args)
	if err != nil {
		return err
	}
	if *from != "" {
		r, err := c.open(*from)
		if err != nil {
			return err
		}
		text, err := readAll(r)
		r.Close()
		if err != nil {
			return err
		}
		*scripts = append(*scripts, string(text))
	}
	if len(*scripts) == 0 {
		if len(names) == 0 {
			return usagef("needs a script")
		}
		*scripts, names = names[:1], names[1:]
	}
	prog, err := parseSed(strings.Join(*scripts, "\n"), *ext || *ext2)
	if err != nil {
		return err
	}
	if *inPlace == "" {
		var r io.Reader = c.stdin()
		if len(names) > 0 {
			var readers []io.Reader
			for _, name := range names {
				file, err := c.open(name)
				if err != nil {
					c.warn(err)
					continue
				}
				defer file.Close()
				readers = append(readers, file)
			}
			if len(readers) == 0 {
				return BadUsage
			}
			r = io.MultiReader(readers...)
		}
		return c.sedStream(ctx, prog, r, c.Stdout, *quiet)
	}
	for _, name := range names {
		if err := c.sedFile(ctx, prog, name, *inPlace, *quiet); err != nil {
			return err
		}
	}
	return nil
}

func (c *Call) sedFile(ctx context.Context, prog []*sedCommand, name, suffix string, quiet bool) error {
	r, err := c.open(name)
	if err != nil {
		return err
	}
	text, err := readAll(r)
	r.Close()
	if err != nil {
		return err
	}
	var out strings.Builder
	if err := c.sedStream(ctx, prog, strings.NewReader(string(text)), &out, quiet); err != nil {
		return err
	}
	if suffix != "\x00" {
		if err := c.Host.FS.WriteFile(c.path(name+suffix), text, 0o644); err != nil {
			return typed(name+suffix, err)
		}
	}
	return typed(name, c.Host.FS.WriteFile(c.path(name), []byte(out.String()), 0o644))
}

func (c *Call) sedStream(ctx context.Context, prog []*sedCommand, r io.Reader, out io.Writer, quiet bool) error {
	w := bufio.NewWriter(out)
	s := &sedState{ctx: ctx, c: c, in: bufio.NewReader(r), out: w, quiet: quiet}
	for _, cmd := range prog {
		cmd.active = false
	}
	err := s.run(prog)
	if ferr := w.Flush(); err == nil {
		err = ferr
	}
	return err
}

// sedState is one run over a stream.
type sedState struct {
	ctx     context.Context
	c       *Call
	in      *bufio.Reader
	out     *bufio.Writer
	quiet   bool
	line    int
	pattern string
	hold    string
	after   []string // text to print at the end of the cycle
	noEOL   bool     // the last line came without one
}

// next reads a line. It flushes before it would block, so that a stream passes line by line.
func (s *sedState) next() (string, error) {
	if s.in.Buffered() == 0 {
		if err := s.out.Flush(); err != nil {
			return "", err
		}
	}
	text, err := s.in.ReadString('\n')
	if err != nil && text == "" {
		return "", err
	}
	if len(text) > maxLine {
		return "", fmt.Errorf("a line is longer than %d MiB", maxLine>>20)
	}
	s.line++
	trimmed := strings.TrimSuffix(text, "\n")
	s.noEOL = trimmed == text
	return trimmed, nil
}

func (s *sedState) last() bool {
	_, err := s.in.Peek(1)
	return err != nil
}

func (s *sedState) print(text string) {
	s.out.WriteString(text)
	if !s.noEOL || !s.last() {
		s.out.WriteByte('\n')
	}
}

var errQuit = errors.New("quit")

func (s *sedState) run(prog []*sedCommand) error {
	var status error
	restart := false
	for {
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if !restart {
			text, err := s.next()
			if err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			s.pattern = text
		}
		restart = false
		deleted := false
		err := s.cycle(prog, &deleted, &restart)
		if err != nil && !errors.Is(err, errQuit) {
			var st Status
			if !errors.As(err, &st) {
				return err
			}
			status, err = st, errQuit
		}
		if !deleted && !s.quiet {
			s.print(s.pattern)
		}
		for _, text := range s.after {
			s.out.WriteString(text + "\n")
		}
		s.after = nil
		if err != nil {
			return status
		}
	}
}

func (s *sedState) cycle(prog []*sedCommand, deleted, restart *bool) error {
	replaced := false
	for pc, steps := 0, 0; pc < len(prog); pc++ {
		if steps++; steps&0xffff == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		cmd := prog[pc]
		if cmd.matches(s) == cmd.not {
			if cmd.name == '{' {
				pc = cmd.jump
			}
			continue
		}
		switch cmd.name {
		case '{', '}', ':':
		case 's':
			text, n := cmd.substitute(s.pattern)
			if n > 0 {
				s.pattern, replaced = text, true
				if cmd.print {
					s.out.WriteString(s.pattern + "\n")
				}
			}
		case 'y':
			s.pattern = strings.Map(func(r rune) rune {
				if to, ok := cmd.table[r]; ok {
					return to
				}
				return r
			}, s.pattern)
		case 'p':
			s.out.WriteString(s.pattern + "\n")
		case 'P':
			first, _, _ := strings.Cut(s.pattern, "\n")
			s.out.WriteString(first + "\n")
		case 'd':
			*deleted = true
			return nil
		case 'D':
			if _, rest, ok := strings.Cut(s.pattern, "\n"); ok {
				s.pattern, *restart = rest, true
			}
			*deleted = true
			return nil
		case 'q', 'Q':
			*deleted = cmd.name == 'Q'
			if cmd.number > 0 {
				return Status(cmd.number)
			}
			return errQuit
		case 'a':
			s.after = append(s.after, cmd.text)
		case 'i':
			s.out.WriteString(cmd.text + "\n")
		case 'c':
			if cmd.to == nil || !cmd.active {
				s.out.WriteString(cmd.text + "\n")
			}
			*deleted = true
			return nil
		case '=':
			fmt.Fprintf(s.out, "%d\n", s.line)
		case 'l':
			s.out.WriteString(visible(s.pattern) + "$\n")
		case 'n', 'N':
			if s.last() {
				*deleted = cmd.name == 'n' && s.quiet
				return errQuit
			}
			if cmd.name == 'n' && !s.quiet {
				s.print(s.pattern)
			}
			text, err := s.next()
			if err != nil {
				return err
			}
			if cmd.name == 'N' {
				text = s.pattern + "\n" + text
			}
			s.pattern = text
		case 'g':
			s.pattern = s.hold
		case 'G':
			s.pattern += "\n" + s.hold
		case 'h':
			s.hold = s.pattern
		case 'H':
			s.hold += "\n" + s.pattern
		case 'x':
			s.pattern, s.hold = s.hold, s.pattern
		case 'b':
			pc = cmd.jump
		case 't':
			if replaced {
				replaced, pc = false, cmd.jump
			}
		}
		if len(s.pattern)+len(s.hold) > maxLine {
			return fmt.Errorf("more than %d MiB held", maxLine>>20)
		}
	}
	return nil
}
