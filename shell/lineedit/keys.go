package lineedit

import (
	"bytes"
	"io"
	"time"
	"unicode/utf8"
)

// A Key is one key press, or a paste.
type Key struct {
	Code  rune
	Alt   bool
	Paste []byte // of a bracketed paste; not nil, even if empty
}

// Keys that are no characters have codes in a private area of Unicode.
const (
	KeyUp rune = 0xF700 + iota
	KeyDown
	KeyLeft
	KeyRight
	KeyHome
	KeyEnd
	KeyPageUp
	KeyPageDown
	KeyDelete
	KeyInsert
	KeyWordLeft
	KeyWordRight
	keyNone
	keyLast = keyNone
)

// Keys reads key presses from a terminal in raw mode, byte by byte: what is typed ahead of a command is for the command.
type Keys struct {
	in io.Reader
	// Waits reports whether a byte comes within a time: an Escape alone is a key, before others it starts a sequence.
	Waits func(time.Duration) bool
}

// NewKeys reads from a terminal.
func NewKeys(in io.Reader, waits func(time.Duration) bool) *Keys {
	return &Keys{in: in, Waits: waits}
}

func (k *Keys) readByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(k.in, b[:])
	return b[0], err
}

// readRune reads one character; what is not UTF-8 is utf8.RuneError.
func (k *Keys) readRune() (rune, error) {
	b, err := k.readByte()
	if err != nil || b < utf8.RuneSelf {
		return rune(b), err
	}
	p := []byte{b}
	for !utf8.FullRune(p) {
		if b, err = k.readByte(); err != nil {
			return 0, err
		}
		p = append(p, b)
	}
	r, _ := utf8.DecodeRune(p)
	return r, nil
}

func (k *Keys) more() bool {
	return k.Waits == nil || k.Waits(50*time.Millisecond)
}

// Pending reports whether more was typed already.
func (k *Keys) Pending() bool { return k.Waits != nil && k.Waits(0) }

// Next returns the next key. What means nothing is a key with a code that nobody knows.
func (k *Keys) Next() (Key, error) {
	r, err := k.readRune()
	if err != nil {
		return Key{}, err
	}
	if r == utf8.RuneError {
		return Key{Code: keyNone}, nil
	}
	if r >= KeyUp && r <= keyLast {
		return Key{Code: keyNone}, nil
	}
	if r != 27 {
		return Key{Code: r}, nil
	}
	if !k.more() {
		return Key{Code: 27}, nil
	}
	r, err = k.readRune()
	if err != nil {
		return Key{}, err
	}
	switch r {
	case '[':
		return k.csi()
	case 'O':
		r, err = k.readRune()
		if err != nil {
			return Key{}, err
		}
		return Key{Code: final(byte(r), 0, false)}, nil
	case 27:
		return Key{Code: 27}, nil
	}
	return Key{Code: r, Alt: true}, nil
}

// csi reads a control sequence after its introducer.
func (k *Keys) csi() (Key, error) {
	var args [2]int
	n := 0
	for i := 0; ; i++ {
		b, err := k.readByte()
		if err != nil {
			return Key{}, err
		}
		switch {
		case b >= '0' && b <= '9':
			if n < 2 && args[n] < 10000 {
				args[n] = args[n]*10 + int(b-'0')
			}
		case b == ';':
			n++
		case b >= 0x40 && b <= 0x7e:
			if b == '~' && args[0] == 200 {
				p, err := k.paste()
				return Key{Paste: p}, err
			}
			return Key{Code: final(b, args[0], args[1] == 5 || args[1] == 3)}, nil
		case i > 64:
			return Key{Code: keyNone}, nil
		}
	}
}

// final maps a sequence's last byte and its number to a key.
func final(b byte, num int, word bool) rune {
	switch b {
	case 'A':
		return KeyUp
	case 'B':
		return KeyDown
	case 'C':
		if word {
			return KeyWordRight
		}
		return KeyRight
	case 'D':
		if word {
			return KeyWordLeft
		}
		return KeyLeft
	case 'H':
		return KeyHome
	case 'F':
		return KeyEnd
	case 'M':
		return '\r' // the keypad's Enter
	case '~':
		switch num {
		case 1, 7:
			return KeyHome
		case 2:
			return KeyInsert
		case 3:
			return KeyDelete
		case 4, 8:
			return KeyEnd
		case 5:
			return KeyPageUp
		case 6:
			return KeyPageDown
		}
	}
	return keyNone
}

var pasteEnd = []byte("\x1b[201~")

// paste reads up to the end of a bracketed paste. What is beyond the bound is read and dropped.
func (k *Keys) paste() ([]byte, error) {
	p := []byte{}
	for {
		b, err := k.readByte()
		if err != nil {
			return p, err
		}
		p = append(p, b)
		if bytes.HasSuffix(p, pasteEnd) {
			return p[:len(p)-len(pasteEnd)], nil
		}
		if len(p) > 2*maxText {
			copy(p[maxText:], p[len(p)-len(pasteEnd):])
			p = p[:maxText+len(pasteEnd)]
		}
	}
}
