package lineedit

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// display is a terminal as far as the editor uses one: it wraps, scrolls and obeys cursor movements.
type display struct {
	cols, rows int
	cells      [][]rune
	x, y       int
	top        int // rows that have scrolled away
	last       display0
}

// display0 is what was shown before the last drawing.
type display0 struct {
	rows []string
	x, y int
}

func newDisplay(cols, rows int) *display {
	return &display{cols: cols, rows: rows, cells: [][]rune{nil}}
}

func (d *display) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(p, []byte("\r")) || bytes.HasPrefix(p, []byte("\r\n")) {
		d.feed(p)
		d.last = display0{d.text(), d.x, d.y}
		return len(p), nil
	}
	d.feed(p) // the editor leaves
	return len(p), nil
}

// before returns the rows as they were before the editor left, and puts the cursor back there.
func (d *display) before() []string {
	d.x, d.y = d.last.x, d.last.y
	return d.last.rows
}

func (d *display) text() []string {
	var rows []string
	for _, r := range d.cells {
		rows = append(rows, strings.ReplaceAll(string(r), "\x00", ""))
	}
	for len(rows) > 1 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

func (d *display) down() {
	d.y++
	for len(d.cells) <= d.y {
		d.cells = append(d.cells, nil)
	}
	d.top = max(d.top, d.y-d.rows+1)
}

func (d *display) put(r rune) {
	w := Width(r)
	if w == 0 {
		return // combined with the one before
	}
	if d.x+w > d.cols {
		d.x = 0
		d.down()
	}
	row := d.cells[d.y]
	for len(row) < d.x+w {
		row = append(row, ' ')
	}
	row[d.x] = r
	if w == 2 {
		row[d.x+1] = 0
	}
	d.cells[d.y] = row
	d.x += w
}

func (d *display) feed(p []byte) {
	for len(p) > 0 {
		if p[0] == 27 && len(p) > 1 && p[1] == '[' {
			end := 2
			for p[end] < 0x40 {
				end++
			}
			d.csi(p[end], string(p[2:end]))
			p = p[end+1:]
			continue
		}
		r, n := utf8.DecodeRune(p)
		p = p[n:]
		switch r {
		case '\r':
			d.x = 0
		case '\n':
			d.down()
		case 7:
		default:
			d.put(r)
		}
	}
}

func (d *display) csi(code byte, args string) {
	n := 0
	for _, c := range args {
		if c >= '0' && c <= '9' {
			n = n*10 + int(c-'0')
		}
	}
	switch code {
	case 'A':
		d.y = max(d.top, d.y-max(n, 1))
	case 'B':
		d.y = min(len(d.cells)-1, d.y+max(n, 1))
	case 'C':
		d.x = min(d.cols-1, d.x+max(n, 1))
	case 'J':
		if n == 0 {
			d.cells = d.cells[:d.y+1]
			d.cells[d.y] = d.cells[d.y][:min(d.x, len(d.cells[d.y]))]
		}
	case 'K':
		d.cells[d.y] = d.cells[d.y][:min(d.x, len(d.cells[d.y]))]
	case 'H':
		d.y, d.x = d.top, 0
	}
}
