package tools

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

func init() {
	register("sort", Tool{"[-bfhnruV] [-k FROM[,TO]] [-t CHAR] [-o FILE] [FILE...]", "sort lines", sortLines})
}

// key is one -k of sort: fields from to to (1-based, 0 for the last), and its own order.
type key struct {
	from, to, char         int
	numeric, reverse, fold bool
	human, version         bool
}

func parseKey(text string) (key, error) {
	var k key
	from, to, _ := strings.Cut(text, ",")
	num := func(s string) (field, char int, letters string, err error) {
		rest := strings.TrimLeft(s, "0123456789")
		field, err = strconv.Atoi(s[:len(s)-len(rest)])
		if r, ok := strings.CutPrefix(rest, "."); ok {
			rest = strings.TrimLeft(r, "0123456789")
			char, _ = strconv.Atoi(r[:len(r)-len(rest)])
		}
		return field, char, rest, err
	}
	var letters, more string
	var err error
	if k.from, k.char, letters, err = num(from); err != nil || k.from < 1 {
		return k, usagef("invalid key: %q", text)
	}
	if to != "" {
		if k.to, _, more, err = num(to); err != nil {
			return k, usagef("invalid key: %q", text)
		}
	}
	for _, l := range letters + more {
		switch l {
		case 'n', 'g':
			k.numeric = true
		case 'r':
			k.reverse = true
		case 'f':
			k.fold = true
		case 'h':
			k.human = true
		case 'V':
			k.version = true
		case 'b', 'd':
		default:
			return k, usagef("invalid key: %q", text)
		}
	}
	return k, nil
}

func (k key) of(line, sep string) string {
	if k.from == 0 {
		return line
	}
	var fields []string
	if sep != "" {
		fields = strings.Split(line, sep)
	} else {
		fields = strings.Fields(line)
	}
	if k.from > len(fields) {
		return ""
	}
	to := len(fields)
	if k.to > 0 {
		to = min(to, k.to)
	}
	text := strings.Join(fields[k.from-1:max(to, k.from-1)], cmp.Or(sep, " "))
	if k.char > 1 {
		text = text[min(len(text), k.char-1):]
	}
	return text
}

func (k key) compare(a, b string) int {
	var n int
	switch {
	case k.numeric:
		n = cmp.Compare(leading(a), leading(b))
	case k.human:
		n = cmp.Compare(quantity(a), quantity(b))
	case k.version:
		n = versions(a, b)
	case k.fold:
		n = cmp.Compare(strings.ToLower(a), strings.ToLower(b))
	default:
		n = cmp.Compare(a, b)
	}
	if k.reverse {
		n = -n
	}
	return n
}

// leading is the number that a text starts with.
func leading(s string) float64 {
	s = strings.TrimLeft(s, " \t")
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' || s[end] == '-' && end == 0) {
		end++
	}
	n, _ := strconv.ParseFloat(s[:end], 64)
	return n
}

// quantity reads 10K, 2.5G and also Kubernetes' 512Mi and 100m.
func quantity(s string) float64 {
	s = strings.TrimSpace(s)
	if q, err := resource.ParseQuantity(s); err == nil {
		return q.AsApproximateFloat64()
	}
	if q, err := resource.ParseQuantity(s + "i"); err == nil {
		return q.AsApproximateFloat64()
	}
	return leading(s)
}

// versions compares digits by value: v1.9 before v1.10.
func versions(a, b string) int {
	for a != "" && b != "" {
		da, db := digits(a), digits(b)
		if da > 0 && db > 0 {
			na, _ := strconv.ParseUint(a[:da], 10, 64)
			nb, _ := strconv.ParseUint(b[:db], 10, 64)
			if na != nb {
				return cmp.Compare(na, nb)
			}
			a, b = a[da:], b[db:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

func sortLines(ctx context.Context, c *Call) error {
	f := c.flags()
	n, r := f.yes("numeric-sort", "n", "by number"), f.yes("reverse", "r", "last first")
	u, fold := f.yes("unique", "u", "drop equal lines"), f.yes("ignore-case", "f", "ignore case")
	human, ver := f.yes("human-numeric-sort", "h", "by size: 2K, 1G, 512Mi"), f.yes("version-sort", "V", "by version number")
	g := f.yes("general-numeric-sort", "g", "by number")
	f.yes("ignore-leading-blanks", "b", "ignored: always")
	stable := f.yes("stable", "s", "keep the order of lines whose keys are equal")
	check := f.yes("check", "c", "only check the order")
	sep := f.StringP("field-separator", "t", "", "what separates fields")
	keys := f.StringArrayP("key", "k", nil, "fields to sort by")
	out := f.StringP("output", "o", "", "file to write")
	names, err := f.parse()
	if err != nil {
		return err
	}
	base := key{numeric: *n || *g, reverse: *r, fold: *fold, human: *human, version: *ver}
	var order []key
	for _, text := range *keys {
		k, err := parseKey(text)
		if err != nil {
			return err
		}
		if !k.numeric && !k.reverse && !k.fold && !k.human && !k.version {
			k.numeric, k.reverse, k.fold, k.human, k.version = base.numeric, base.reverse, base.fold, base.human, base.version
		}
		order = append(order, k)
	}
	if len(order) == 0 {
		order = []key{base}
	}
	compare := func(a, b string) int {
		for _, k := range order {
			if n := k.compare(k.of(a, *sep), k.of(b, *sep)); n != 0 {
				return n
			}
		}
		return 0
	}
	var all []string
	total := 0
	err = c.each(names, func(_ string, r io.Reader) error {
		return lines(r, func(line string) error {
			if total += len(line) + 16; total > maxText {
				return fmt.Errorf("more than %d MiB of input", maxText>>20)
			}
			all = append(all, line)
			return nil
		})
	})
	if err != nil {
		return err
	}
	if *check {
		if !slices.IsSortedFunc(all, compare) {
			return fmt.Errorf("not in order")
		}
		return nil
	}
	slices.SortStableFunc(all, func(a, b string) int {
		if n := compare(a, b); n != 0 || *stable || *u {
			return n
		}
		if *r {
			return cmp.Compare(b, a)
		}
		return cmp.Compare(a, b)
	})
	if *u {
		all = slices.CompactFunc(all, func(a, b string) bool { return compare(a, b) == 0 })
	}
	if *out != "" {
		var text strings.Builder
		for _, line := range all {
			text.WriteString(line + "\n")
		}
		return typed(*out, c.Host.FS.WriteFile(c.path(*out), []byte(text.String()), 0o644))
	}
	return c.buffered(func(w *bufio.Writer) error {
		for _, line := range all {
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
		return nil
	})
}

func shuf(ctx context.Context, c *Call) error {
	f := c.flags()
	n := f.IntP("head-count", "n", -1, "lines to print")
	names, err := f.parse()
	if err != nil {
		return err
	}
	var all []string
	err = c.each(names, func(_ string, r io.Reader) error {
		return lines(io.LimitReader(r, maxText), func(l string) error { all = append(all, l); return nil })
	})
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if *n >= 0 {
		all = all[:min(*n, len(all))]
	}
	for _, line := range all {
		if _, err := fmt.Fprintln(c.Stdout, line); err != nil {
			return err
		}
	}
	return err
}

func comm(ctx context.Context, c *Call) error {
	f := c.flags()
	no1, no2, no3 := f.yes("", "1", "not lines only in FILE1"), f.yes("", "2", "not lines only in FILE2"), f.yes("", "3", "not lines in both")
	names, err := f.parse()
	if err != nil {
		return err
	}
	if len(names) != 2 {
		return usagef("needs two files")
	}
	var in [2][]string
	for i, name := range names {
		r, err := c.open(name)
		if err != nil {
			return err
		}
		err = lines(io.LimitReader(r, maxText), func(l string) error { in[i] = append(in[i], l); return nil })
		r.Close()
		if err != nil {
			return err
		}
	}
	show := func(hide bool, indent int, line string) {
		if !hide {
			fmt.Fprintln(c.Stdout, strings.Repeat("\t", indent)+line)
		}
	}
	two := 0
	if !*no1 {
		two = 1
	}
	three := two
	if !*no2 {
		three++
	}
	a, b := in[0], in[1]
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			show(*no1, 0, a[0])
			a = a[1:]
		case len(a) == 0 || b[0] < a[0]:
			show(*no2, two, b[0])
			b = b[1:]
		default:
			show(*no3, three, a[0])
			a, b = a[1:], b[1:]
		}
	}
	return nil
}
