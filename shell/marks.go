package shell

import "strings"

// marks reads what a shell says about itself in its output, in the sequences that terminals understand: OSC 0 and 2 set
// the title, OSC 133 C marks the start of a command and A the next prompt (FinalTerm's shell integration).
type marks struct {
	state int // 0 text, 1 after ESC, 2 in an OSC, 3 in an OSC after ESC
	osc   []byte
	title string
	busy  bool
}

// maxOSC bounds what is kept of a sequence.
const maxOSC = 512

func (m *marks) write(p []byte) {
	for _, b := range p {
		switch m.state {
		case 0:
			if b == 27 {
				m.state = 1
			}
		case 1:
			m.state = 0
			switch b {
			case ']':
				m.state, m.osc = 2, m.osc[:0]
			case 27:
				m.state = 1
			}
		case 2:
			switch {
			case b == 7:
				m.end()
			case b == 27:
				m.state = 3
			case len(m.osc) < maxOSC:
				m.osc = append(m.osc, b)
			}
		case 3:
			if b == '\\' {
				m.end()
			} else {
				m.state = 0
			}
		}
	}
}

func (m *marks) end() {
	m.state = 0
	code, rest, _ := strings.Cut(string(m.osc), ";")
	switch code {
	case "0", "2":
		m.title = strings.ToValidUTF8(rest, "")
	case "133":
		switch {
		case strings.HasPrefix(rest, "C"):
			m.busy = true
		case strings.HasPrefix(rest, "A"):
			m.busy = false
		}
	}
}
