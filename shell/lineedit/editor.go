// Package lineedit reads commands of one or more lines from a terminal, with emacs keys, a history, completion and
// bracketed paste. It knows nothing of what is done with them.
package lineedit

import (
	"errors"
	"io"
	"strings"
	"sync"
	"unicode"
)

// Errors of Read besides those of the terminal.
var (
	ErrInterrupted = errors.New("interrupted") // Ctrl-C: the text was given up
	ErrTooLong     = errors.New("the text is too long")
)

// maxText bounds a text: what is more was never typed by hand.
const maxText = 4 << 20

// A Candidate is one completion.
type Candidate struct {
	Text string // replaces what is completed
	Says string // a description, or ""
	Open bool   // more may follow directly, as after a folder: no space is put
}

// Editor reads from one terminal, which has to be in raw mode while Read runs.
type Editor struct {
	Out  io.Writer
	Keys *Keys
	Size func() (cols, rows int)
	// Incomplete tells that a text wants more lines. Enter then starts a new one.
	Incomplete func(text string) bool
	// Complete returns completions of text[start:cursor], start being a byte offset.
	Complete func(text string, cursor int) (start int, all []Candidate)
	History  *History

	mu      sync.Mutex // held while Read draws, and not while it waits for a key
	reading bool
	text    []rune
	at      int
	screen  screen
	killed  []rune
	goal    int // column that up and down aim at, -1 for none
	past    int // index in the history, len for the text being written
	draft   string
	tabbed  bool // the last key was Tab
	last    Key
}

// Read shows a prompt and returns what was entered. io.EOF is Ctrl-D on an empty text.
func (e *Editor) Read(prompt, more string) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reading = true
	defer func() { e.reading = false }()
	e.text, e.at, e.goal, e.tabbed = e.text[:0], 0, -1, false
	e.past, e.draft = e.History.Len(), ""
	e.screen = screen{out: e.Out, prompt: prompt, more: more, size: e.Size}
	e.draw()
	for {
		k, err := e.next()
		if err != nil {
			return "", err
		}
		done, err := e.key(k)
		e.tabbed = k.Code == '\t' && err == nil
		e.last = k
		if err != nil {
			e.screen.leave(e.text, "")
			return "", err
		}
		if done {
			e.screen.leave(e.text, "")
			return string(e.text), nil
		}
	}
}

// next waits for a key. Others may print meanwhile.
func (e *Editor) next() (Key, error) {
	e.mu.Unlock()
	defer e.mu.Lock()
	return e.Keys.Next()
}

// Print shows output of others above the prompt and the text, which are drawn again below it. It reports false, and prints
// nothing, while there is no prompt. It is safe to be called at any time.
func (e *Editor) Print(p []byte) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.reading {
		e.screen.print(string(p))
	}
	return e.reading
}

// Redraw shows the text anew, after the terminal's size changed or something was printed.
func (e *Editor) Redraw() {
	e.screen.forget()
	e.draw()
}

func (e *Editor) draw() { e.screen.draw(e.text, e.at) }

func (e *Editor) insert(rs []rune) error {
	if len(e.text)+len(rs) > maxText/4 {
		return ErrTooLong
	}
	e.text = append(e.text[:e.at], append(append([]rune(nil), rs...), e.text[e.at:]...)...)
	e.at += len(rs)
	return nil
}

// remove cuts [from, to) out.
func (e *Editor) remove(from, to int, keep bool) {
	from, to = max(0, from), min(len(e.text), to)
	if from >= to {
		return
	}
	if keep {
		e.killed = append([]rune(nil), e.text[from:to]...)
	}
	e.text = append(e.text[:from], e.text[to:]...)
	if e.at >= to {
		e.at -= to - from
	} else if e.at > from {
		e.at = from
	}
}

func (e *Editor) set(text string) {
	e.text = []rune(text)
	e.at = len(e.text)
}

// lineStart and lineEnd are those of the line that the cursor is in.
func (e *Editor) lineStart() int {
	i := e.at
	for i > 0 && e.text[i-1] != '\n' {
		i--
	}
	return i
}

func (e *Editor) lineEnd() int {
	i := e.at
	for i < len(e.text) && e.text[i] != '\n' {
		i++
	}
	return i
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func (e *Editor) wordLeft() int {
	i := e.at
	for i > 0 && !isWord(e.text[i-1]) {
		i--
	}
	for i > 0 && isWord(e.text[i-1]) {
		i--
	}
	return i
}

func (e *Editor) wordRight() int {
	i := e.at
	for i < len(e.text) && !isWord(e.text[i]) {
		i++
	}
	for i < len(e.text) && isWord(e.text[i]) {
		i++
	}
	return i
}

// blankLeft is where the word of non-blanks before the cursor starts.
func (e *Editor) blankLeft() int {
	i := e.at
	for i > 0 && unicode.IsSpace(e.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(e.text[i-1]) {
		i--
	}
	return i
}

// vertical moves by one line, or through the history beyond the first and the last.
func (e *Editor) vertical(step int) {
	start, end := e.lineStart(), e.lineEnd()
	if e.goal < 0 {
		e.goal = e.at - start
	}
	switch {
	case step < 0 && start > 0:
		e.at = start - 1
		e.at = min(e.lineStart()+e.goal, start-1)
	case step > 0 && end < len(e.text):
		e.at = end + 1
		e.at = min(end+1+e.goal, e.lineEnd())
	default:
		e.travel(step)
	}
}

// travel shows another entry of the history.
func (e *Editor) travel(step int) {
	to := e.past + step
	if to < 0 || to > e.History.Len() {
		return
	}
	if e.past == e.History.Len() {
		e.draft = string(e.text)
	}
	e.past, e.goal = to, -1
	if to == e.History.Len() {
		e.set(e.draft)
	} else {
		e.set(e.History.At(to))
	}
}

// accept ends the text, or goes on in a new line.
func (e *Editor) accept() (bool, error) {
	text := string(e.text)
	if e.Incomplete != nil && strings.TrimSpace(text) != "" && e.Incomplete(text) {
		e.at = len(e.text)
		return false, e.insert([]rune{'\n'})
	}
	e.at = len(e.text)
	return true, nil
}
