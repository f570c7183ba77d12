package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/apilab/apilab/shell/vfs"
)

func init() {
	register("cp", Tool{"[-rapfv] SOURCE... TARGET", "copy files", cp})
	register("mv", Tool{"[-fnv] SOURCE... TARGET", "move or rename files", mv})
	register("rm", Tool{"[-rfv] FILE...", "remove files", rm})
	register("mkdir", Tool{"[-pv] [-m MODE] FOLDER...", "make folders", mkdir})
	register("rmdir", Tool{"FOLDER...", "remove empty folders", rmdir})
	register("touch", Tool{"[-c] [-d TIME] FILE...", "make files, or set their time to now", touch})
	register("ln", Tool{"[-sfv] TARGET NAME", "make links", ln})
	register("chmod", Tool{"[-R] MODE FILE...", "change who may read, write and run", chmod})
	register("basename", Tool{"NAME [SUFFIX]", "print the last part of a name", basename})
	register("dirname", Tool{"NAME...", "print all but the last part of a name", dirname})
	register("realpath", Tool{"NAME...", "print the absolute name", realpath})
	register("readlink", Tool{"[-f] NAME...", "print what a link points to", readlink})
	register("mktemp", Tool{"[-d] [TEMPLATE]", "make a file with a new name in /tmp", mktemp})
}

// target resolves the last operand of cp and mv: in it if it is a folder, else itself.
func (c *Call) target(names []string) (func(from string) string, []string, error) {
	if len(names) < 2 {
		return nil, nil, usagef("needs a source and a target")
	}
	to, from := names[len(names)-1], names[:len(names)-1]
	fi, err := c.Host.FS.Stat(c.path(to))
	if err == nil && fi.IsDir() {
		return func(f string) string { return path.Join(to, path.Base(c.path(f))) }, from, nil
	}
	if len(from) > 1 || strings.HasSuffix(to, "/") {
		return nil, nil, &fs.PathError{Op: "open", Path: to, Err: syscall.ENOTDIR}
	}
	return func(string) string { return to }, from, nil
}

func cp(ctx context.Context, c *Call) error {
	f := c.flags()
	r, r2, a := f.yes("recursive", "r", "folders too"), f.yes("", "R", "like -r"), f.yes("archive", "a", "like -r, keeping times")
	keep := f.yes("preserve", "p", "keep times")
	verbose := f.yes("verbose", "v", "say what is done")
	noClobber := f.yes("no-clobber", "n", "never overwrite")
	f.yes("force", "f", "ignored: always")
	names, err := f.parse()
	if err != nil {
		return err
	}
	to, from, err := c.target(names)
	if err != nil {
		return err
	}
	deep := *r || *r2 || *a
	var failed error
	for _, name := range from {
		fi, err := c.Host.FS.Stat(c.path(name))
		if err == nil && fi.IsDir() && !deep {
			err = fmt.Errorf("-r not specified; omitting directory '%s'", name)
		}
		if err == nil && fi.IsDir() && within(c.path(to(name)), c.path(name)) {
			err = fmt.Errorf("cannot copy a directory, '%s', into itself, '%s'", name, to(name))
		}
		if err == nil {
			err = c.copy(ctx, name, to(name), *keep || *a, *noClobber, *verbose)
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.warn(typed2(name, err))
			failed = Failed
		}
	}
	return failed
}

func within(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// typed2 names the file as typed if the error is about it.
func typed2(name string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) && strings.HasSuffix(pe.Path, "/"+path.Base(name)) {
		return typed(name, err)
	}
	return err
}

func (c *Call) copy(ctx context.Context, from, to string, keep, noClobber, verbose bool) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	v := c.Host.FS
	src, dst := c.path(from), c.path(to)
	li, err := v.Lstat(src)
	if err != nil {
		return err
	}
	if verbose {
		fmt.Fprintf(c.Stdout, "'%s' -> '%s'\n", from, to)
	}
	if li.IsDir() {
		if err := v.Mkdir(dst, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		entries, err := v.ReadDir(src)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := c.copy(ctx, path.Join(from, e.Name()), path.Join(to, e.Name()), keep, noClobber, verbose); err != nil {
				return err
			}
		}
		return nil
	}
	if old, err := v.Stat(dst); err == nil {
		if noClobber {
			return nil
		}
		if fi, err := v.Stat(src); err == nil && os.SameFile(old, fi) {
			return fmt.Errorf("'%s' and '%s' are the same file", from, to)
		}
	}
	if li.Mode()&fs.ModeSymlink != 0 && keep {
		target, err := v.Readlink(src)
		if err != nil {
			return err
		}
		return v.Symlink(target, dst)
	}
	in, err := v.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := v.Create(dst, li.Mode().Perm()&0o777|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, ctxReader{ctx, in})
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	if keep {
		return v.Chtimes(dst, li.ModTime(), li.ModTime())
	}
	return nil
}

// ctxReader ends with its context.
type ctxReader struct {
	ctx context.Context
	io.Reader
}

func (r ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

func mv(ctx context.Context, c *Call) error {
	f := c.flags()
	verbose, noClobber := f.yes("verbose", "v", "say what is done"), f.yes("no-clobber", "n", "never overwrite")
	f.yes("force", "f", "ignored: always")
	names, err := f.parse()
	if err != nil {
		return err
	}
	to, from, err := c.target(names)
	if err != nil {
		return err
	}
	var failed error
	for _, name := range from {
		dst := to(name)
		if _, err := c.Host.FS.Lstat(c.path(dst)); err == nil && *noClobber {
			continue
		}
		err := c.Host.FS.Rename(c.path(name), c.path(dst))
		if err != nil {
			c.warn(typed(name, err))
			failed = Failed
		} else if *verbose {
			fmt.Fprintf(c.Stdout, "renamed '%s' -> '%s'\n", name, dst)
		}
	}
	return failed
}

func rm(ctx context.Context, c *Call) error {
	f := c.flags()
	r, r2 := f.yes("recursive", "r", "folders with all in them"), f.yes("", "R", "like -r")
	force, verbose := f.yes("force", "f", "no error for what is not there"), f.yes("verbose", "v", "say what is done")
	dir := f.yes("dir", "d", "empty folders")
	names, err := f.parse()
	if err != nil {
		return err
	}
	if len(names) == 0 && !*force {
		return usagef("needs a file")
	}
	var failed error
	for _, name := range names {
		li, err := c.Host.FS.Lstat(c.path(name))
		switch {
		case err == nil && li.IsDir() && !*r && !*r2 && !*dir:
			err = &fs.PathError{Op: "remove", Path: name, Err: syscall.EISDIR}
		case err == nil && (*r || *r2):
			err = c.Host.FS.RemoveAll(c.path(name))
		case err == nil:
			err = c.Host.FS.Remove(c.path(name))
		case isNotExist(err) && *force:
			continue
		}
		if err != nil {
			c.warn(typed(name, err))
			failed = Failed
		} else if *verbose {
			fmt.Fprintf(c.Stdout, "removed '%s'\n", name)
		}
	}
	return failed
}

// all runs an operation for each name, and goes on after errors.
func (c *Call) all(names []string, do func(name string) error) error {
	if len(names) == 0 {
		return usagef("needs a name")
	}
	var failed error
	for _, name := range names {
		if err := do(name); err != nil {
			c.warn(typed(name, err))
			failed = Failed
		}
	}
	return failed
}

func mkdir(ctx context.Context, c *Call) error {
	f := c.flags()
	parents, verbose := f.yes("parents", "p", "also those above, and no error if there"), f.yes("verbose", "v", "say what is done")
	m := f.StringP("mode", "m", "755", "mode")
	names, err := f.parse()
	if err != nil {
		return err
	}
	perm, err := strconv.ParseUint(*m, 8, 12)
	if err != nil {
		return usagef("invalid mode: %q", *m)
	}
	return c.all(names, func(name string) error {
		do := c.Host.FS.Mkdir
		if *parents {
			do = c.Host.FS.MkdirAll
			if fi, err := c.Host.FS.Stat(c.path(name)); err == nil && fi.IsDir() {
				return nil
			}
		}
		if err := do(c.path(name), fs.FileMode(perm)&0o777); err != nil {
			return err
		}
		if *verbose {
			fmt.Fprintf(c.Stdout, "mkdir: created directory '%s'\n", name)
		}
		return nil
	})
}

func rmdir(ctx context.Context, c *Call) error {
	names, err := c.flags().parse()
	if err != nil {
		return err
	}
	return c.all(names, func(name string) error {
		if fi, err := c.Host.FS.Lstat(c.path(name)); err == nil && !fi.IsDir() {
			return &fs.PathError{Op: "rmdir", Path: name, Err: syscall.ENOTDIR}
		}
		return c.Host.FS.Remove(c.path(name))
	})
}

func touch(ctx context.Context, c *Call) error {
	f := c.flags()
	no := f.yes("no-create", "c", "make no files")
	d := f.StringP("date", "d", "", "time instead of now")
	names, err := f.parse()
	if err != nil {
		return err
	}
	t := time.Now()
	if *d != "" {
		if t, err = parseTime(*d); err != nil {
			return err
		}
	}
	return c.all(names, func(name string) error {
		v := c.Host.FS
		if _, err := v.Stat(c.path(name)); isNotExist(err) {
			if *no {
				return nil
			}
			out, err := v.OpenFile(c.path(name), os.O_WRONLY|os.O_CREATE, 0o644)
			if err != nil {
				return err
			}
			if err := out.Close(); err != nil {
				return err
			}
		}
		return v.Chtimes(c.path(name), t, t)
	})
}

func ln(ctx context.Context, c *Call) error {
	f := c.flags()
	s, force, verbose := f.yes("symbolic", "s", "a symbolic link"), f.yes("force", "f", "replace NAME"), f.yes("verbose", "v", "say what is done")
	f.yes("no-dereference", "n", "ignored")
	names, err := f.parse()
	if err != nil {
		return err
	}
	if len(names) == 1 {
		names = append(names, path.Base(names[0]))
	}
	if len(names) != 2 {
		return usagef("needs a target and a name")
	}
	target, name := names[0], names[1]
	if fi, err := c.Host.FS.Stat(c.path(name)); err == nil && fi.IsDir() {
		name = path.Join(name, path.Base(target))
	}
	if *force {
		c.Host.FS.Remove(c.path(name))
	}
	if *s {
		err = c.Host.FS.Symlink(target, c.path(name))
		if errors.Is(err, syscall.EACCES) {
			err = fmt.Errorf("%s: a link may only lead to a place in %s or %s", target, vfs.Home, vfs.Temp)
		}
	} else {
		err = c.Host.FS.Link(c.path(target), c.path(name))
	}
	if err == nil && *verbose {
		fmt.Fprintf(c.Stdout, "'%s' -> '%s'\n", name, target)
	}
	return typed(name, err)
}

func chmod(ctx context.Context, c *Call) error {
	args := c.Args
	deep := len(args) > 0 && (args[0] == "-R" || args[0] == "--recursive")
	if deep {
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) < 2 {
		return usagef("needs a mode and a file")
	}
	spec := args[0]
	change := func(name string) error {
		fi, err := c.Host.FS.Stat(c.path(name))
		if err != nil {
			return err
		}
		m, err := parseMode(spec, fi.Mode().Perm())
		if err != nil {
			return err
		}
		return c.Host.FS.Chmod(c.path(name), m)
	}
	return c.all(args[1:], func(name string) error {
		if !deep {
			return change(name)
		}
		return c.walk(name, func(p string, d fs.DirEntry) error {
			if d.Type()&fs.ModeSymlink != 0 {
				return nil
			}
			return change(p)
		})
	})
}

// parseMode reads 755 and u+x,go-w. Set-uid, set-gid and sticky bits mean nothing here.
func parseMode(spec string, old fs.FileMode) (fs.FileMode, error) {
	if n, err := strconv.ParseUint(spec, 8, 12); err == nil {
		return fs.FileMode(n) & 0o777, nil
	}
	for clause := range strings.SplitSeq(spec, ",") {
		i := strings.IndexAny(clause, "+-=")
		if i < 0 {
			return 0, usagef("invalid mode: %q", spec)
		}
		who, op, perm := clause[:i], clause[i], clause[i+1:]
		var mask fs.FileMode
		for _, w := range who {
			switch w {
			case 'u':
				mask |= 0o700
			case 'g':
				mask |= 0o070
			case 'o':
				mask |= 0o007
			case 'a':
				mask |= 0o777
			default:
				return 0, usagef("invalid mode: %q", spec)
			}
		}
		if who == "" {
			mask = 0o777
		}
		var bits fs.FileMode
		for _, p := range perm {
			switch p {
			case 'r':
				bits |= 0o444
			case 'w':
				bits |= 0o222
			case 'x':
				bits |= 0o111
			case 'X':
				if old&0o111 != 0 {
					bits |= 0o111
				}
			case 's', 't':
			default:
				return 0, usagef("invalid mode: %q", spec)
			}
		}
		switch op {
		case '+':
			old |= bits & mask
		case '-':
			old &^= bits & mask
		case '=':
			old = old&^mask | bits&mask
		}
	}
	return old, nil
}

func basename(ctx context.Context, c *Call) error {
	if len(c.Args) == 0 {
		return usagef("needs a name")
	}
	name := path.Base(c.Args[0])
	if len(c.Args) > 1 && name != c.Args[1] {
		name = strings.TrimSuffix(name, c.Args[1])
	}
	fmt.Fprintln(c.Stdout, name)
	return nil
}

func dirname(ctx context.Context, c *Call) error {
	return c.all(c.Args, func(name string) error {
		_, err := fmt.Fprintln(c.Stdout, path.Dir(strings.TrimRight(name, "/")))
		return err
	})
}

// resolve follows symlinks as far as they exist.
func (c *Call) resolve(name string) string {
	for range 40 {
		li, err := c.Host.FS.Lstat(name)
		if err != nil || li.Mode()&fs.ModeSymlink == 0 {
			break
		}
		target, err := c.Host.FS.Readlink(name)
		if err != nil {
			break
		}
		name = vfs.Abs(path.Dir(name), target)
	}
	return name
}

func realpath(ctx context.Context, c *Call) error {
	names, err := c.flags().parse()
	if err != nil {
		return err
	}
	return c.all(names, func(name string) error {
		p := c.resolve(c.path(name))
		if _, err := c.Host.FS.Lstat(path.Dir(p)); err != nil {
			return err
		}
		_, err := fmt.Fprintln(c.Stdout, p)
		return err
	})
}

func readlink(ctx context.Context, c *Call) error {
	f := c.flags()
	all := f.yes("canonicalize", "f", "follow all links")
	names, err := f.parse()
	if err != nil {
		return err
	}
	return c.all(names, func(name string) error {
		text := c.resolve(c.path(name))
		if !*all {
			var err error
			if text, err = c.Host.FS.Readlink(c.path(name)); err != nil {
				return Failed
			}
		}
		_, err := fmt.Fprintln(c.Stdout, text)
		return err
	})
}

func mktemp(ctx context.Context, c *Call) error {
	f := c.flags()
	dir := f.yes("directory", "d", "a folder")
	f.yes("", "t", "ignored: always in /tmp")
	names, err := f.parse()
	if err != nil {
		return err
	}
	template := path.Join(vfs.Temp, "tmp.XXXXXXXXXX")
	if len(names) > 0 {
		template = names[0]
	}
	stem := strings.TrimRight(template, "X")
	if len(template)-len(stem) < 3 {
		return usagef("too few X's in template %q", template)
	}
	for range 100 {
		name := stem + word(len(template)-len(stem))
		if *dir {
			err = c.Host.FS.Mkdir(c.path(name), 0o700)
		} else {
			var file *vfs.File
			if file, err = c.Host.FS.OpenFile(c.path(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
				err = file.Close()
			}
		}
		if err == nil {
			fmt.Fprintln(c.Stdout, name)
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return err
}
