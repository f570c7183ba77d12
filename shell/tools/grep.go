package tools

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

func init() {
	grepTool := Tool{"[-EFivnclrowqhHsx] [-A NUM] [-B NUM] [-C NUM] [-m NUM] [-e] PATTERN [FILE...]", "print lines that match", grep}
	register("grep", grepTool)
	register("egrep", grepTool)
	register("fgrep", grepTool)
}

type grepper struct {
	c                                           *Call
	re                                          *regexp.Regexp
	invert, number, count, files, without, only bool
	quiet, prefix, color                        bool
	before, after, limit                        int
	matched                                     bool
}

func grep(ctx context.Context, c *Call) error {
	f := c.flags()
	ext := f.yes("extended-regexp", "E", "extended expressions")
	fixed := f.yes("fixed-strings", "F", "the pattern is text")
	perl := f.yes("perl-regexp", "P", "expressions as Go's")
	f.yes("basic-regexp", "G", "basic expressions: the default")
	fold := f.yes("ignore-case", "i", "ignore case")
	invert := f.yes("invert-match", "v", "lines that do not match")
	number := f.yes("line-number", "n", "line numbers")
	cnt := f.yes("count", "c", "only the number of lines")
	files := f.yes("files-with-matches", "l", "only file names")
	without := f.yes("files-without-match", "L", "only names of files without a match")
	rec := f.yes("recursive", "r", "files in folders")
	rec2 := f.yes("dereference-recursive", "R", "like -r")
	only := f.yes("only-matching", "o", "only what matches")
	word := f.yes("word-regexp", "w", "whole words")
	line := f.yes("line-regexp", "x", "whole lines")
	quiet := f.yes("quiet", "q", "only the exit status")
	noName := f.yes("no-filename", "h", "no file names")
	name := f.yes("with-filename", "H", "file names")
	silent := f.yes("no-messages", "s", "no errors about files")
	f.yes("line-buffered", "", "ignored: always")
	patterns := f.StringArrayP("regexp", "e", nil, "pattern")
	from := f.StringP("file", "f", "", "file of patterns")
	after, before := f.IntP("after-context", "A", 0, "lines after a match"), f.IntP("before-context", "B", 0, "lines before a match")
	around := f.IntP("context", "C", 0, "lines around a match")
	limit := f.IntP("max-count", "m", 0, "stop after NUM lines")
	color := f.String("color", "auto", "always, never or auto")
	f.Lookup("color").NoOptDefVal = "always"
	include := f.StringArray("include", nil, "only files of this name pattern")
	exclude := f.StringArray("exclude", nil, "not files of this name pattern")
	args, err := f.parse()
	if err != nil {
		return err
	}
	if *from != "" {
		r, err := c.open(*from)
		if err != nil {
			return err
		}
		err = lines(r, func(l string) error { *patterns = append(*patterns, l); return nil })
		r.Close()
		if err != nil {
			return err
		}
	} else if len(*patterns) == 0 {
		if len(args) == 0 {
			return usagef("needs a pattern")
		}
		*patterns, args = []string{args[0]}, args[1:]
	}
	re, err := pattern(*patterns, *ext || c.Name == "egrep", *fixed || c.Name == "fgrep", *perl, *fold, *word, *line)
	if err != nil {
		return err
	}
	g := &grepper{c: c, re: re, invert: *invert, number: *number, count: *cnt, files: *files, without: *without, only: *only,
		quiet: *quiet, before: max(*before, *around), after: max(*after, *around), limit: *limit}
	g.color = *color == "always" || *color == "auto" && terminal(c.Stdout)
	g.prefix = (*name || len(args) > 1 || *rec || *rec2) && !*noName
	if *rec || *rec2 {
		if len(args) == 0 {
			args = []string{"."}
		}
		args = c.files(args, func(base string) bool { return glob(*include, base, true) && !glob(*exclude, base, false) })
	}
	if *silent {
		c.Stderr = io.Discard
	}
	err = c.each(args, g.file)
	if err == io.EOF {
		err = nil
	}
	switch {
	case g.matched && (err == nil || *quiet):
		return nil
	case err != nil:
		return BadUsage
	}
	return Failed
}

func glob(patterns []string, base string, none bool) bool {
	if len(patterns) == 0 {
		return none
	}
	for _, p := range patterns {
		if ok, _ := path.Match(p, base); ok {
			return true
		}
	}
	return false
}

// files walks folders.
func (c *Call) files(names []string, want func(base string) bool) []string {
	var all []string
	for _, name := range names {
		c.walk(name, func(p string, d fs.DirEntry) error {
			if !d.IsDir() && want(path.Base(p)) {
				all = append(all, p)
			}
			return nil
		})
	}
	return all
}

func pattern(patterns []string, ext, fixed, perl, fold, word, line bool) (*regexp.Regexp, error) {
	var alts []string
	for _, p := range patterns {
		for p := range strings.SplitSeq(p, "\n") {
			var err error
			switch {
			case fixed:
				p = regexp.QuoteMeta(p)
			case !perl:
				if p, err = translate(p, ext); err != nil {
					return nil, usagef("%v", err)
				}
			}
			alts = append(alts, p)
		}
	}
	text := strings.Join(alts, "|")
	if word {
		text = `\b(?:` + text + `)\b`
	}
	if line {
		text = `^(?:` + text + `)$`
	}
	if fold {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, usagef("invalid expression: %v", err)
	}
	if !perl {
		re.Longest()
	}
	return re, nil
}

func (g *grepper) file(name string, r io.Reader) error {
	if name == "-" {
		name = "(standard input)"
	}
	var held []string // lines before, not printed
	n, hits, left, last := 0, 0, 0, 0
	err := lines(r, func(line string) error {
		n++
		if g.re.MatchString(line) == g.invert {
			if left > 0 {
				left--
				last = n
				return g.print(name, n, line, '-')
			}
			if g.before > 0 {
				if held = append(held, line); len(held) > g.before {
					held = held[1:]
				}
			}
			return nil
		}
		hits++
		g.matched = g.matched || !g.without
		switch {
		case g.quiet || g.files || g.without:
			return io.EOF
		case !g.count:
			if (g.before > 0 || g.after > 0) && last > 0 && n-len(held) > last+1 {
				fmt.Fprintln(g.c.Stdout, "--")
			}
			for i, h := range held {
				if err := g.print(name, n-len(held)+i, h, '-'); err != nil {
					return err
				}
			}
			held, last, left = nil, n, g.after
			if err := g.print(name, n, line, ':'); err != nil {
				return err
			}
		}
		if g.limit > 0 && hits >= g.limit {
			return io.EOF
		}
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case g.quiet:
	case g.files && hits > 0 || g.without && hits == 0:
		g.matched = true
		fmt.Fprintln(g.c.Stdout, name)
	case g.count:
		if g.prefix {
			fmt.Fprint(g.c.Stdout, name+":")
		}
		fmt.Fprintln(g.c.Stdout, hits)
	}
	return nil
}

func (g *grepper) print(name string, n int, line string, mark byte) error {
	var head strings.Builder
	if g.prefix {
		head.WriteString(name + string(mark))
	}
	if g.number {
		fmt.Fprintf(&head, "%d%c", n, mark)
	}
	if g.only && !g.invert {
		if mark != ':' {
			return nil
		}
		for _, m := range g.re.FindAllString(line, -1) {
			if m == "" {
				continue
			}
			if _, err := fmt.Fprintln(g.c.Stdout, head.String()+m); err != nil {
				return err
			}
		}
		return nil
	}
	if g.color && mark == ':' && !g.invert {
		line = g.re.ReplaceAllStringFunc(line, func(m string) string {
			if m == "" {
				return m
			}
			return "\x1b[1;31m" + m + "\x1b[0m"
		})
	}
	_, err := fmt.Fprintln(g.c.Stdout, head.String()+line)
	return err
}
