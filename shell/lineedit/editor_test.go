package lineedit

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// newEditor reads the keys given, and shows on a display.
func newEditor(keys string, d *display, history ...string) *Editor {
	h := NewHistory("", nil)
	for _, t := range history {
		h.Add(t)
	}
	rest := strings.NewReader(keys)
	return &Editor{
		Out: d, Keys: NewKeys(rest, nil), History: h,
		Size:       func() (int, int) { return d.cols, d.rows },
		Incomplete: func(text string) bool { return strings.HasSuffix(text, "\\") || strings.Count(text, "'")%2 == 1 },
		Complete: func(text string, cursor int) (int, []Candidate) {
			start := strings.LastIndexByte(text[:cursor], ' ') + 1
			var all []Candidate
			for _, c := range []string{"alpha", "alpine", "beta", "dir/", "größe"} {
				if strings.HasPrefix(c, text[start:cursor]) {
					all = append(all, Candidate{Text: c, Open: strings.HasSuffix(c, "/")})
				}
			}
			return start, all
		},
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	history := []string{"first one", "second two", "kubectl get ns"}
	for keys, want := range map[string]string{
		"abc\r":                               "abc",
		"abc\x02X\r":                          "abXc",
		"abc\x1b[DX\r":                        "abXc",
		"abc\x01X\r":                          "Xabc",
		"abc\x01X\x05Y\r":                     "XabcY",
		"abc\x7f\r":                           "ab",
		"abc\x1b[H\x1b[3~\r":                  "bc",
		"one two\x17three\r":                  "one three",
		"one two\x15x\r":                      "x",
		"one two\x01\x0bx\r":                  "x",
		"one two\x17\x19\x19\r":               "one twotwo",
		"one two\x1bb\x1bdX\r":                "one X",
		"one two\x1b[1;5DX\r":                 "one Xtwo",
		"one two\x01\x1bfX\r":                 "oneX two",
		"ab\x14\r":                            "ba",
		"abc\x1bb\x1bu\r":                     "ABC",
		"\x1b[A\r":                            "kubectl get ns",
		"\x10\x10\r":                          "second two",
		"\x1b[A\x1b[A\x1b[B\r":                "kubectl get ns",
		"draft\x1b[A\x1b[B!\r":                "draft!",
		"\x12two\r":                           "second two",
		"\x12o\x12\r":                         "first one",
		"\x12two\x05!\r":                      "second two!",
		"x\x12two\x07y\r":                     "xy",
		"\x1b<\r":                             "first one",
		"\x1b.\r":                             "ns",
		"alph\t\r":                            "alpha ",
		"al\t\r":                              "alp",
		"x b\ty\r":                            "x beta y",
		"di\tx\r":                             "dir/x",
		"gr\t\r":                              "größe ",
		"it's\rdone'\r":                       "it's\ndone'",
		"a\\\rb\r":                            "a\\\nb",
		"\x1b[200~a\r\nb\nc\x1b[201~\r":       "a\nb\nc",
		"\x1b[200~a\tb\x1b[Ac\x07\x1b[201~\r": "a\tb[Ac",
		"\x1b[200~one\ntwo\nthree\x1b[201~\x1b[A\x01X\r": "one\nXtwo\nthree",
		"größer\x7f\x7f\r":                               "größ",
		"日本\x02X\r":                                      "日X本",
		"a\x1b[99;99Xb\x1b[?1$pc\r":                      "abc",
		"a\xff\xfeb\r":                                   "ab",
		"a\x1b\x1b[Db\r":                                 "a[Db",
		"abc\x01\x04\r":                                  "bc",
	} {
		d := newDisplay(40, 10)
		got, err := newEditor(keys, d, history...).Read("$ ", "> ")
		if err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", keys, got, err, want)
		}
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]error{
		"\x04":    io.EOF,
		"abc\x03": ErrInterrupted,
		"\x1b[200~" + strings.Repeat("x", maxText+1) + "\x1b[201~": ErrTooLong,
		"never ended": io.EOF,
	} {
		if _, err := newEditor(keys, newDisplay(40, 10)).Read("$ ", "> "); !errors.Is(err, want) {
			t.Errorf("%.20q: %v", keys, err)
		}
	}
}

func TestDisplay(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 3)
	many := make([]string, 30)
	for i := range many {
		many[i] = fmt.Sprint("line ", i)
	}
	for name, c := range map[string]struct {
		keys string
		want []string // the last rows
		x, y int      // the cursor, y from the last row that has text
	}{
		"a line":             {"abc", []string{"$ abc"}, 5, 0},
		"cursor within":      {"abc\x02\x02", []string{"$ abc"}, 3, 0},
		"a long line":        {long, []string{"$ 012345678901234567", "890123456789"}, 12, 0},
		"exactly one row":    {"012345678901234567", []string{"$ 012345678901234567"}, 0, 1},
		"wide characters":    {"日本", []string{"$ 日本"}, 6, 0},
		"wide at the edge":   {"0123456789012345 日", []string{"$ 0123456789012345 ", "日"}, 2, 0},
		"several lines":      {"\x1b[200~a\nb\x1b[201~", []string{"$ a", "> b"}, 3, 0},
		"up in lines":        {"\x1b[200~ab\ncd\x1b[201~\x1b[A", []string{"$ ab", "> cd"}, 4, -1},
		"control character":  {"\x1b[200~a\tb\x1b[201~", []string{"$ a    b"}, 8, 0},
		"deleted":            {long + "\x15x", []string{"$ x"}, 3, 0},
		"search":             {"\x12sec", []string{"(reverse-i-search)`s", "ec': a second"}, 7, 0},
		"more than fits":     {"\x1b[200~" + strings.Join(many, "\n") + "\x1b[201~", []string{"> line 28", "> line 29"}, 9, 0},
		"history is shorter": {"\x1b[A\x1b[A\x1b[B", []string{"$ a second"}, 10, 0},
		"list":               {"al\t\t", []string{"$ alp", "alpha   alpine", "$ alp"}, 5, 0},
	} {
		d := newDisplay(20, 10)
		newEditor(c.keys, d, "a first that is much longer than a row", "a second").Read("$ ", "> ")
		// Read draws once more as the keys end; what was shown before is what counts.
		rows := d.before()
		if len(rows) < len(c.want) {
			t.Errorf("%s: %q", name, rows)
			continue
		}
		if got := rows[len(rows)-len(c.want):]; strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s: shows %q, want %q", name, got, c.want)
		}
		if d.x != c.x || d.y != len(rows)-1+c.y {
			t.Errorf("%s: cursor at %d,%d of %q", name, d.x, d.y-(len(rows)-1), rows)
		}
	}
}

func FuzzEditor(f *testing.F) {
	for _, keys := range []string{"abc\r", "\x1b[200~a\nb\x1b[201~\r", "al\t\t\r", "\x12x\x12\r", "'\r'\r", "\x1b[1;5D\x1b\x7f\x19", "日本\x02\x7f\r", "a\x14\x1bu\x1b<\x1b>\r"} {
		f.Add(keys, uint8(20), uint8(5))
	}
	f.Fuzz(func(t *testing.T, keys string, cols, rows uint8) {
		if len(keys) > 4096 {
			return // each key draws all of the text
		}
		d := newDisplay(max(8, int(cols)), max(2, int(rows)))
		e := newEditor(keys, d, "one", "two\nlines")
		for {
			text, err := e.Read("$ ", "> ")
			if err != nil {
				if err != io.EOF && !errors.Is(err, ErrInterrupted) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatal(err)
				}
				if err != ErrInterrupted {
					return
				}
			}
			if strings.ContainsAny(text, "\x00\x1b\x03") {
				t.Fatalf("control characters in %q", text)
			}
			if e.at < 0 || e.at > len(e.text) {
				t.Fatalf("cursor %d of %d", e.at, len(e.text))
			}
		}
	})
}

func TestHistory(t *testing.T) {
	t.Parallel()
	var saved string
	h := NewHistory("", func(text string) { saved = text })
	for _, text := range []string{"one", "one", "", " secret", "two\nlines", "\"quoted\""} {
		h.Add(text)
	}
	again := NewHistory(saved, nil)
	if got := fmt.Sprintf("%q", again.All()); got != `["one" "two\nlines" "\"quoted\""]` {
		t.Errorf("got %s of %q", got, saved)
	}
	for i := range historyLimit + 10 {
		h.Add(fmt.Sprint(i))
	}
	if h.Len() != historyLimit || h.At(0) != "10" {
		t.Errorf("%d texts from %q", h.Len(), h.At(0))
	}
}

// What others print goes above the text, which is whole below it, also in a search and at the right edge.
func TestPrint(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"echo typed":    "$ echo typed",
		"it's\ranother": "$ it's|> another",
		"\x12fir":       "(reverse-i-search)`fir': first one",
	} {
		d := newDisplay(40, 10)
		e := newEditor("", d, "first one")
		if e.Print([]byte("lost")) {
			t.Fatal("printed without a prompt")
		}
		in, out := io.Pipe()
		e.Keys = NewKeys(in, nil)
		ended := make(chan error)
		go func() {
			_, err := e.Read("$ ", "> ")
			ended <- err
		}()
		io.WriteString(out, keys)
		io.WriteString(out, "\x1b") // is read once what came before is drawn
		for _, p := range []string{"one\ntwo\n", "un", "finished\r\n", strings.Repeat("x", 39), "yz\n"} {
			if !e.Print([]byte(p)) {
				t.Fatal("there is no prompt")
			}
		}
		e.mu.Lock()
		got := strings.Join(d.text(), "|")
		e.mu.Unlock()
		if want := "one|two|unfinished|" + strings.Repeat("x", 39) + "y|z|" + want; got != want {
			t.Errorf("%q: shows\n%q, want\n%q", keys, got, want)
		}
		out.Close()
		<-ended
	}
}
