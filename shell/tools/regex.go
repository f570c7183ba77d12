package tools

import (
	"fmt"
	"regexp"
	"strings"
)

// compile turns a POSIX expression, basic or extended, into a Go one. Back-references do not exist in it (RE2), and
// are refused with a sentence.
func compile(expr string, extended, fold bool) (*regexp.Regexp, error) {
	text, err := translate(expr, extended)
	if err != nil {
		return nil, usagef("%v", err)
	}
	if fold {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, usagef("invalid expression %q: %v", expr, err)
	}
	return re, nil
}

func translate(expr string, extended bool) (string, error) {
	var out strings.Builder
	for i := 0; i < len(expr); i++ {
		ch := expr[i]
		switch {
		case ch == '\\' && i+1 < len(expr):
			i++
			next := expr[i]
			switch {
			case next >= '1' && next <= '9':
				return "", fmt.Errorf("back-reference \\%c is not supported here", next)
			case strings.IndexByte("(){}|+?", next) >= 0 && !extended:
				out.WriteByte(next)
			case next == '<' || next == '>':
				out.WriteString(`\b`)
			case next == 'n' || next == 't' || strings.IndexByte("wWbBsSd", next) >= 0:
				out.WriteString(`\` + string(next))
			case next == '\n' || next == '/' || next == '"' || next == '\'' || next == '`' || next >= 'a' && next <= 'z' || next >= 'A' && next <= 'Z':
				out.WriteString(regexp.QuoteMeta(string(next)))
			default:
				out.WriteString(`\` + string(next))
			}
		case ch == '[':
			end := bracket(expr[i:])
			if end < 0 {
				return "", fmt.Errorf("unmatched [ in %q", expr)
			}
			set := expr[i : i+end+1]
			set = strings.ReplaceAll(set, `\`, `\\`)
			body, not := strings.CutPrefix(set[1:len(set)-1], "^")
			if rest, ok := strings.CutPrefix(body, "]"); ok {
				body = `\]` + rest
			}
			body = strings.ReplaceAll(body, "[:", "\x00")
			body = strings.ReplaceAll(body, "[", `\[`)
			body = strings.ReplaceAll(body, "\x00", "[:")
			body = strings.NewReplacer(`\\n`, `\n`, `\\t`, `\t`).Replace(body)
			out.WriteByte('[')
			if not {
				out.WriteByte('^')
			}
			out.WriteString(body + "]")
			i += end
		case !extended && strings.IndexByte("(){}|+?", ch) >= 0:
			out.WriteString(`\` + string(ch))
		case ch == '*' && (i == 0 || !extended && strings.HasSuffix(expr[:i], `\(`)):
			out.WriteString(`\*`)
		case extended && ch == '{' && (i+1 >= len(expr) || expr[i+1] < '0' || expr[i+1] > '9'):
			out.WriteString(`\{`)
		default:
			out.WriteByte(ch)
		}
	}
	return out.String(), nil
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
