package tools

import (
	"bufio"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

func init() {
	register("seq", Tool{"[-w] [-s TEXT] [FIRST [STEP]] LAST", "print numbers", seq})
	register("sleep", Tool{"SECONDS[smhd]...", "wait", sleep})
	register("date", Tool{"[-u] [-d TIME] [-I[seconds]] [+FORMAT]", "print the time", date})
	register("base64", Tool{"[-d] [-w COLUMNS] [FILE]", "encode or decode", base64Tool})
	sum := func(name string, h func() hash.Hash) {
		register(name, Tool{"[FILE...]", "print checksums", func(_ context.Context, c *Call) error { return checksum(c, h) }})
	}
	sum("sha256sum", sha256.New)
	sum("sha512sum", sha512.New)
	sum("sha1sum", sha1.New)
	sum("md5sum", md5.New)
	register("env", Tool{"[-i] [NAME=VALUE...] [COMMAND...]", "show the environment, or run a command with a changed one", env})
	register("printenv", Tool{"[NAME...]", "show the environment", printenv})
	register("whoami", Tool{"", "print who you are", say("learner")})
	register("id", Tool{"", "print who you are", say("uid=1000(learner) gid=1000(learner) groups=1000(learner)")})
	register("hostname", Tool{"", "print this machine's name", say("apilab")})
	register("nproc", Tool{"", "print the number of processors", say("1")})
	register("tty", Tool{"", "print the terminal's name", say("/dev/tty")})
	register("sync", Tool{"", "do nothing: files are always written", func(context.Context, *Call) error { return nil }})
	register("uname", Tool{"[-asnrm]", "print what this machine is", uname})
	register("clear", Tool{"", "clear the screen", clear})
	register("reset", Tool{"", "bring the terminal back to sanity", clear})
	register("timeout", Tool{"SECONDS COMMAND...", "end a command after a while", timeout})
	register("watch", Tool{"[-n SECONDS] [-t] COMMAND...", "run a command again and again", watch})
	register("nohup", Tool{"COMMAND...", "run a command", func(ctx context.Context, c *Call) error { return status(c.Host.Exec(ctx, c, c.Args)) }})
	register("xxd", Tool{"[-p] [FILE]", "print bytes in hexadecimal", xxd})
}

func status(s Status) error {
	if s == 0 {
		return nil
	}
	return s
}

func say(text string) func(context.Context, *Call) error {
	return func(_ context.Context, c *Call) error {
		_, err := fmt.Fprintln(c.Stdout, text)
		return err
	}
}

func seq(ctx context.Context, c *Call) error {
	args := c.Args
	sep, wide := "\n", false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && (len(args[0]) < 2 || args[0][1] > '9' || args[0][1] < '0') {
		switch {
		case args[0] == "-w":
			wide = true
		case strings.HasPrefix(args[0], "-s") && len(args[0]) > 2:
			sep = args[0][2:]
		case args[0] == "-s" && len(args) > 1:
			sep, args = args[1], args[1:]
		default:
			return usagef("unknown option %s", args[0])
		}
		args = args[1:]
	}
	nums := []float64{1, 1, 0}
	if len(args) == 0 || len(args) > 3 {
		return usagef("needs one to three numbers")
	}
	places := 0
	for i, a := range args {
		n, err := strconv.ParseFloat(a, 64)
		if err != nil {
			return usagef("not a number: %q", a)
		}
		if _, frac, ok := strings.Cut(a, "."); ok {
			places = max(places, len(frac))
		}
		switch {
		case i == len(args)-1:
			nums[2] = n
		case i == 0:
			nums[0] = n
		default:
			nums[1] = n
		}
	}
	from, step, to := nums[0], nums[1], nums[2]
	if step == 0 {
		return usagef("the step may not be 0")
	}
	width := 0
	if wide {
		width = max(len(strconv.FormatFloat(from, 'f', places, 64)), len(strconv.FormatFloat(to, 'f', places, 64)))
	}
	return c.buffered(func(w *bufio.Writer) error {
		first := true
		for i := 0; ; i++ {
			n := from + float64(i)*step
			if step > 0 && n > to+step*1e-9 || step < 0 && n < to+step*1e-9 {
				break
			}
			if !first {
				w.WriteString(sep)
			}
			first = false
			if _, err := fmt.Fprintf(w, "%0*.*f", width, places, n); err != nil {
				return err
			}
			if i&0xfff == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if !first {
			w.WriteByte('\n')
		}
		return nil
	})
}

// duration reads 5, 0.5, 2m and Go's 1h30m.
func duration(text string) (time.Duration, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 0 && n < 1e9 {
		return time.Duration(n * float64(time.Second)), nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n < 1e5 {
			return time.Duration(n * 24 * float64(time.Hour)), nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, usagef("invalid time: %q", text)
	}
	return d, nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func sleep(ctx context.Context, c *Call) error {
	if len(c.Args) == 0 {
		return usagef("needs a time")
	}
	var sum time.Duration
	for _, a := range c.Args {
		if a == "infinity" {
			a = "10000d"
		}
		d, err := duration(a)
		if err != nil {
			return err
		}
		sum += d
	}
	return pause(ctx, sum)
}

var layouts = []string{time.RFC3339Nano, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", time.RFC1123, time.RFC1123Z, time.UnixDate}

// parseTime reads the usual forms, @SECONDS, "now" and "5 minutes ago".
func parseTime(text string) (time.Time, error) {
	if n, err := strconv.ParseInt(strings.TrimPrefix(text, "@"), 10, 64); err == nil && text[0] == '@' {
		return time.Unix(n, 0), nil
	}
	for _, l := range layouts {
		if t, err := time.ParseInLocation(l, text, time.Local); err == nil {
			return t, nil
		}
	}
	now := time.Now()
	w := strings.Fields(strings.ToLower(text))
	switch {
	case len(w) == 1 && w[0] == "now":
		return now, nil
	case len(w) == 1 && w[0] == "today":
		return now, nil
	case len(w) == 1 && w[0] == "yesterday":
		return now.AddDate(0, 0, -1), nil
	case len(w) == 1 && w[0] == "tomorrow":
		return now.AddDate(0, 0, 1), nil
	case len(w) >= 2:
		n, err := strconv.Atoi(strings.TrimPrefix(w[0], "+"))
		if err != nil {
			break
		}
		if len(w) == 3 && w[2] == "ago" {
			n = -n
		}
		switch strings.TrimSuffix(w[1], "s") {
		case "second", "sec":
			return now.Add(time.Duration(n) * time.Second), nil
		case "minute", "min":
			return now.Add(time.Duration(n) * time.Minute), nil
		case "hour":
			return now.Add(time.Duration(n) * time.Hour), nil
		case "day":
			return now.AddDate(0, 0, n), nil
		case "week":
			return now.AddDate(0, 0, 7*n), nil
		case "month":
			return now.AddDate(0, n, 0), nil
		case "year":
			return now.AddDate(n, 0, 0), nil
		}
	}
	return now, usagef("invalid time: %q", text)
}

func date(ctx context.Context, c *Call) error {
	f := c.flags()
	utc := f.yes("utc", "u", "in UTC")
	d := f.StringP("date", "d", "", "this time instead of now")
	iso := f.StringP("iso-8601", "I", "", "ISO 8601: date, hours, minutes, seconds, ns")
	f.Lookup("iso-8601").NoOptDefVal = "date"
	args, err := f.parseArgs(attach(c.Args, "-I"))
	if err != nil {
		return err
	}
	t := time.Now()
	if *d != "" {
		if t, err = parseTime(*d); err != nil {
			return err
		}
	}
	if *utc {
		t = t.UTC()
	}
	format := "%a %b %e %H:%M:%S %Z %Y"
	switch *iso {
	case "":
	case "date":
		format = "%F"
	case "ns":
		format = "%FT%T,%N%:z"
	default:
		format = "%FT%T%:z"
	}
	if len(args) > 0 {
		var ok bool
		if format, ok = strings.CutPrefix(args[0], "+"); !ok {
			return usagef("the time cannot be set")
		}
	}
	_, err = fmt.Fprintln(c.Stdout, strftime(t, format))
	return err
}

func strftime(t time.Time, format string) string {
	layouts := map[byte]string{'Y': "2006", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'y': "06", 'p': "PM", 'b': "Jan", 'h': "Jan", 'B': "January",
		'a': "Mon", 'A': "Monday", 'Z': "MST", 'z': "-0700", 'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006", 'N': "000000000"}
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			out.WriteByte(format[i])
			continue
		}
		i++
		if format[i] == '-' && i+1 < len(format) {
			i++
		}
		ch := format[i]
		switch {
		case ch == ':' && i+1 < len(format) && format[i+1] == 'z':
			i++
			out.WriteString(t.Format("-07:00"))
		case ch == 's':
			out.WriteString(strconv.FormatInt(t.Unix(), 10))
		case ch == 'j':
			fmt.Fprintf(&out, "%03d", t.YearDay())
		case ch == 'u':
			out.WriteString(strconv.Itoa((int(t.Weekday())+6)%7 + 1))
		case ch == 'N':
			fmt.Fprintf(&out, "%09d", t.Nanosecond())
		case ch == 'n':
			out.WriteByte('\n')
		case ch == 't':
			out.WriteByte('\t')
		case ch == '3' && i+1 < len(format) && format[i+1] == 'N':
			i++
			fmt.Fprintf(&out, "%03d", t.Nanosecond()/1e6)
		case layouts[ch] != "":
			out.WriteString(t.Format(layouts[ch]))
		default:
			out.WriteByte(ch)
		}
	}
	return out.String()
}

func base64Tool(ctx context.Context, c *Call) error {
	f := c.flags()
	dec, dec2 := f.yes("decode", "d", "decode"), f.yes("", "D", "decode")
	width := f.IntP("wrap", "w", 76, "columns, 0 for one line")
	f.yes("ignore-garbage", "i", "ignored: always")
	names, err := f.parse()
	if err != nil {
		return err
	}
	return c.each(names[:min(1, len(names))], func(_ string, r io.Reader) error {
		data, err := readAll(r)
		if err != nil {
			return err
		}
		if *dec || *dec2 {
			text := strings.Map(func(r rune) rune {
				if strings.ContainsRune(" \t\r\n", r) {
					return -1
				}
				return r
			}, string(data))
			enc := base64.StdEncoding
			if strings.ContainsAny(text, "-_") {
				enc = base64.URLEncoding
			}
			if !strings.Contains(text, "=") {
				enc = enc.WithPadding(base64.NoPadding) // what a JWT has
			}
			out, err := enc.DecodeString(text)
			c.Stdout.Write(out)
			if err != nil {
				return errors.New("invalid input")
			}
			return nil
		}
		text := base64.StdEncoding.EncodeToString(data)
		for *width > 0 && len(text) > *width {
			if _, err := fmt.Fprintln(c.Stdout, text[:*width]); err != nil {
				return err
			}
			text = text[*width:]
		}
		if *width > 0 {
			text += "\n"
		}
		_, err = io.WriteString(c.Stdout, text)
		return err
	})
}

func checksum(c *Call, h func() hash.Hash) error {
	names, err := c.flags().parse()
	if err != nil {
		return err
	}
	return c.each(names, func(name string, r io.Reader) error {
		sum := h()
		if _, err := io.Copy(sum, r); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.Stdout, "%s  %s\n", hex.EncodeToString(sum.Sum(nil)), name)
		return err
	})
}

func env(ctx context.Context, c *Call) error {
	f := c.flags().first()
	empty := f.yes("ignore-environment", "i", "start with no variables")
	unset := f.StringArrayP("unset", "u", nil, "without this variable")
	args, err := f.parse()
	if err != nil {
		return err
	}
	d := *c
	if *empty {
		d.Env = nil
	}
	d.Env = slices.DeleteFunc(slices.Clone(d.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(*unset, name)
	})
	for len(args) > 0 && strings.Contains(args[0], "=") {
		d.Env, args = append(d.Env, args[0]), args[1:]
	}
	if len(args) > 0 {
		return status(c.Host.Exec(ctx, &d, args))
	}
	for _, kv := range d.Env {
		if _, err := fmt.Fprintln(c.Stdout, kv); err != nil {
			return err
		}
	}
	return nil
}

func printenv(ctx context.Context, c *Call) error {
	if len(c.Args) == 0 {
		return env(ctx, c)
	}
	var failed error
	for _, name := range c.Args {
		if v := c.env(name); v != "" {
			fmt.Fprintln(c.Stdout, v)
		} else {
			failed = Failed
		}
	}
	return failed
}

func uname(ctx context.Context, c *Call) error {
	f := c.flags()
	a, s, n := f.yes("all", "a", "all"), f.yes("kernel-name", "s", "kernel"), f.yes("nodename", "n", "name")
	r, m := f.yes("kernel-release", "r", "release"), f.yes("machine", "m", "machine")
	if _, err := f.parse(); err != nil {
		return err
	}
	var out []string
	for _, p := range []struct {
		on   bool
		text string
	}{{*s || !*n && !*r && !*m, "apilab"}, {*n, "apilab"}, {*r, "1"}, {*m, "learner"}} {
		if p.on || *a {
			out = append(out, p.text)
		}
	}
	_, err := fmt.Fprintln(c.Stdout, join(out))
	return err
}

func clear(ctx context.Context, c *Call) error {
	_, err := io.WriteString(c.Stdout, "\x1b[H\x1b[2J\x1b[3J")
	return err
}

func timeout(ctx context.Context, c *Call) error {
	f := c.flags().first()
	f.StringP("signal", "s", "TERM", "ignored")
	f.StringP("kill-after", "k", "", "ignored")
	f.yes("foreground", "", "ignored")
	args, err := f.parse()
	if err != nil {
		return err
	}
	if len(args) < 2 {
		return usagef("needs a time and a command")
	}
	d, err := duration(args[0])
	if err != nil {
		return err
	}
	if d == 0 {
		return status(c.Host.Exec(ctx, c, args[1:]))
	}
	tctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	s := c.Host.Exec(tctx, c, args[1:])
	if tctx.Err() != nil && ctx.Err() == nil {
		return TimedOut
	}
	return status(s)
}

func watch(ctx context.Context, c *Call) error {
	f := c.flags().first()
	every := f.StringP("interval", "n", "2", "seconds")
	plain := f.yes("no-title", "t", "no title")
	f.yes("differences", "d", "ignored")
	f.yes("color", "c", "ignored: always")
	args, err := f.parse()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return usagef("needs a command")
	}
	d, err := duration(*every)
	if err != nil {
		return err
	}
	d = max(d, 500*time.Millisecond)
	script := join(args)
	if terminal(c.Stdout) { // the other screen, so that what was there comes back
		io.WriteString(c.Stdout, "\x1b[?1049h")
		defer c.finally("\x1b[?1049l")
	}
	for {
		var out limited
		call := c.with(strings.NewReader(""), &out)
		call.Stderr = &out
		c.Host.Script(ctx, call, script)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		screen := out.String()
		cols, rows := 80, 0
		if c.Host.Size != nil {
			cols, rows = c.Host.Size()
		}
		head := ""
		if !*plain {
			left, right := fmt.Sprintf("Every %.1fs: %s", d.Seconds(), script), time.Now().Format("15:04:05")
			head = left + strings.Repeat(" ", max(1, cols-len(left)-len(right))) + right + "\n\n"
		}
		if all := strings.SplitAfter(head+screen, "\n"); rows > 1 && len(all) > rows {
			screen, head = strings.TrimSuffix(strings.Join(all[:rows], ""), "\n"), ""
		}
		if _, err := io.WriteString(c.Stdout, "\x1b[H\x1b[2J"+head+screen); err != nil {
			return err
		}
		if err := pause(ctx, d); err != nil {
			return err
		}
	}
}

// limited keeps the first 256 KiB of what is written to it.
type limited struct{ strings.Builder }

func (l *limited) Write(p []byte) (int, error) {
	if room := 256<<10 - l.Len(); room > 0 {
		l.Builder.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func xxd(ctx context.Context, c *Call) error {
	f := c.flags()
	plain := f.yes("plain", "p", "only the digits")
	names, err := f.parse()
	if err != nil {
		return err
	}
	return c.each(names[:min(1, len(names))], func(_ string, r io.Reader) error {
		at := 0
		buf := make([]byte, 16)
		for {
			n, err := io.ReadFull(r, buf)
			if n == 0 {
				return nil
			}
			if *plain {
				fmt.Fprintf(c.Stdout, "%x\n", buf[:n])
			} else {
				var hexes, text strings.Builder
				for i, b := range buf[:n] {
					if i%2 == 0 && i > 0 {
						hexes.WriteByte(' ')
					}
					fmt.Fprintf(&hexes, "%02x", b)
					if b < ' ' || b > '~' {
						b = '.'
					}
					text.WriteByte(b)
				}
				if _, err := fmt.Fprintf(c.Stdout, "%08x: %-39s  %s\n", at, hexes.String(), text.String()); err != nil {
					return err
				}
			}
			at += n
			if err != nil {
				return nil
			}
		}
	})
}

// word is a random word for names of files.
func word(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[rand.IntN(len(letters))]
	}
	return string(b)
}
