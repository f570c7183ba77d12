package tools

import (
	"regexp"
	"strconv"
	"strings"
)

// sedCommand is one parsed command.
type sedCommand struct {
	from, to *sedAddress
	not      bool
	name     byte
	active   bool // in the range from, to
	ends     int  // line at which an active range with +N ends

	re     *regexp.Regexp // s
	with   []string       // s: literal text, and "\x00N" for group N
	global bool
	print  bool
	nth    int
	text   string        // a, i, c
	table  map[rune]rune // y
	label  string        // : b t
	jump   int           // b t {: index to go on after
	number int           // q
}

// sedAddress is a line number, $, a regular expression, first~step or +N.
type sedAddress struct {
	line, step int
	last, plus bool
	re         *regexp.Regexp
}

func (a *sedAddress) match(s *sedState) bool {
	switch {
	case a.last:
		return s.last()
	case a.re != nil:
		return a.re.MatchString(s.pattern)
	case a.step > 0:
		return s.line >= a.line && (s.line-a.line)%a.step == 0
	}
	return s.line == a.line
}

func (cmd *sedCommand) matches(s *sedState) bool {
	if cmd.from == nil {
		return true
	}
	if cmd.to == nil {
		return cmd.from.match(s)
	}
	if cmd.active {
		switch {
		case cmd.ends > 0:
			cmd.active = s.line < cmd.ends
		case cmd.to.re != nil || cmd.to.last:
			cmd.active = !cmd.to.match(s)
		default:
			cmd.active = s.line < cmd.to.line
			return s.line <= cmd.to.line
		}
		return true
	}
	if !cmd.from.match(s) {
		return false
	}
	cmd.ends, cmd.active = 0, true
	switch {
	case cmd.to.plus:
		cmd.ends = s.line + cmd.to.line
		cmd.active = cmd.to.line > 0
	case cmd.to.re == nil && !cmd.to.last:
		cmd.active = s.line < cmd.to.line
	case cmd.to.last:
		cmd.active = !s.last()
	}
	return true
}

func (cmd *sedCommand) substitute(text string) (string, int) {
	var out strings.Builder
	n, done, end := 0, 0, 0
	for _, m := range cmd.re.FindAllStringSubmatchIndex(text, -1) {
		n++
		if n < cmd.nth {
			continue
		}
		out.WriteString(text[end:m[0]])
		caseMode := byte(0)
		for _, part := range cmd.with {
			group, ok := strings.CutPrefix(part, "\x00")
			if ok && strings.ContainsAny(group, "ULE") {
				caseMode = group[0]
				continue
			}
			if ok {
				i, _ := strconv.Atoi(group)
				part = ""
				if 2*i+1 < len(m) && m[2*i] >= 0 {
					part = text[m[2*i]:m[2*i+1]]
				}
			}
			switch caseMode {
			case 'U':
				part = strings.ToUpper(part)
			case 'L':
				part = strings.ToLower(part)
			}
			out.WriteString(part)
		}
		end = m[1]
		if done++; !cmd.global {
			break
		}
	}
	out.WriteString(text[end:])
	return out.String(), done
}

// sedParser reads a script.
type sedParser struct {
	text     string
	at       int
	extended bool
}

func parseSed(text string, extended bool) ([]*sedCommand, error) {
	p := &sedParser{text: text, extended: extended}
	var prog []*sedCommand
	var open []int
	labels := map[string]int{}
	for {
		p.skip(" \t\n;")
		if p.at >= len(p.text) {
			break
		}
		if p.text[p.at] == '#' {
			p.until('\n')
			continue
		}
		cmd, err := p.command()
		if err != nil {
			return nil, err
		}
		switch cmd.name {
		case '{':
			open = append(open, len(prog))
		case '}':
			if len(open) == 0 {
				return nil, usagef("unexpected }")
			}
			prog[open[len(open)-1]].jump = len(prog)
			open = open[:len(open)-1]
		case ':':
			labels[cmd.label] = len(prog)
		}
		prog = append(prog, cmd)
	}
	if len(open) > 0 {
		return nil, usagef("unmatched {")
	}
	for _, cmd := range prog {
		if cmd.name != 'b' && cmd.name != 't' {
			continue
		}
		cmd.jump = len(prog)
		if cmd.label != "" {
			to, ok := labels[cmd.label]
			if !ok {
				return nil, usagef("no label %q", cmd.label)
			}
			cmd.jump = to
		}
	}
	return prog, nil
}

func (p *sedParser) skip(chars string) {
	for p.at < len(p.text) && strings.IndexByte(chars, p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *sedParser) until(end byte) string {
	rest := p.text[p.at:]
	if i := strings.IndexByte(rest, end); i >= 0 {
		p.at += i + 1
		return rest[:i]
	}
	p.at = len(p.text)
	return rest
}

func (p *sedParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *sedParser) integer() int {
	start := p.at
	for p.peek() >= '0' && p.peek() <= '9' {
		p.at++
	}
	n, _ := strconv.Atoi(p.text[start:p.at])
	return n
}

func (p *sedParser) address() (*sedAddress, error) {
	switch ch := p.peek(); {
	case ch == '$':
		p.at++
		return &sedAddress{last: true}, nil
	case ch == '+':
		p.at++
		return &sedAddress{line: p.integer(), plus: true}, nil
	case ch >= '0' && ch <= '9':
		a := &sedAddress{line: p.integer()}
		if p.peek() == '~' {
			p.at++
			a.step = p.integer()
		}
		return a, nil
	case ch == '/' || ch == '\\':
		if ch == '\\' {
			p.at++
		}
		text, err := p.delimited()
		if err != nil {
			return nil, err
		}
		flags := ""
		if p.peek() == 'I' {
			p.at++
			flags = "i"
		}
		re, err := compile(text, p.extended, flags)
		if err != nil {
			return nil, err
		}
		return &sedAddress{re: re}, nil
	}
	return nil, nil
}

// delimited reads /text/ with any delimiter; \/ is the delimiter itself.
func (p *sedParser) delimited() (string, error) {
	if p.at >= len(p.text) {
		return "", usagef("unterminated expression")
	}
	delim := p.text[p.at]
	p.at++
	return p.rest(delim, true)
}

// rest reads up to the delimiter, which in an expression may stand for itself in a set.
func (p *sedParser) rest(delim byte, sets bool) (string, error) {
	var out strings.Builder
	for ; p.at < len(p.text); p.at++ {
		ch := p.text[p.at]
		switch {
		case ch == '\\' && p.at+1 < len(p.text):
			p.at++
			if p.text[p.at] != delim {
				out.WriteByte('\\')
			}
			out.WriteByte(p.text[p.at])
		case sets && ch == '[' && bracket(p.text[p.at:]) > 0:
			end := p.at + bracket(p.text[p.at:])
			out.WriteString(strings.ReplaceAll(p.text[p.at:end+1], `\`+string(delim), string(delim)))
			p.at = end
		case ch == delim:
			p.at++
			return out.String(), nil
		default:
			out.WriteByte(ch)
		}
	}
	return "", usagef("unterminated %c", delim)
}

func (p *sedParser) command() (*sedCommand, error) {
	cmd := &sedCommand{nth: 1}
	var err error
	if cmd.from, err = p.address(); err != nil {
		return nil, err
	}
	if p.skip(" \t"); cmd.from != nil && p.peek() == ',' {
		p.at++
		p.skip(" \t")
		if cmd.to, err = p.address(); err != nil {
			return nil, err
		}
		if cmd.to == nil {
			return nil, usagef("expected an address after the comma")
		}
	}
	p.skip(" \t")
	for p.peek() == '!' {
		p.at++
		cmd.not = !cmd.not
		p.skip(" \t")
	}
	cmd.name = p.peek()
	p.at++
	switch cmd.name {
	case '{', '}', 'p', 'P', 'd', 'D', 'n', 'N', 'g', 'G', 'h', 'H', 'x', '=', 'l':
	case 'q', 'Q':
		p.skip(" ")
		cmd.number = p.integer()
	case 'a', 'i', 'c':
		p.skip(" \t")
		if strings.HasPrefix(p.text[min(p.at, len(p.text)):], "\\") {
			p.at++
			p.skip(" \t")
			if p.peek() == '\n' {
				p.at++
			}
		}
		text := p.until('\n')
		for strings.HasSuffix(text, "\\") && p.at < len(p.text) {
			text = strings.TrimSuffix(text, "\\") + "\n" + p.until('\n')
		}
		cmd.text = unescape(text)
	case ':', 'b', 't':
		p.skip(" \t")
		start := p.at
		for p.at < len(p.text) && strings.IndexByte(";\n}", p.text[p.at]) < 0 {
			p.at++
		}
		cmd.label = strings.TrimSpace(p.text[start:p.at])
	case 's':
		return cmd, p.substitution(cmd)
	case 'y':
		delim := p.peek()
		from, err := p.delimited()
		if err != nil {
			return nil, err
		}
		to, err := p.rest(delim, false)
		if err != nil {
			return nil, err
		}
		a, b := []rune(unescape(from)), []rune(unescape(to))
		if len(a) != len(b) {
			return nil, usagef("y needs two sets of the same length")
		}
		cmd.table = map[rune]rune{}
		for i := range a {
			cmd.table[a[i]] = b[i]
		}
	case 0:
		return nil, usagef("missing command")
	default:
		return nil, usagef("unknown command: %c", cmd.name)
	}
	return cmd, nil
}

func unescape(text string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`, "\\\n", "\n").Replace(text)
}

func (p *sedParser) substitution(cmd *sedCommand) error {
	delim := p.peek()
	expr, err := p.delimited()
	if err != nil {
		return err
	}
	with, err := p.rest(delim, false)
	if err != nil {
		return err
	}
	flags := ""
	for p.at < len(p.text) && strings.IndexByte(";\n} ", p.text[p.at]) < 0 {
		switch ch := p.text[p.at]; {
		case ch == 'g':
			cmd.global = true
		case ch == 'p':
			cmd.print = true
		case ch == 'i' || ch == 'I':
			flags += "i"
		case ch == 'm' || ch == 'M':
			flags += "m"
		case ch >= '1' && ch <= '9':
			cmd.nth = p.integer()
			continue
		default:
			return usagef("unknown option of s: %c", ch)
		}
		p.at++
	}
	if cmd.re, err = compile(expr, p.extended, flags); err != nil {
		return err
	}
	cmd.with = replacement(with)
	return nil
}

// replacement splits the right side of s into text and references to groups.
func replacement(text string) []string {
	var parts []string
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			parts = append(parts, lit.String())
			lit.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == '&':
			flush()
			parts = append(parts, "\x000")
		case ch == '\\' && i+1 < len(text):
			i++
			switch next := text[i]; {
			case next >= '0' && next <= '9' || strings.IndexByte("ULE", next) >= 0:
				flush()
				parts = append(parts, "\x00"+string(next))
			case next == 'n':
				lit.WriteByte('\n')
			case next == 't':
				lit.WriteByte('\t')
			default:
				lit.WriteByte(next)
			}
		default:
			lit.WriteByte(ch)
		}
	}
	flush()
	return parts
}
