package tools

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func init() {
	register("wc", Tool{"[-lwcm] [FILE...]", "count lines, words and bytes", wc})
	register("uniq", Tool{"[-cdui] [FILE]", "drop repeated lines", uniq})
	register("cut", Tool{"-f LIST [-d CHAR] | -c LIST [FILE...]", "select columns of each line", cut})
	register("tr", Tool{"[-cds] SET1 [SET2]", "replace, squeeze or delete characters", tr})
	register("paste", Tool{"[-d CHAR] [-s] FILE...", "put lines of files side by side", paste})
	register("fold", Tool{"[-w COLUMNS] [FILE...]", "break long lines", fold})
	register("column", Tool{"[-t] [-s CHARS] [FILE...]", "align columns", column})
	register("shuf", Tool{"[-n NUM] [FILE]", "print lines in random order", shuf})
	register("comm", Tool{"[-123] FILE1 FILE2", "compare two sorted files", comm})
}

func wc(ctx context.Context, c *Call) error {
	f := c.flags()
	l, w := f.yes("lines", "l", "lines"), f.yes("words", "w", "words")
	b, m := f.yes("bytes", "c", "bytes"), f.yes("chars", "m", "characters")
	names, err := f.parse()
	if err != nil {
		return err
	}
	if !*l && !*w && !*b && !*m {
		*l, *w, *b = true, true, true
	}
	var total [4]int64
	show := func(n [4]int64, name string) {
		var cols []string
		for i, on := range []bool{*l, *w, *m, *b} {
			if on {
				cols = append(cols, strconv.FormatInt(n[i], 10))
			}
		}
		if len(cols) > 1 || name != "" && len(names) > 1 {
			for i := range cols {
				cols[i] = fmt.Sprintf("%7s", cols[i])
			}
		}
		fmt.Fprintln(c.Stdout, strings.TrimRight(join(cols)+" "+name, " "))
	}
	err = c.each(names, func(name string, r io.Reader) error {
		n, err := measure(r)
		if err != nil {
			return err
		}
		for i := range n {
			total[i] += n[i]
		}
		if len(names) == 0 {
			name = ""
		}
		show(n, name)
		return nil
	})
	if len(names) > 1 {
		show(total, "total")
	}
	return err
}

// measure counts lines, words, characters and bytes.
func measure(r io.Reader) (n [4]int64, err error) {
	buf := make([]byte, 64<<10)
	word := false
	for {
		k, err := r.Read(buf)
		for _, ch := range buf[:k] {
			if ch == '\n' {
				n[0]++
			}
			space := ch == ' ' || ch >= '\t' && ch <= '\r'
			if !space && !word {
				n[1]++
			}
			word = !space
			if utf8.RuneStart(ch) {
				n[2]++
			}
		}
		n[3] += int64(k)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

func uniq(ctx context.Context, c *Call) error {
	f := c.flags()
	cnt := f.yes("count", "c", "prefix lines by their number")
	dup := f.yes("repeated", "d", "only repeated lines")
	single := f.yes("unique", "u", "only lines that are not repeated")
	fold := f.yes("ignore-case", "i", "ignore case")
	names, err := f.parse()
	if err != nil {
		return err
	}
	last, n := "", 0
	flush := func() error {
		if n == 0 || *dup && n < 2 || *single && n > 1 {
			return nil
		}
		if *cnt {
			_, err := fmt.Fprintf(c.Stdout, "%7d %s\n", n, last)
			return err
		}
		_, err := fmt.Fprintln(c.Stdout, last)
		return err
	}
	err = c.each(names[:min(1, len(names))], func(_ string, r io.Reader) error {
		return lines(r, func(line string) error {
			if n > 0 && (line == last || *fold && strings.EqualFold(line, last)) {
				n++
				return nil
			}
			if err := flush(); err != nil {
				return err
			}
			last, n = line, 1
			return nil
		})
	})
	if err != nil {
		return err
	}
	return flush()
}

// ranges parses 1,3-5,7- into a test.
func ranges(list string) (func(i int) bool, error) {
	type span struct{ from, to int }
	var spans []span
	for part := range strings.SplitSeq(list, ",") {
		from, to, dash := strings.Cut(part, "-")
		s := span{1, 1 << 30}
		var err error
		if from != "" {
			s.from, err = strconv.Atoi(from)
		}
		if err == nil && !dash {
			s.to = s.from
		} else if err == nil && to != "" {
			s.to, err = strconv.Atoi(to)
		}
		if err != nil || s.from < 1 || part == "" || part == "-" {
			return nil, usagef("invalid list: %q", list)
		}
		spans = append(spans, s)
	}
	return func(i int) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return s.from <= i && i <= s.to })
	}, nil
}

func cut(ctx context.Context, c *Call) error {
	f := c.flags()
	fields := f.StringP("fields", "f", "", "fields, e.g. 1,3-5")
	chars := f.StringP("characters", "c", "", "characters")
	bytes := f.StringP("bytes", "b", "", "bytes")
	delim := f.StringP("delimiter", "d", "\t", "what separates fields")
	only := f.yes("only-delimited", "s", "skip lines without the delimiter")
	out := f.String("output-delimiter", "", "what to put between fields")
	invert := f.yes("complement", "", "all but those")
	names, err := f.parse()
	if err != nil {
		return err
	}
	list := *fields + *chars + *bytes
	if list == "" {
		return usagef("say which fields with -f or which characters with -c")
	}
	in, err := ranges(list)
	if err != nil {
		return err
	}
	sep := *delim
	if *out != "" {
		sep = *out
	}
	return c.each(names, func(_ string, r io.Reader) error {
		return lines(r, func(line string) error {
			var kept []string
			if *fields == "" {
				i := 0
				for _, ch := range line {
					if i++; in(i) != *invert {
						kept = append(kept, string(ch))
					}
				}
				_, err := fmt.Fprintln(c.Stdout, strings.Join(kept, ""))
				return err
			}
			if !strings.Contains(line, *delim) {
				if *only {
					return nil
				}
				_, err := fmt.Fprintln(c.Stdout, line)
				return err
			}
			for i, field := range strings.Split(line, *delim) {
				if in(i+1) != *invert {
					kept = append(kept, field)
				}
			}
			_, err := fmt.Fprintln(c.Stdout, strings.Join(kept, sep))
			return err
		})
	})
}

var classes = map[string]func(rune) bool{
	"alpha": unicode.IsLetter, "digit": unicode.IsDigit, "space": unicode.IsSpace, "upper": unicode.IsUpper,
	"lower": unicode.IsLower, "punct": func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) },
	"alnum": func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) },
	"cntrl": unicode.IsControl, "print": unicode.IsPrint, "blank": func(r rune) bool { return r == ' ' || r == '\t' },
	"xdigit": func(r rune) bool { return r < 128 && strings.ContainsRune("0123456789abcdefABCDEF", r) },
}

// set expands a-z, [:upper:] and \n of tr.
func set(text string) ([]rune, error) {
	var out []rune
	in := []rune(text)
	for i := 0; i < len(in); i++ {
		if in[i] == '[' && i+1 < len(in) && in[i+1] == ':' {
			if end := strings.Index(string(in[i+2:]), ":]"); end >= 0 {
				class, ok := classes[string(in[i+2:])[:end]]
				if !ok {
					return nil, usagef("unknown class in %q", text)
				}
				for r := rune(0); r < 256; r++ {
					if class(r) {
						out = append(out, r)
					}
				}
				i += end + 3
				continue
			}
		}
		r := in[i]
		if r == '\\' && i+1 < len(in) {
			i++
			r = in[i]
			if k := strings.IndexRune("ntr0", r); k >= 0 {
				r = []rune("\n\t\r\x00")[k]
			}
		}
		if i+2 < len(in) && in[i+1] == '-' {
			for to := in[i+2]; r <= to && len(out) < 70000; r++ {
				out = append(out, r)
			}
			i += 2
			continue
		}
		out = append(out, r)
	}
	return out, nil
}

func tr(ctx context.Context, c *Call) error {
	f := c.flags().first()
	del, squeeze := f.yes("delete", "d", "delete characters of SET1"), f.yes("squeeze-repeats", "s", "one for a run of the same")
	comp := f.yes("complement", "c", "characters that are not in SET1")
	comp2 := f.yes("", "C", "like -c")
	args, err := f.parse()
	if err != nil {
		return err
	}
	if len(args) == 0 || len(args) > 2 || len(args) == 1 && !*del && !*squeeze {
		return usagef("needs SET1 and SET2")
	}
	one, err := set(args[0])
	if err != nil {
		return err
	}
	var two []rune
	if len(args) == 2 {
		if two, err = set(args[1]); err != nil {
			return err
		}
	}
	not := *comp || *comp2
	has := func(r rune) bool { return slices.Contains(one, r) != not }
	last := rune(-1)
	in := bufio.NewReader(c.stdin())
	return c.buffered(func(w *bufio.Writer) error {
		for {
			r, size, err := in.ReadRune()
			if err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			hit := has(r)
			if hit && *del {
				continue
			}
			if hit && len(two) > 0 {
				i := len(two) - 1
				if !not {
					i = min(i, slices.Index(one, r))
				}
				r = two[i]
			}
			if *squeeze && r == last && (hit || slices.Contains(two, r)) {
				continue
			}
			last = r
			if r == utf8.RuneError && size == 1 {
				in.UnreadRune()
				b, _ := in.ReadByte()
				w.WriteByte(b)
				continue
			}
			w.WriteRune(r)
			if r == '\n' && in.Buffered() == 0 {
				if err := w.Flush(); err != nil {
					return err
				}
			}
		}
	})
}

func paste(ctx context.Context, c *Call) error {
	f := c.flags()
	delim := f.StringP("delimiters", "d", "\t", "put between lines")
	serial := f.yes("serial", "s", "one line of output per file")
	names, err := f.parse()
	if err != nil {
		return err
	}
	var all [][]string
	err = c.each(names, func(_ string, r io.Reader) error {
		var ls []string
		err := lines(io.LimitReader(r, maxText), func(l string) error { ls = append(ls, l); return nil })
		all = append(all, ls)
		return err
	})
	if err != nil {
		return err
	}
	if *serial {
		for _, ls := range all {
			fmt.Fprintln(c.Stdout, strings.Join(ls, *delim))
		}
		return nil
	}
	rows := 0
	for _, ls := range all {
		rows = max(rows, len(ls))
	}
	for i := range rows {
		row := make([]string, len(all))
		for j, ls := range all {
			if i < len(ls) {
				row[j] = ls[i]
			}
		}
		if _, err := fmt.Fprintln(c.Stdout, strings.Join(row, *delim)); err != nil {
			return err
		}
	}
	return nil
}

func fold(ctx context.Context, c *Call) error {
	f := c.flags()
	width := f.IntP("width", "w", 80, "columns")
	f.yes("spaces", "s", "ignored")
	names, err := f.parse()
	if err != nil {
		return err
	}
	if *width < 1 {
		return usagef("invalid width %d", *width)
	}
	return c.each(names, func(_ string, r io.Reader) error {
		return lines(r, func(line string) error {
			runes := []rune(line)
			for len(runes) > *width {
				if _, err := fmt.Fprintln(c.Stdout, string(runes[:*width])); err != nil {
					return err
				}
				runes = runes[*width:]
			}
			_, err := fmt.Fprintln(c.Stdout, string(runes))
			return err
		})
	})
}

func column(ctx context.Context, c *Call) error {
	f := c.flags()
	f.yes("table", "t", "align columns")
	sep := f.StringP("separator", "s", "", "characters that separate columns")
	out := f.StringP("output-separator", "o", "  ", "what to put between columns")
	names, err := f.parse()
	if err != nil {
		return err
	}
	var rows [][]string
	err = c.each(names, func(_ string, r io.Reader) error {
		return lines(io.LimitReader(r, maxText), func(line string) error {
			if *sep == "" {
				rows = append(rows, strings.Fields(line))
			} else {
				rows = append(rows, strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(*sep, r) }))
			}
			return nil
		})
	})
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	return errorsFirst(err, c.buffered(func(w *bufio.Writer) error {
		for _, row := range rows {
			for i, cell := range row {
				w.WriteString(cell)
				if i < len(row)-1 {
					w.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)) + *out)
				}
			}
			w.WriteByte('\n')
		}
		return nil
	}))
}

func errorsFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
