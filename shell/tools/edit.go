package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
)

func init() {
	for _, name := range []string{"edit", "nano", "vi", "vim", "emacs", "code"} {
		register(name, Tool{"FILE", "edit a file in the page's editor", edit})
	}
	register("help", Tool{"[COMMAND]", "show what this shell can do", help})
}

func edit(ctx context.Context, c *Call) error {
	names := slices.DeleteFunc(slices.Clone(c.Args), func(a string) bool { return strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+") })
	if len(names) != 1 {
		return usagef("needs one file")
	}
	if c.Host.Edit == nil {
		return errors.New("there is no editor here")
	}
	name := c.path(names[0])
	mode := fs.FileMode(0o644)
	text, err := c.Host.FS.ReadFile(name, 1<<20)
	if err != nil && !isNotExist(err) {
		return typed(names[0], err)
	}
	if isNotExist(err) {
		if fi, err := c.Host.FS.Stat(path.Dir(name)); err != nil || !fi.IsDir() {
			return &fs.PathError{Op: "open", Path: names[0], Err: syscall.ENOENT}
		}
	}
	if slices.Contains(text, 0) {
		return fmt.Errorf("%s is not a text", names[0])
	}
	saved, result, err := c.Host.Edit(ctx, path.Base(name), string(text))
	if err != nil || !saved {
		return err
	}
	return typed(names[0], c.Host.FS.WriteFile(name, []byte(result), mode))
}

func help(ctx context.Context, c *Call) error {
	if len(c.Args) > 0 {
		t, ok := table[c.Args[0]]
		if !ok {
			return fmt.Errorf("no command %q (try `%s --help`)", c.Args[0], c.Args[0])
		}
		_, err := fmt.Fprintf(c.Stdout, "usage: %s %s\n%s\n", c.Args[0], t.Usage, t.Says)
		return err
	}
	var b strings.Builder
	b.WriteString("This is a bash-like shell with a cluster of your own behind kubectl.\n\n" +
		"  kubectl …          everything kubectl can do; Tab completes names\n" +
		"  kubectl edit …     opens the page's editor, as do nano and vi\n" +
		"  command &          runs in the background: jobs, fg, wait, kill %1\n" +
		"  Ctrl-C, Ctrl-D     stop the command, end the shell\n" +
		"  Ctrl-R, Up         search the history\n\n" +
		"Commands (NAME --help says more):\n\n")
	line := ""
	for _, name := range append(Names(), "kubectl") {
		if len(line)+len(name) > 76 {
			b.WriteString("  " + line + "\n")
			line = ""
		}
		line += name + " "
	}
	b.WriteString("  " + line + "\n")
	_, err := c.Stdout.Write([]byte(b.String()))
	return err
}
