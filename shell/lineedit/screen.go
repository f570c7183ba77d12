package lineedit

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// screen draws a prompt and a text of several lines below what was printed before. It redraws all of it for each
// change: terminals are fast, and what is shown is never out of step. A text taller than the terminal is shown in part.
type screen struct {
	out    io.Writer
	prompt string
	more   string // before each further line
	size   func() (cols, rows int)

	row   int    // of the cursor, from the first row that was drawn
	again func() // draws what is shown once more
	tail  int    // width of the line above that was printed without its end
}

func (s *screen) dims() (cols, rows int) {
	cols, rows = 80, 24
	if s.size != nil {
		if c, r := s.size(); c > 0 && r > 0 {
			cols, rows = c, r
		}
	}
	return max(cols, 4), max(rows, 2)
}

// Width is the number of columns of a character.
func Width(r rune) int {
	switch {
	case r == '\t':
		return 4
	case r < ' ' || r == 127:
		return 2
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// layout breaks the text into rows of the terminal, and finds the cursor in them.
func (s *screen) layout(prompt string, text []rune, at, cols int) (rows []string, y, x int) {
	var row strings.Builder
	col := 0
	newRow := func() {
		rows = append(rows, row.String())
		row.Reset()
		col = 0
	}
	put := func(shown string, w int) {
		if col+w > cols {
			newRow()
		}
		row.WriteString(shown)
		col += w
	}
	lead := func(p string) {
		row.WriteString(p)
		col += visibleWidth(p)
		for col >= cols {
			col -= cols
		}
	}
	lead(prompt)
	for i, r := range text {
		if i == at {
			if col+Width(r) > cols && r != '\n' {
				newRow()
			}
			y, x = len(rows), col
		}
		switch {
		case r == '\n':
			newRow()
			lead(s.more)
		case r == '\t':
			put("    ", 4)
		case r < ' ' || r == 127:
			put("^"+string(r^0x40), 2)
		default:
			put(string(r), Width(r))
		}
	}
	if col >= cols {
		newRow() // the cursor needs a place
	}
	if at >= len(text) {
		y, x = len(rows), col
	}
	rows = append(rows, row.String())
	return rows, y, x
}

// visibleWidth is the width of a prompt without its escape sequences.
func visibleWidth(p string) int {
	w := 0
	for i := 0; i < len(p); {
		if p[i] == 27 && i+1 < len(p) {
			i = skipEscape(p, i)
			continue
		}
		r, n := utf8.DecodeRuneInString(p[i:])
		if r >= ' ' {
			w += Width(r)
		}
		i += n
	}
	return w
}

// skipEscape returns the index after an escape sequence: CSI, or OSC up to BEL or ST.
func skipEscape(p string, i int) int {
	switch p[i+1] {
	case '[':
		for i += 2; i < len(p); i++ {
			if p[i] >= 0x40 && p[i] <= 0x7e {
				return i + 1
			}
		}
	case ']':
		for i += 2; i < len(p); i++ {
			if p[i] == 7 {
				return i + 1
			}
			if p[i] == 27 && i+1 < len(p) {
				return i + 2
			}
		}
	default:
		return i + 2
	}
	return len(p)
}

func (s *screen) draw(text []rune, at int) { s.drawAs(s.prompt, text, at) }

func (s *screen) drawAs(prompt string, text []rune, at int) {
	s.again = func() { s.drawAs(prompt, text, at) }
	cols, height := s.dims()
	rows, y, x := s.layout(prompt, text, at, cols)
	top := 0
	if len(rows) > height {
		top = max(0, min(y-height/2, len(rows)-height))
	}
	shown := rows[top:min(len(rows), top+height)]
	var b strings.Builder
	b.WriteString("\x1b[?25l\r")
	if s.row > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.row)
	}
	b.WriteString("\x1b[J")
	b.WriteString(strings.Join(shown, "\r\n"))
	if up := len(shown) - 1 - (y - top); up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if x > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", x)
	}
	b.WriteString("\x1b[?25h")
	s.row = y - top
	io.WriteString(s.out, b.String())
}

// leave puts the cursor below the text. All of it is shown, so that it can be read later.
func (s *screen) leave(text []rune, mark string) {
	if s.row < 0 {
		return
	}
	cols, _ := s.dims()
	rows, _, _ := s.layout(s.prompt, text, len(text), cols)
	var b strings.Builder
	b.WriteByte('\r')
	if s.row > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.row)
	}
	b.WriteString("\x1b[J" + strings.Join(rows, "\r\n"))
	b.WriteString(mark + "\r\n")
	s.row = -1
	io.WriteString(s.out, b.String())
}

// print puts text above what is shown. A line that came without its end is gone on with by the next call.
func (s *screen) print(text string) {
	if text == "" || s.row < 0 {
		return
	}
	var b strings.Builder
	b.WriteString("\x1b[?25l\r")
	if s.row > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.row)
	}
	b.WriteString("\x1b[J")
	cols, _ := s.dims()
	if x := s.tail % cols; x > 0 {
		fmt.Fprintf(&b, "\x1b[A\x1b[%dC", x)
	}
	b.WriteString(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n"))
	if i := strings.LastIndexAny(text, "\r\n"); i >= 0 {
		s.tail, text = 0, text[i+1:]
	}
	if s.tail += visibleWidth(text); s.tail > 0 {
		b.WriteString("\r\n")
	}
	s.row = 0
	io.WriteString(s.out, b.String())
	s.again()
}

// forget is called when what was drawn is not there any more.
func (s *screen) forget() { s.row = 0 }

func (s *screen) clear() {
	io.WriteString(s.out, "\x1b[H\x1b[2J")
	s.row = 0
}

// listed bounds how many candidates are shown.
const listed = 200

// list prints candidates below the text.
func (s *screen) list(text []rune, all []Candidate) {
	cols, _ := s.dims()
	rows, _, _ := s.layout(s.prompt, text, len(text), cols)
	var b strings.Builder
	if down := len(rows) - 1 - s.row; down > 0 {
		fmt.Fprintf(&b, "\x1b[%dB", down)
	}
	b.WriteString("\r\n")
	more := len(all) - listed
	all = all[:min(len(all), listed)]
	names := make([]string, len(all))
	w, said := 0, false
	for i, c := range all {
		names[i] = label(c.Text)
		w = max(w, visibleWidth(names[i])+2)
		said = said || c.Says != ""
	}
	if said {
		for i, c := range all {
			line := names[i] + strings.Repeat(" ", w-visibleWidth(names[i]))
			if c.Says != "" {
				line += "-- " + c.Says
			}
			if r := []rune(line); len(r) > cols-1 {
				line = string(r[:cols-1])
			}
			b.WriteString(line + "\r\n")
		}
	} else {
		per := max(1, cols/w)
		lines := (len(names) + per - 1) / per
		for l := range lines {
			var line strings.Builder
			for i := l; i < len(names); i += lines {
				line.WriteString(names[i] + strings.Repeat(" ", w-visibleWidth(names[i])))
			}
			b.WriteString(strings.TrimRight(line.String(), " ") + "\r\n")
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "… and %d more\r\n", more)
	}
	s.row = 0
	io.WriteString(s.out, b.String())
}

// label is what is shown of a candidate: of a path, its last part.
func label(text string) string {
	trimmed := strings.TrimSuffix(text, "/")
	if i := strings.LastIndexByte(trimmed, '/'); i >= 0 && !strings.Contains(trimmed[i+1:], " ") {
		return text[i+1:]
	}
	return text
}
