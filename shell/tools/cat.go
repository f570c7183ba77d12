package tools

import (
	"bufio"
	"context"
	"fmt"
	"io"
)

func init() {
	register("cat", Tool{"[-n] [FILE...]", "print files", cat})
	register("tac", Tool{"[FILE...]", "print lines last to first", tac})
	register("nl", Tool{"[FILE...]", "number lines", nl})
	register("rev", Tool{"[FILE...]", "reverse the characters of each line", rev})
	register("tee", Tool{"[-a] [FILE...]", "copy the input to files and to the output", tee})
	register("yes", Tool{"[STRING...]", "print a line again and again", yes})
}

func cat(ctx context.Context, c *Call) error {
	f := c.flags()
	num := f.yes("number", "n", "number all lines")
	ends := f.yes("show-ends", "E", "print $ at each line's end")
	all := f.yes("show-all", "A", "like -E, and show tabs as ^I")
	f.yes("", "u", "ignored")
	names, err := f.parse()
	if err != nil {
		return err
	}
	n := 0
	return c.each(names, func(_ string, r io.Reader) error {
		if !*num && !*ends && !*all {
			_, err := io.Copy(writerOnly{c.Stdout}, readerOnly{r})
			return err
		}
		return lines(r, func(line string) error {
			n++
			if *num {
				line = fmt.Sprintf("%6d\t%s", n, line)
			}
			if *all {
				line = visible(line)
			}
			if *ends || *all {
				line += "$"
			}
			_, err := fmt.Fprintln(c.Stdout, line)
			return err
		})
	})
}

// visible shows tabs and carriage returns.
func visible(line string) string {
	var out []rune
	for _, r := range line {
		switch {
		case r == '\t':
			out = append(out, '^', 'I')
		case r < ' ':
			out = append(out, '^', r+'@')
		default:
			out = append(out, r)
		}
	}
	return string(out)
}

// writerOnly and readerOnly hide ReadFrom and WriteTo, whose system calls a context's end could not stop.
type writerOnly struct{ io.Writer }
type readerOnly struct{ io.Reader }

func tac(ctx context.Context, c *Call) error {
	names, err := c.flags().parse()
	if err != nil {
		return err
	}
	return c.each(names, func(_ string, r io.Reader) error {
		var all []string
		if err := lines(io.LimitReader(r, maxText), func(l string) error { all = append(all, l); return nil }); err != nil {
			return err
		}
		return c.buffered(func(w *bufio.Writer) error {
			for i := len(all) - 1; i >= 0; i-- {
				fmt.Fprintln(w, all[i])
			}
			return nil
		})
	})
}

func nl(ctx context.Context, c *Call) error {
	f := c.flags()
	style := f.StringP("body-numbering", "b", "t", "a for all lines, t for those with text")
	names, err := f.parse()
	if err != nil {
		return err
	}
	n := 0
	return c.each(names, func(_ string, r io.Reader) error {
		return lines(r, func(line string) error {
			if line == "" && *style != "a" {
				_, err := fmt.Fprintln(c.Stdout, "       ")
				return err
			}
			n++
			_, err := fmt.Fprintf(c.Stdout, "%6d\t%s\n", n, line)
			return err
		})
	})
}

func rev(ctx context.Context, c *Call) error {
	names, err := c.flags().parse()
	if err != nil {
		return err
	}
	return c.each(names, func(_ string, r io.Reader) error {
		return lines(r, func(line string) error {
			runes := []rune(line)
			for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
				runes[i], runes[j] = runes[j], runes[i]
			}
			_, err := fmt.Fprintln(c.Stdout, string(runes))
			return err
		})
	})
}

func tee(ctx context.Context, c *Call) error {
	f := c.flags()
	add := f.yes("append", "a", "append to the files")
	names, err := f.parse()
	if err != nil {
		return err
	}
	outs := []io.Writer{c.Stdout}
	var failed error
	for _, name := range names {
		file, err := c.create(name, *add)
		if err != nil {
			c.warn(err)
			failed = Failed
			continue
		}
		defer file.Close()
		outs = append(outs, file)
	}
	if _, err := io.Copy(io.MultiWriter(outs...), readerOnly{c.stdin()}); err != nil {
		return err
	}
	return failed
}

func yes(ctx context.Context, c *Call) error {
	line := "y\n"
	if len(c.Args) > 0 {
		line = join(c.Args) + "\n"
	}
	block := []byte(line)
	for len(block) < 4096 {
		block = append(block, line...)
	}
	for ctx.Err() == nil {
		if _, err := c.Stdout.Write(block); err != nil {
			return err
		}
	}
	return ctx.Err()
}
