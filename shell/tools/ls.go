package tools

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

func init() {
	register("ls", Tool{"[-aAl1hrtSRdF] [FILE...]", "list folders", ls})
	register("tree", Tool{"[-a] [-L DEPTH] [FOLDER...]", "list folders as a tree", tree})
	register("stat", Tool{"[-c FORMAT] FILE...", "show a file's size, mode and times", stat})
	register("du", Tool{"[-sh] [FILE...]", "show how much space files take", du})
}

type lister struct {
	c                                                *Call
	w                                                *bufio.Writer
	all, almost, long, one, human, dirs, mark, color bool
	less                                             func(a, b fs.FileInfo) int
	reverse                                          bool
}

func ls(ctx context.Context, c *Call) error {
	f := c.flags()
	l := &lister{c: c}
	f.BoolVarP(&l.all, "all", "a", false, "also names that start with a dot")
	f.BoolVarP(&l.almost, "almost-all", "A", false, "like -a, without . and ..")
	f.BoolVarP(&l.long, "long", "l", false, "mode, size and time")
	f.BoolVarP(&l.one, "one", "1", false, "one name per line")
	f.BoolVarP(&l.human, "human-readable", "h", false, "sizes as 2.5K")
	f.BoolVarP(&l.dirs, "directory", "d", false, "folders themselves")
	f.BoolVarP(&l.mark, "classify", "F", false, "mark folders, links and programs")
	f.BoolVarP(&l.reverse, "reverse", "r", false, "reverse the order")
	byTime, bySize := f.yes("", "t", "newest first"), f.yes("", "S", "largest first")
	deep := f.yes("recursive", "R", "also folders in folders")
	color := f.String("color", "auto", "always, never or auto")
	f.Lookup("color").NoOptDefVal = "always"
	names, err := f.parse()
	if err != nil {
		return err
	}
	l.less = func(a, b fs.FileInfo) int { return cmp.Compare(a.Name(), b.Name()) }
	if *byTime {
		l.less = func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) }
	}
	if *bySize {
		l.less = func(a, b fs.FileInfo) int { return cmp.Compare(b.Size(), a.Size()) }
	}
	l.color = *color == "always" || *color == "auto" && terminal(c.Stdout)
	if !terminal(c.Stdout) {
		l.one = true
	}
	if len(names) == 0 {
		names = []string{"."}
	}
	return c.buffered(func(w *bufio.Writer) error {
		l.w = w
		return l.run(names, *deep)
	})
}

func (l *lister) run(names []string, deep bool) error {
	var failed error
	var files []entry
	var dirs []string
	for _, name := range names {
		fi, err := l.c.Host.FS.Stat(l.c.path(name))
		if err != nil {
			if fi, err = l.c.Host.FS.Lstat(l.c.path(name)); err != nil {
				l.c.warn(typed(name, err))
				failed = BadUsage
				continue
			}
		}
		if fi.IsDir() && !l.dirs {
			dirs = append(dirs, name)
		} else {
			files = append(files, entry{fi, name, ""})
		}
	}
	l.print(files, "")
	for i := 0; i < len(dirs); i++ {
		if len(names) > 1 || deep {
			if i > 0 || len(files) > 0 {
				fmt.Fprintln(l.w)
			}
			fmt.Fprintf(l.w, "%s:\n", dirs[i])
		}
		found, err := l.folder(dirs[i])
		if err != nil {
			l.c.warn(typed(dirs[i], err))
			failed = BadUsage
			continue
		}
		if l.long {
			l.total(found)
		}
		l.print(found, dirs[i])
		if deep && len(dirs) < 10000 {
			for _, e := range found {
				if e.IsDir() && e.shown != "." && e.shown != ".." {
					dirs = append(dirs, path.Join(dirs[i], e.shown))
				}
			}
		}
	}
	return failed
}

type entry struct {
	fs.FileInfo
	shown string
	link  string
}

func (l *lister) folder(dir string) ([]entry, error) {
	ds, err := l.c.Host.FS.ReadDir(l.c.path(dir))
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, d := range ds {
		if strings.HasPrefix(d.Name(), ".") && !l.all && !l.almost {
			continue
		}
		fi, err := d.Info()
		if err != nil {
			continue // gone meanwhile
		}
		e := entry{fi, fi.Name(), ""}
		if fi.Mode()&fs.ModeSymlink != 0 {
			e.link, _ = l.c.Host.FS.Readlink(l.c.path(path.Join(dir, fi.Name())))
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		if n := l.less(a, b); n != 0 {
			return n
		}
		return cmp.Compare(a.shown, b.shown)
	})
	if l.reverse {
		slices.Reverse(all)
	}
	if l.all {
		var dots []entry
		for _, name := range []string{".", ".."} {
			if fi, err := l.c.Host.FS.Stat(path.Clean(l.c.path(dir) + "/" + name)); err == nil {
				dots = append(dots, entry{fi, name, ""})
			}
		}
		all = append(dots, all...)
	}
	return all, nil
}

// total is the line above a long list: the space that it takes, in KiB or as -h says.
func (l *lister) total(all []entry) {
	n := int64(0)
	for _, e := range all {
		if e.Mode().IsRegular() || e.IsDir() {
			n += (e.Size() + 4095) / 4096 * 4096
		}
	}
	text := fmt.Sprint(n / 1024)
	if l.human {
		text = human(n)
	}
	fmt.Fprintln(l.w, "total "+text)
}

func (l *lister) print(all []entry, dir string) {
	if len(all) == 0 {
		return
	}
	if l.long {
		width := 1
		for _, e := range all {
			width = max(width, len(l.size(e.Size())))
		}
		for _, e := range all {
			name := l.paint(e)
			if e.link != "" {
				name += " -> " + e.link
			}
			fmt.Fprintf(l.w, "%s 1 learner learner %*s %s %s\n", mode(e.Mode()), width, l.size(e.Size()), when(e.ModTime()), name)
		}
		return
	}
	if l.one {
		for _, e := range all {
			fmt.Fprintln(l.w, l.paint(e))
		}
		return
	}
	cols := 80
	if l.c.Host.Size != nil {
		if c, _ := l.c.Host.Size(); c > 0 {
			cols = c
		}
	}
	width := 0
	for _, e := range all {
		width = max(width, utf8.RuneCountInString(e.shown)+2)
	}
	per := max(1, cols/width)
	rows := (len(all) + per - 1) / per
	for r := range rows {
		for i := r; i < len(all); i += rows {
			l.w.WriteString(l.paint(all[i]))
			if i+rows < len(all) {
				l.w.WriteString(strings.Repeat(" ", width-utf8.RuneCountInString(all[i].shown)))
			}
		}
		fmt.Fprintln(l.w)
	}
}

func (l *lister) paint(e entry) string {
	code, mark := "", ""
	switch {
	case e.IsDir():
		code, mark = "1;34", "/"
	case e.Mode()&fs.ModeSymlink != 0:
		code, mark = "1;36", "@"
	case e.Mode()&0o111 != 0:
		code, mark = "1;32", "*"
	}
	if !l.mark {
		mark = ""
	}
	if !l.color || code == "" {
		return e.shown + mark
	}
	return "\x1b[" + code + "m" + e.shown + "\x1b[0m" + mark
}

func (l *lister) size(n int64) string {
	if l.human {
		return human(n)
	}
	return fmt.Sprint(n)
}

// human is a size of at most four characters, as 512, 2.5K, 31M.
func human(n int64) string {
	f, unit := float64(n), ""
	for _, u := range []string{"K", "M", "G", "T"} {
		if f < 1024 {
			break
		}
		f, unit = f/1024, u
	}
	if unit == "" || f >= 10 {
		return fmt.Sprintf("%.0f%s", f, unit)
	}
	return fmt.Sprintf("%.1f%s", f, unit)
}

// mode is the usual ten characters.
func mode(m fs.FileMode) string {
	kind := "-"
	switch {
	case m.IsDir():
		kind = "d"
	case m&fs.ModeSymlink != 0:
		kind = "l"
	case m&fs.ModeNamedPipe != 0:
		kind = "p"
	case m&fs.ModeCharDevice != 0:
		kind = "c"
	}
	return kind + m.Perm().String()[1:]
}

func when(t time.Time) string {
	if time.Since(t) > 180*24*time.Hour {
		return t.Format("Jan _2  2006")
	}
	return t.Format("Jan _2 15:04")
}

func tree(ctx context.Context, c *Call) error {
	f := c.flags()
	all := f.yes("", "a", "also names that start with a dot")
	depth := f.IntP("level", "L", 100, "how deep")
	only := f.yes("", "d", "only folders")
	names, err := f.parse()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = []string{"."}
	}
	dirs, files := 0, 0
	return c.buffered(func(w *bufio.Writer) error {
		var show func(dir, indent string, level int)
		show = func(dir, indent string, level int) {
			entries, err := c.Host.FS.ReadDir(c.path(dir))
			if err != nil || level >= *depth {
				return
			}
			entries = slices.DeleteFunc(entries, func(d fs.DirEntry) bool {
				return !*all && strings.HasPrefix(d.Name(), ".") || *only && !d.IsDir()
			})
			for i, d := range entries {
				branch, below := "├── ", "│   "
				if i == len(entries)-1 {
					branch, below = "└── ", "    "
				}
				fmt.Fprintln(w, indent+branch+d.Name())
				if d.IsDir() {
					dirs++
					show(path.Join(dir, d.Name()), indent+below, level+1)
				} else {
					files++
				}
			}
		}
		for _, name := range names {
			if _, err := c.Host.FS.Stat(c.path(name)); err != nil {
				return typed(name, err)
			}
			fmt.Fprintln(w, name)
			show(name, "", 0)
		}
		folders := "1 directory"
		if dirs != 1 {
			folders = fmt.Sprintf("%d directories", dirs)
		}
		fmt.Fprintf(w, "\n%s, %s\n", folders, counted(files, "file"))
		return nil
	})
}

func stat(ctx context.Context, c *Call) error {
	f := c.flags()
	format := f.StringP("format", "c", "", "%n name, %s size, %a mode, %A mode, %y time, %Y seconds, %F kind")
	names, err := f.parse()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return usagef("needs a file")
	}
	var failed error
	for _, name := range names {
		fi, err := c.Host.FS.Lstat(c.path(name))
		if err != nil {
			c.warn(typed(name, err))
			failed = Failed
			continue
		}
		kind := "regular file"
		switch {
		case fi.IsDir():
			kind = "directory"
		case fi.Mode()&fs.ModeSymlink != 0:
			kind = "symbolic link"
		case fi.Mode()&fs.ModeDevice != 0:
			kind = "character special file"
		case fi.Size() == 0:
			kind = "regular empty file"
		}
		t := fi.ModTime().Format("2006-01-02 15:04:05.000000000 -0700")
		if *format != "" {
			fmt.Fprintln(c.Stdout, strings.NewReplacer("%n", name, "%s", fmt.Sprint(fi.Size()), "%a", fmt.Sprintf("%o", fi.Mode().Perm()),
				"%A", mode(fi.Mode()), "%y", t, "%Y", fmt.Sprint(fi.ModTime().Unix()), "%F", kind, "%U", "learner", "%G", "learner", "%%", "%").Replace(*format))
			continue
		}
		fmt.Fprintf(c.Stdout, "  File: %s\n  Size: %d\t%s\nAccess: (%04o/%s)\nModify: %s\n", name, fi.Size(), kind, fi.Mode().Perm(), mode(fi.Mode()), t)
	}
	return failed
}

func du(ctx context.Context, c *Call) error {
	f := c.flags()
	sum, h := f.yes("summarize", "s", "only a total for each name"), f.yes("human-readable", "h", "sizes as 2.5K")
	names, err := f.parse()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = []string{"."}
	}
	show := func(n int64, name string) {
		text := fmt.Sprint((n + 1023) / 1024)
		if *h {
			text = human(n)
		}
		fmt.Fprintf(c.Stdout, "%s\t%s\n", text, name)
	}
	for _, name := range names {
		sizes := map[string]int64{}
		var order []string
		err := c.walk(name, func(p string, d fs.DirEntry) error {
			if d.IsDir() {
				order = append(order, p)
			}
			if fi, err := d.Info(); err == nil {
				for dir := p; ; dir = path.Dir(dir) {
					sizes[dir] += (fi.Size() + 4095) / 4096 * 4096
					if dir == name || len(dir) <= len(name) {
						break
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if !*sum {
			for _, dir := range slices.Backward(order) {
				if dir != name {
					show(sizes[dir], dir)
				}
			}
		}
		show(sizes[name], name)
	}
	return nil
}
