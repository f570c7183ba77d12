package tools

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// compile turns a POSIX expression, basic or extended, into a Go one that finds what GNU's tools find: of all matches
// that begin first, the longest. Back-references do not exist in it (RE2), and are refused with a sentence. Flags are
// Go's: i, m.
func compile(expr string, extended bool, flags string) (*regexp.Regexp, error) {
	text, err := translate(expr, extended)
	if err != nil {
		return nil, usagef("%v", err)
	}
	if !strings.Contains(flags, "m") {
		flags += "s" // a dot is any character of sed's pattern space, which may hold several lines
	}
	re, err := regexp.Compile("(?" + flags + ")" + text)
	if err != nil {
		return nil, usagef("invalid expression %q: %v", expr, err)
	}
	re.Longest()
	return re, nil
}

// translator writes an expression anew in Go's syntax. The two POSIX syntaxes differ in which of ( ) { } | + ? are
// operators bare and which behind a backslash, and a basic expression knows ^ $ * only in their places: everywhere else
// they are themselves.
type translator struct {
	expr     string
	at       int
	extended bool
	out      strings.Builder
	atom     int   // where in out the last atom begins, -1: there is none that could be repeated
	repeated bool  // the atom has been
	groups   []int // where in out the open groups begin
}

func translate(expr string, extended bool) (string, error) {
	t := &translator{expr: expr, extended: extended, atom: -1}
	for t.at < len(expr) {
		if err := t.token(); err != nil {
			return "", err
		}
	}
	if len(t.groups) > 0 {
		return "", fmt.Errorf("unmatched ( in %q", expr)
	}
	return t.out.String(), nil
}

func (t *translator) token() error {
	first := t.atom < 0 // of the expression, a group or an alternative
	ch := t.expr[t.at]
	t.at++
	switch {
	case ch == '[':
		return t.set()
	case ch == '^' && (t.extended || first && !strings.HasSuffix(t.out.String(), "^")), ch == '$' && (t.extended || t.ends()):
		t.out.WriteByte(ch)
		t.atom = -1
		return nil
	case ch == '.':
		t.literal(".")
		return nil
	case ch == '*' && (t.extended || !first):
		t.repeat("*")
		return nil
	case strings.IndexByte("(){}|+?", ch) >= 0 && t.extended:
		return t.operator(ch)
	case ch == '\\' && t.at == len(t.expr):
		return fmt.Errorf("a backslash ends %q", t.expr)
	case ch != '\\':
		t.at--
		t.literal(t.char())
		return nil
	}
	ch = t.expr[t.at]
	t.at++
	switch {
	case ch >= '1' && ch <= '9':
		return fmt.Errorf("back-reference \\%c is not supported here", ch)
	case strings.IndexByte("(){}|+?", ch) >= 0 && !t.extended:
		return t.operator(ch)
	case ch == '<' || ch == '>' || ch == 'b':
		t.out.WriteString(`\b`)
	case ch == 'B':
		t.out.WriteString(`\B`)
	case ch == '`':
		t.out.WriteString(`\A`)
	case ch == '\'':
		t.out.WriteString(`\z`)
	case strings.IndexByte("ntwWsS", ch) >= 0:
		t.literal(`\` + string(ch))
	default:
		t.at--
		t.literal(t.char())
	}
	return nil
}

// char takes a character that stands for itself.
func (t *translator) char() string {
	_, size := utf8.DecodeRuneInString(t.expr[t.at:])
	t.at += size
	return regexp.QuoteMeta(t.expr[t.at-size : t.at])
}

// ends reports whether a basic expression, a group in it or an alternative ends here.
func (t *translator) ends() bool {
	rest := t.expr[t.at:]
	return rest == "" || strings.HasPrefix(rest, `\)`) || strings.HasPrefix(rest, `\|`)
}

func (t *translator) literal(text string) {
	t.atom, t.repeated = t.out.Len(), false
	t.out.WriteString(text)
}

func (t *translator) operator(ch byte) error {
	switch ch {
	case '(':
		t.groups = append(t.groups, t.out.Len())
		t.out.WriteByte('(')
		t.atom = -1
	case ')':
		if len(t.groups) == 0 {
			return fmt.Errorf("unmatched ) in %q", t.expr)
		}
		t.out.WriteByte(')')
		t.atom, t.repeated = t.groups[len(t.groups)-1], false
		t.groups = t.groups[:len(t.groups)-1]
	case '|':
		t.out.WriteByte('|')
		t.atom = -1
	case '{':
		return t.bounds()
	case '}':
		t.literal(`\}`)
	default: // + ?
		if t.atom < 0 && !t.extended {
			t.literal(`\` + string(ch))
			return nil
		}
		t.repeat(string(ch))
	}
	return nil
}

// repeat applies a quantifier to the last atom; without one it means nothing, as in GNU's grep.
func (t *translator) repeat(quantifier string) {
	if t.atom < 0 {
		return
	}
	if t.repeated { // a**, a+?: Go knows some as something else, and refuses others
		text := t.out.String()
		t.out.Reset()
		t.out.WriteString(text[:t.atom] + "(?:" + text[t.atom:] + ")")
	}
	t.out.WriteString(quantifier)
	t.repeated = true
}

// bounds reads what follows the opening of {n}, {n,}, {,m}, {n,m}.
func (t *translator) bounds() error {
	end := "}"
	if !t.extended {
		end = `\}`
	}
	text, rest, closed := strings.Cut(t.expr[t.at:], end)
	low, high, ranged := strings.Cut(text, ",")
	switch {
	case t.extended && (!closed || !isNumber(low) || !isNumber(high) || text == ""): // as in GNU's grep
		t.literal(`\{`)
		return nil
	case !closed:
		return fmt.Errorf(`unmatched \{ in %q`, t.expr)
	case !isNumber(low) || !isNumber(high) || text == "":
		return fmt.Errorf("invalid bounds {%s} in %q", text, t.expr)
	case low == "":
		low = "0"
	}
	if ranged {
		low += "," + high
	}
	t.at = len(t.expr) - len(rest)
	t.repeat("{" + low + "}")
	return nil
}

// isNumber takes what is not there for one as well.
func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }

// set reads what follows the [ of a set. A backslash is itself in it, but for \n and \t.
func (t *translator) set() error {
	start := t.at - 1
	end := bracket(t.expr[start:])
	if end < 0 {
		return fmt.Errorf("unmatched [ in %q", t.expr)
	}
	t.at = start + end + 1
	body, not := strings.CutPrefix(t.expr[start+1:start+end], "^")
	body = strings.ReplaceAll(body, `\`, `\\`)
	if rest, ok := strings.CutPrefix(body, "]"); ok {
		body = `\]` + rest
	}
	body = strings.NewReplacer(`\\n`, `\n`, `\\t`, `\t`, "[:", "[:", "[", `\[`).Replace(body)
	if not {
		body = "^" + body
	}
	t.literal("[" + body + "]")
	return nil
}

// bracket finds the end of a set that text starts with, -1 if there is none.
func bracket(text string) int {
	i := 1
	if i < len(text) && text[i] == '^' {
		i++
	}
	if i < len(text) && text[i] == ']' {
		i++
	}
	for ; i < len(text); i++ {
		if strings.HasPrefix(text[i:], "[:") {
			if end := strings.Index(text[i:], ":]"); end > 0 {
				i += end + 1
				continue
			}
		}
		if text[i] == ']' {
			return i
		}
	}
	return -1
}
