package tools

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

func init() {
	register("head", Tool{"[-n NUM | -c BYTES] [FILE...]", "print the first lines", head})
	register("tail", Tool{"[-f] [-n [+]NUM | -c BYTES] [FILE...]", "print the last lines", tail})
}

// count parses 5, +5, -5 and 5k.
func count(text string) (n int64, sign byte, err error) {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		sign, text = text[0], text[1:]
	}
	unit := int64(1)
	for suffix, u := range map[string]int64{"k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
		if t, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = t, u
		}
	}
	n, err = strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return 0, 0, usagef("invalid number: %q", text)
	}
	return n * unit, sign, nil
}

// titles prints ==> FILE <== before each of several files.
func (c *Call) titles(names []string, quiet bool) func(name string) {
	first := true
	return func(name string) {
		if len(names) < 2 || quiet {
			return
		}
		if !first {
			fmt.Fprintln(c.Stdout)
		}
		first = false
		fmt.Fprintf(c.Stdout, "==> %s <==\n", name)
	}
}

func head(ctx context.Context, c *Call) error {
	f := c.flags()
	ln := f.StringP("lines", "n", "10", "lines to print, -NUM for all but the last NUM")
	by := f.StringP("bytes", "c", "", "bytes to print")
	quiet := f.yes("quiet", "q", "no titles")
	names, err := f.parseArgs(number(c.Args))
	if err != nil {
		return err
	}
	title := c.titles(names, *quiet)
	if *by != "" {
		n, _, err := count(*by)
		if err != nil {
			return err
		}
		return c.each(names, func(name string, r io.Reader) error {
			title(name)
			_, err := io.Copy(writerOnly{c.Stdout}, io.LimitReader(r, n))
			return err
		})
	}
	n, sign, err := count(*ln)
	if err != nil {
		return err
	}
	return c.each(names, func(name string, r io.Reader) error {
		title(name)
		if sign == '-' {
			var held []string
			return lines(r, func(line string) error {
				held = append(held, line)
				if int64(len(held)) <= n {
					return nil
				}
				_, err := fmt.Fprintln(c.Stdout, held[0])
				held = held[1:]
				return err
			})
		}
		if n == 0 {
			return nil
		}
		left := n
		return lines(r, func(line string) error {
			if _, err := fmt.Fprintln(c.Stdout, line); err != nil {
				return err
			}
			if left--; left == 0 {
				return io.EOF
			}
			return nil
		})
	})
}

func tail(ctx context.Context, c *Call) error {
	f := c.flags()
	ln := f.StringP("lines", "n", "10", "lines to print, +NUM to start at line NUM")
	by := f.StringP("bytes", "c", "", "bytes to print")
	follow := f.yes("follow", "f", "go on as the file grows")
	again := f.yes("", "F", "like -f, and wait for the file")
	quiet := f.yes("quiet", "q", "no titles")
	names, err := f.parseArgs(number(c.Args))
	if err != nil {
		return err
	}
	title := c.titles(names, *quiet)
	want, bytes := *ln, false
	if *by != "" {
		want, bytes = *by, true
	}
	n, sign, err := count(want)
	if err != nil {
		return err
	}
	err = c.each(names, func(name string, r io.Reader) error {
		title(name)
		if bytes {
			return tailBytes(c.Stdout, r, n, sign)
		}
		return tailLines(c.Stdout, r, n, sign)
	})
	if (*follow || *again) && len(names) > 0 && (err == nil || *again) {
		return c.follow(ctx, names[len(names)-1])
	}
	return err
}

func tailLines(w io.Writer, r io.Reader, n int64, sign byte) error {
	var held []string
	i := int64(0)
	err := lines(r, func(line string) error {
		if i++; sign == '+' {
			if i < n {
				return nil
			}
			_, err := fmt.Fprintln(w, line)
			return err
		}
		if held = append(held, line); int64(len(held)) > n {
			held = held[1:]
		}
		return nil
	})
	for _, line := range held {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return err
}

func tailBytes(w io.Writer, r io.Reader, n int64, sign byte) error {
	b := bufio.NewReader(r)
	if sign == '+' {
		io.CopyN(io.Discard, b, max(n-1, 0))
		_, err := io.Copy(writerOnly{w}, b)
		return err
	}
	data, err := readAll(b)
	if err != nil {
		return err
	}
	_, err = w.Write(data[max(0, int64(len(data))-n):])
	return err
}

// follow prints what is added to a file. A quarter of a second is below what a reader notices, and costs nothing.
func (c *Call) follow(ctx context.Context, name string) error {
	at := int64(-1)
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		if file, err := c.Host.FS.Open(c.path(name)); err == nil {
			fi, err := file.Stat()
			if err == nil && at < 0 {
				at = fi.Size()
			}
			if err == nil && fi.Size() < at {
				fmt.Fprintf(c.Stderr, "tail: %s: file truncated\n", name)
				at = 0
			}
			file.Seek(at, io.SeekStart)
			n, err := io.Copy(writerOnly{c.Stdout}, file)
			file.Close()
			if err != nil {
				return err
			}
			at += n
		} else {
			at = 0
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
