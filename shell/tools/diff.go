package tools

import (
	"bufio"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

func init() {
	register("diff", Tool{"[-uqrNiwbB] [-U NUM] FILE1 FILE2", "show how two files differ", diff})
	register("cmp", Tool{"[-s] FILE1 FILE2", "tell whether two files are the same", cmpFiles})
}

type differ struct {
	c                            *Call
	w                            *bufio.Writer
	unified, quiet, absent       bool
	fold, spaces, changes, color bool
	context                      int
	differs                      bool
}

func diff(ctx context.Context, c *Call) error {
	f := c.flags()
	u := f.yes("unified", "u", "with lines around")
	un := f.IntP("unified-lines", "U", -1, "with NUM lines around")
	q := f.yes("brief", "q", "only whether they differ")
	r := f.yes("recursive", "r", "compare folders")
	n := f.yes("new-file", "N", "a file that is missing is empty")
	i := f.yes("ignore-case", "i", "ignore case")
	ws, wb := f.yes("ignore-all-space", "w", "ignore blanks"), f.yes("ignore-space-change", "b", "ignore how many blanks")
	f.yes("ignore-blank-lines", "B", "ignored")
	f.yes("text", "a", "ignored: always")
	color := f.String("color", "never", "always, never or auto")
	f.Lookup("color").NoOptDefVal = "auto"
	args, err := f.parse()
	if err != nil {
		return err
	}
	if len(args) != 2 {
		return usagef("needs two files")
	}
	d := &differ{c: c, unified: *u || *un >= 0, quiet: *q, absent: *n, fold: *i, spaces: *ws, changes: *wb, context: 3}
	d.color = *color == "always" || *color == "auto" && terminal(c.Stdout)
	if *un >= 0 {
		d.context = *un
	}
	err = c.buffered(func(w *bufio.Writer) error {
		d.w = w
		return d.compare(args[0], args[1], *r, "diff "+join(c.Args))
	})
	if err != nil {
		c.warn(err)
		return BadUsage
	}
	if d.differs {
		return Failed
	}
	return nil
}

func (d *differ) isDir(name string) bool {
	if name == "-" {
		return false
	}
	fi, err := d.c.Host.FS.Stat(d.c.path(name))
	return err == nil && fi.IsDir()
}

func (d *differ) compare(a, b string, deep bool, title string) error {
	da, db := d.isDir(a), d.isDir(b)
	switch {
	case da && db:
		return d.folders(a, b, deep)
	case da:
		a = path.Join(a, path.Base(b))
	case db:
		b = path.Join(b, path.Base(a))
	}
	one, err := d.read(a)
	if err != nil {
		return err
	}
	two, err := d.read(b)
	if err != nil {
		return err
	}
	edits := Edits(one, two, d.same)
	if !slices.ContainsFunc(edits, func(e Edit) bool { return e.Kind != ' ' }) {
		return nil
	}
	d.differs = true
	if d.quiet {
		_, err := fmt.Fprintf(d.w, "Files %s and %s differ\n", a, b)
		return err
	}
	if d.unified {
		fmt.Fprintf(d.w, "--- %s\n+++ %s\n", d.title(a), d.title(b))
		d.hunks(edits)
		return nil
	}
	d.normal(edits)
	return nil
}

func (d *differ) title(name string) string {
	fi, err := d.c.Host.FS.Stat(d.c.path(name))
	if err != nil {
		return name
	}
	return name + "\t" + fi.ModTime().Format("2006-01-02 15:04:05.000000000 -0700")
}

func (d *differ) folders(a, b string, deep bool) error {
	names := map[string]int{}
	for i, dir := range []string{a, b} {
		entries, err := d.c.Host.FS.ReadDir(d.c.path(dir))
		if err != nil {
			return typed(dir, err)
		}
		for _, e := range entries {
			names[e.Name()] |= 1 << i
		}
	}
	var all []string
	for n := range names {
		all = append(all, n)
	}
	slices.Sort(all)
	for _, n := range all {
		one, two := path.Join(a, n), path.Join(b, n)
		if names[n] != 3 && !d.absent {
			d.differs = true
			fmt.Fprintf(d.w, "Only in %s: %s\n", []string{a, b}[names[n]-1], n)
			continue
		}
		if (d.isDir(one) || d.isDir(two)) && !deep {
			fmt.Fprintf(d.w, "Common subdirectories: %s and %s\n", one, two)
			continue
		}
		var part strings.Builder
		w := d.w
		d.w = bufio.NewWriter(&part)
		err := d.compare(one, two, deep, "")
		d.w.Flush()
		d.w = w
		if err != nil {
			return err
		}
		if part.Len() > 0 && !d.quiet && !d.isDir(one) {
			fmt.Fprintf(d.w, "diff %s %s %s\n", join(slices.DeleteFunc(slices.Clone(d.c.Args), func(s string) bool { return !strings.HasPrefix(s, "-") })), one, two)
		}
		d.w.WriteString(part.String())
	}
	return nil
}

func (d *differ) read(name string) ([]string, error) {
	r, err := d.c.open(name)
	if err != nil {
		if d.absent && isNotExist(err) {
			return nil, nil
		}
		return nil, err
	}
	defer r.Close()
	data, err := readAll(r)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	all := strings.SplitAfter(string(data), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all, nil
}

func (d *differ) same(a, b string) bool {
	switch {
	case a == b:
		return true
	case d.spaces:
		a, b = strings.Join(strings.Fields(a), ""), strings.Join(strings.Fields(b), "")
	case d.changes:
		a, b = join(strings.Fields(a)), join(strings.Fields(b))
	}
	return a == b || d.fold && strings.EqualFold(a, b)
}

func (d *differ) line(kind byte, prefix, text string) {
	if d.color && kind != ' ' {
		code := "32"
		if kind == '-' {
			code = "31"
		}
		body := strings.TrimSuffix(text, "\n")
		text = "\x1b[" + code + "m" + prefix + body + "\x1b[0m" + text[len(body):]
		prefix = ""
	}
	d.w.WriteString(prefix + text)
	if !strings.HasSuffix(text, "\n") {
		d.w.WriteString("\n\\ No newline at end of file\n")
	}
}

// hunks prints the unified form.
func (d *differ) hunks(edits []Edit) {
	for i := 0; i < len(edits); {
		if edits[i].Kind == ' ' {
			i++
			continue
		}
		start := max(0, i-d.context)
		end := i
		for j, quiet := i, 0; j < len(edits) && quiet <= 2*d.context; j++ {
			if edits[j].Kind == ' ' {
				quiet++
			} else {
				quiet, end = 0, j
			}
		}
		stop := min(len(edits), end+1+d.context)
		na, nb := 0, 0
		for _, e := range edits[start:stop] {
			if e.Kind != '+' {
				na++
			}
			if e.Kind != '-' {
				nb++
			}
		}
		fmt.Fprintf(d.w, "@@ -%s +%s @@\n", span(edits[start].A, na), span(edits[start].B, nb))
		for _, e := range edits[start:stop] {
			d.line(e.Kind, string(e.Kind), e.Text)
		}
		i = stop
	}
}

func span(at, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", at)
	case 1:
		return fmt.Sprint(at + 1)
	}
	return fmt.Sprintf("%d,%d", at+1, n)
}

// normal prints the form without options.
func (d *differ) normal(edits []Edit) {
	lines := func(at, n int) string {
		if n == 0 {
			return fmt.Sprint(at)
		}
		if n == 1 {
			return fmt.Sprint(at + 1)
		}
		return fmt.Sprintf("%d,%d", at+1, at+n)
	}
	for i := 0; i < len(edits); i++ {
		if edits[i].Kind == ' ' {
			continue
		}
		start := i
		var del, add []string
		for ; i < len(edits) && edits[i].Kind != ' '; i++ {
			if edits[i].Kind == '-' {
				del = append(del, edits[i].Text)
			} else {
				add = append(add, edits[i].Text)
			}
		}
		kind := "c"
		if len(del) == 0 {
			kind = "a"
		} else if len(add) == 0 {
			kind = "d"
		}
		fmt.Fprintf(d.w, "%s%s%s\n", lines(edits[start].A, len(del)), kind, lines(edits[start].B, len(add)))
		for _, l := range del {
			d.line('-', "< ", l)
		}
		if kind == "c" {
			d.w.WriteString("---\n")
		}
		for _, l := range add {
			d.line('+', "> ", l)
		}
	}
}

func cmpFiles(ctx context.Context, c *Call) error {
	f := c.flags()
	silent := f.yes("silent", "s", "only the exit status")
	args, err := f.parse()
	if err != nil {
		return err
	}
	if len(args) != 2 {
		return usagef("needs two files")
	}
	var data [2][]byte
	for i, name := range args {
		r, err := c.open(name)
		if err != nil {
			return err
		}
		data[i], err = readAll(r)
		r.Close()
		if err != nil {
			return err
		}
	}
	for i := range min(len(data[0]), len(data[1])) {
		if data[0][i] != data[1][i] {
			if !*silent {
				fmt.Fprintf(c.Stdout, "%s %s differ: byte %d, line %d\n", args[0], args[1], i+1, 1+strings.Count(string(data[0][:i]), "\n"))
			}
			return Failed
		}
	}
	if len(data[0]) == len(data[1]) {
		return nil
	}
	if !*silent {
		short := 0
		if len(data[1]) < len(data[0]) {
			short = 1
		}
		fmt.Fprintf(c.Stderr, "cmp: EOF on %s\n", args[short])
	}
	return Failed
}
