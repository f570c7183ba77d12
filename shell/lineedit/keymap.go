package lineedit

import (
	"io"
	"strings"
	"unicode"
)

// ctrl is what the terminal sends for a letter with Ctrl.
func ctrl(letter rune) rune { return letter & 0x1f }

// key acts on one key. done tells that the text was entered.
func (e *Editor) key(k Key) (done bool, err error) {
	goal := e.goal
	e.goal = -1
	switch {
	case k.Paste != nil:
		err = e.insert(pasted(k.Paste))
	case k.Alt:
		e.alt(k.Code)
	default:
		switch k.Code {
		case '\r', '\n':
			if done, err = e.accept(); done {
				return true, nil
			}
		case ctrl('c'):
			e.at = len(e.text)
			e.screen.leave(e.text, "^C")
			e.text, e.at = e.text[:0], 0
			return false, ErrInterrupted
		case ctrl('d'):
			if len(e.text) == 0 {
				return false, io.EOF
			}
			e.remove(e.at, e.at+1, false)
		case KeyDelete:
			e.remove(e.at, e.at+1, false)
		case ctrl('h'), 127:
			e.remove(e.at-1, e.at, false)
		case ctrl('a'), KeyHome:
			e.at = e.lineStart()
		case ctrl('e'), KeyEnd:
			e.at = e.lineEnd()
		case ctrl('b'), KeyLeft:
			e.at = max(0, e.at-1)
		case ctrl('f'), KeyRight:
			e.at = min(len(e.text), e.at+1)
		case KeyWordLeft:
			e.at = e.wordLeft()
		case KeyWordRight:
			e.at = e.wordRight()
		case ctrl('p'), KeyUp:
			e.goal = goal
			e.vertical(-1)
		case ctrl('n'), KeyDown:
			e.goal = goal
			e.vertical(1)
		case KeyPageUp:
			e.travel(-1)
		case KeyPageDown:
			e.travel(1)
		case ctrl('k'):
			end := e.lineEnd()
			if end == e.at && end < len(e.text) {
				end++
			}
			e.remove(e.at, end, true)
		case ctrl('u'):
			e.remove(e.lineStart(), e.at, true)
		case ctrl('w'):
			e.remove(e.blankLeft(), e.at, true)
		case ctrl('y'):
			err = e.insert(e.killed)
		case ctrl('t'):
			e.swap()
		case ctrl('l'):
			e.screen.clear()
		case ctrl('r'):
			return e.search()
		case '\t':
			e.complete()
		default:
			if k.Code >= ' ' && k.Code < KeyUp || k.Code > keyLast {
				err = e.insert([]rune{k.Code})
			}
		}
	}
	if err == nil && !e.Keys.Pending() {
		e.draw() // for what comes in one burst, once
	}
	return false, err
}

func (e *Editor) alt(code rune) {
	switch code {
	case 'b', KeyLeft:
		e.at = e.wordLeft()
	case 'f', KeyRight:
		e.at = e.wordRight()
	case 'd':
		e.remove(e.at, e.wordRight(), true)
	case 127, ctrl('h'):
		e.remove(e.wordLeft(), e.at, true)
	case '<':
		e.travel(-e.past)
	case '>':
		e.travel(e.History.Len() - e.past)
	case '.', '_':
		if e.History.Len() > 0 {
			if words := strings.Fields(e.History.At(e.History.Len() - 1)); len(words) > 0 {
				e.insert([]rune(words[len(words)-1]))
			}
		}
	case 'u', 'l', 'c':
		to := e.wordRight()
		first := true
		for ; e.at < to; e.at++ {
			r := e.text[e.at]
			switch {
			case code == 'u' || code == 'c' && first && isWord(r):
				e.text[e.at] = unicode.ToUpper(r)
			default:
				e.text[e.at] = unicode.ToLower(r)
			}
			first = first && !isWord(r)
		}
	case '\r', '\n':
		e.insert([]rune{'\n'})
	}
}

func (e *Editor) swap() {
	if len(e.text) < 2 || e.at == 0 {
		return
	}
	if e.at == len(e.text) {
		e.at--
	}
	e.text[e.at-1], e.text[e.at] = e.text[e.at], e.text[e.at-1]
	e.at++
}

// pasted is a paste as text: all ends of lines are \n, and no control character is left but tab.
func pasted(p []byte) []rune {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(p))
	return []rune(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 127 {
			return -1
		}
		return r
	}, text))
}

// search is Ctrl-R: it shows the newest entry of the history that contains what is typed.
func (e *Editor) search() (bool, error) {
	before, at := string(e.text), e.at
	var find []rune
	i := e.History.Len()
	hit := ""
	seek := func(from int) bool {
		for j := from; j >= 0; j-- {
			if j < e.History.Len() && strings.Contains(e.History.At(j), string(find)) {
				i, hit = j, e.History.At(j)
				return true
			}
		}
		return false
	}
	for failed := false; ; {
		label := "(reverse-i-search)`"
		if failed {
			label = "(failed reverse-i-search)`"
		}
		e.set(hit)
		if n := strings.Index(hit, string(find)); n >= 0 {
			e.at = len([]rune(hit[:n]))
		}
		e.screen.drawAs(label+string(find)+"': ", e.text, e.at)
		k, err := e.next()
		if err != nil {
			return false, err
		}
		switch {
		case k.Paste != nil:
			find = append(find, pasted(k.Paste)...)
			failed = !seek(e.History.Len() - 1)
		case !k.Alt && k.Code == ctrl('r'):
			failed = len(find) == 0 || !seek(i-1)
		case !k.Alt && (k.Code == 127 || k.Code == ctrl('h')):
			if len(find) > 0 {
				find = find[:len(find)-1]
			}
			i, hit = e.History.Len(), ""
			failed = len(find) > 0 && !seek(e.History.Len()-1)
		case !k.Alt && (k.Code == ctrl('g') || k.Code == ctrl('c')):
			e.set(before)
			e.at = at
			e.draw()
			return false, nil
		case !k.Alt && k.Code >= ' ' && (k.Code < KeyUp || k.Code > keyLast):
			find = append(find, k.Code)
			failed = !seek(min(i, e.History.Len()-1))
		default:
			e.past = i
			if hit == "" {
				e.set(before)
				e.at, e.past = at, e.History.Len()
			}
			if k.Code == 27 || k.Code == '\t' {
				e.draw()
				return false, nil
			}
			return e.key(k)
		}
	}
}

// complete is Tab: the longest common beginning is put in, and a second Tab lists what there is.
func (e *Editor) complete() {
	if e.Complete == nil {
		return
	}
	text := string(e.text)
	cursor := len(string(e.text[:e.at]))
	start, all := e.Complete(text, cursor)
	if len(all) == 0 || start < 0 || start > cursor {
		return
	}
	typed := text[start:cursor]
	common := all[0].Text
	for _, c := range all[1:] {
		for !strings.HasPrefix(c.Text, common) {
			common = common[:len(common)-1]
		}
	}
	for !validEnd(common) {
		common = common[:len(common)-1]
	}
	if len(all) == 1 && !all[0].Open {
		common += " "
	}
	if common != typed && (len(common) > len(typed) || len(all) == 1) {
		from := len([]rune(text[:start]))
		e.remove(from, e.at, false)
		e.insert([]rune(common))
		return
	}
	if e.tabbed && len(all) > 1 {
		e.screen.list(e.text, all)
	}
}

// validEnd reports whether text does not end within a character.
func validEnd(text string) bool { return strings.ToValidUTF8(text, "") == text }
