package tools

import (
	"context"
	"fmt"
	"io"
	"strings"
)

func init() {
	lessTool := Tool{"[FILE...]", "read a text page by page", less}
	register("less", lessTool)
	register("more", lessTool)
	register("pager", lessTool)
}

func less(ctx context.Context, c *Call) error {
	var names []string
	for _, a := range c.Args {
		if !strings.HasPrefix(a, "-") || a == "-" {
			names = append(names, a)
		}
	}
	if !terminal(c.Stdout) || c.Host.Keys == nil {
		return c.each(names, func(_ string, r io.Reader) error {
			_, err := io.Copy(writerOnly{c.Stdout}, readerOnly{r})
			return err
		})
	}
	var all []string
	err := c.each(names, func(_ string, r io.Reader) error {
		return lines(io.LimitReader(r, maxText), func(l string) error { all = append(all, strings.ReplaceAll(l, "\t", "        ")); return nil })
	})
	if err != nil {
		return err
	}
	next, stop, err := c.Host.Keys(ctx)
	if err != nil {
		return err
	}
	defer stop()
	io.WriteString(c.Stdout, "\x1b[?1049h")
	defer c.finally("\x1b[?1049l")
	p := &pager{c: c, all: all, next: next}
	return p.run()
}

// pager shows a text in the terminal's other screen.
type pager struct {
	c    *Call
	all  []string
	top  int
	find string
	next func() (rune, error)
}

func (p *pager) size() (cols, rows int) {
	cols, rows = p.c.Host.Size()
	return max(cols, 20), max(rows, 3)
}

func (p *pager) draw(note string) {
	cols, rows := p.size()
	p.top = max(0, min(p.top, len(p.all)-rows+1))
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i := range rows - 1 {
		b.WriteString("\x1b[K")
		if p.top+i < len(p.all) {
			line := p.all[p.top+i]
			if r := []rune(line); len(r) > cols && !strings.Contains(line, "\x1b") {
				line = string(r[:cols])
			}
			if p.find != "" {
				line = strings.ReplaceAll(line, p.find, "\x1b[7m"+p.find+"\x1b[27m")
			}
			b.WriteString(line)
		} else {
			b.WriteString("~")
		}
		b.WriteString("\r\n")
	}
	if note == "" {
		note = fmt.Sprintf("lines %d-%d/%d  (q ends, space: next page, / searches)", p.top+1, min(len(p.all), p.top+rows-1), len(p.all))
	}
	b.WriteString("\x1b[K\x1b[7m" + note + "\x1b[0m")
	io.WriteString(p.c.Stdout, b.String())
}

func (p *pager) run() error {
	for note := ""; ; {
		p.draw(note)
		note = ""
		key, err := p.next()
		if err != nil {
			return err
		}
		_, rows := p.size()
		switch key {
		case 'q', 'Q', 3, 4:
			return nil
		case ' ', 'f', KeyPageDown:
			p.top += rows - 2
		case 'b', KeyPageUp:
			p.top -= rows - 2
		case 'j', '\r', '\n', KeyDown:
			p.top++
		case 'k', KeyUp:
			p.top--
		case 'd':
			p.top += rows / 2
		case 'u':
			p.top -= rows / 2
		case 'g', '<', KeyHome:
			p.top = 0
		case 'G', '>', KeyEnd:
			p.top = len(p.all)
		case '/':
			text := ""
			for {
				p.draw("/" + text)
				k, err := p.next()
				if err != nil {
					return err
				}
				if k == '\r' || k == '\n' {
					break
				}
				if k == 27 || k == 3 {
					text = ""
					break
				}
				if k == 127 || k == 8 {
					if r := []rune(text); len(r) > 0 {
						text = string(r[:len(r)-1])
					}
					continue
				}
				if k >= ' ' && k < KeyUp {
					text += string(k)
				}
			}
			p.find = text
			note = p.seek(p.top, 1)
		case 'n':
			note = p.seek(p.top+1, 1)
		case 'N':
			note = p.seek(p.top-1, -1)
		}
	}
}

func (p *pager) seek(from, step int) string {
	if p.find == "" {
		return ""
	}
	for i := from; i >= 0 && i < len(p.all); i += step {
		if strings.Contains(p.all[i], p.find) {
			p.top = i
			return ""
		}
	}
	return "not found: " + p.find
}

// Keys that are no characters, as Host.Keys gives them. They lie in a private area of Unicode.
const (
	KeyUp rune = 0xF700 + iota
	KeyDown
	KeyLeft
	KeyRight
	KeyHome
	KeyEnd
	KeyPageUp
	KeyPageDown
)
