package shell

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/apilab/apilab/shell/lineedit"
	"github.com/apilab/apilab/shell/tools"
	"github.com/apilab/apilab/shell/vfs"
)

// completer completes commands, files, variables, and what kubectl knows.
type completer struct {
	s  *session
	fs *vfs.FS
}

func (c *completer) complete(text string, cursor int) (int, []lineedit.Candidate) {
	words, start := split(text[:cursor])
	word := words[len(words)-1]
	for len(words) > 1 && strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "-") {
		words = words[1:] // NAME=value before a command
	}
	switch {
	case strings.HasPrefix(word, "$") && !strings.Contains(word, "/"):
		return start, variables(c.s.shell.Vars(), word)
	case len(words) == 1 && !strings.Contains(word, "/"):
		return start, c.commands(word)
	case words[0] == "kubectl" || words[0] == "k":
		if all, ok := c.kubectl(words[1:]); ok {
			return start, all
		}
	}
	if flag, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(flag, "-") {
		return start + len(flag) + 1, c.files(value)
	}
	return start, c.files(word)
}

// split finds the words of the command that text ends in, and where the last one starts. It knows quotes and backslashes,
// not more: a completion that is a little off costs nothing.
func split(text string) (words []string, start int) {
	var cur strings.Builder
	quote := byte(0)
	in := false
	start = len(text)
	begin := func(i int) {
		if !in {
			in, start = true, i
		}
	}
	for i := 0; i < len(text); i++ {
		ch := text[i]
		switch {
		case quote != 0 && ch == quote:
			quote = 0
		case quote != 0:
			cur.WriteByte(ch)
		case ch == '\'' || ch == '"':
			begin(i)
			quote = ch
		case ch == '\\' && i+1 < len(text):
			begin(i)
			i++
			cur.WriteByte(text[i])
		case ch == ' ' || ch == '\t':
			if in {
				words = append(words, cur.String())
				cur.Reset()
				in = false
			}
		case strings.IndexByte("|&;\n(`{", ch) >= 0:
			words, in = nil, false
			cur.Reset()
		case ch == '<' || ch == '>':
			words = append(words, "<") // what follows is a file
			cur.Reset()
			in = false
		default:
			begin(i)
			cur.WriteByte(ch)
		}
	}
	if !in {
		start = len(text)
	}
	return append(words, cur.String()), start
}

func (c *completer) commands(prefix string) []lineedit.Candidate {
	names := append(c.s.shell.Commands(), c.s.shell.Funcs()...)
	slices.Sort(names)
	var all []lineedit.Candidate
	for _, n := range slices.Compact(names) {
		if strings.HasPrefix(n, prefix) {
			all = append(all, lineedit.Candidate{Text: n})
		}
	}
	return all
}

func variables(names []string, prefix string) []lineedit.Candidate {
	slices.Sort(names)
	var all []lineedit.Candidate
	for _, n := range names {
		if strings.HasPrefix("$"+n, prefix) {
			all = append(all, lineedit.Candidate{Text: "$" + n, Open: true})
		}
	}
	return all
}

func (c *completer) files(prefix string) []lineedit.Candidate {
	dir, base := path.Split(prefix)
	look := dir
	if strings.HasPrefix(look, "~/") {
		look = vfs.Home + look[1:]
	}
	entries, err := c.fs.ReadDir(vfs.Abs(c.s.shell.Dir(), "./"+look))
	if path.IsAbs(look) {
		entries, err = c.fs.ReadDir(look)
	}
	if err != nil {
		return nil
	}
	var all []lineedit.Candidate
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), base) || strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(base, ".") {
			continue
		}
		cand := lineedit.Candidate{Text: escape(dir + e.Name())}
		if fi, err := c.fs.Stat(path.Join(vfs.Abs(c.s.shell.Dir(), "./"+look), e.Name())); err == nil && fi.IsDir() || e.IsDir() {
			cand.Text += "/"
			cand.Open = true
		}
		all = append(all, cand)
	}
	return all
}

func escape(name string) string {
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune(" \t\\'\"$`&|;<>()*?[]{}!#", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// completionTime bounds how long Tab waits for the API server.
const completionTime = 3 * time.Second

// Directives of cobra's __complete, see its documentation of shell completions.
const (
	directiveError      = 1
	directiveNoSpace    = 2
	directiveNoFileComp = 4
	directiveFilterExt  = 8
	directiveFilterDirs = 16
)

// kubectl asks kubectl itself, which knows commands, flags, resources and the names in the cluster. ok is false when files
// are to be completed.
func (c *completer) kubectl(words []string) (all []lineedit.Candidate, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	var out bytes.Buffer
	call := &tools.Call{
		Name: "kubectl", Args: append([]string{"__complete"}, words...), Env: c.s.shell.Environ(), Dir: c.s.shell.Dir(),
		Stdout: &out, Stderr: &bytes.Buffer{},
	}
	if c.s.launcher.Run(ctx, call, false) != 0 {
		return nil, true
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	directive := 0
	if last := lines[len(lines)-1]; strings.HasPrefix(last, ":") {
		for _, d := range last[1:] {
			directive = directive*10 + int(d-'0')
		}
		lines = lines[:len(lines)-1]
	}
	if directive&directiveError != 0 {
		return nil, true
	}
	if directive&(directiveFilterExt|directiveFilterDirs) != 0 {
		return nil, false
	}
	typed := words[len(words)-1]
	lead := ""
	if flag, _, ok := strings.Cut(typed, "="); ok && strings.HasPrefix(flag, "-") {
		lead = flag + "=" // what follows is completed alone
	}
	for _, line := range lines {
		text, says, _ := strings.Cut(line, "\t")
		if !strings.HasPrefix(text, lead) {
			text = lead + text
		}
		if text == "" || !strings.HasPrefix(text, typed) || strings.HasPrefix(text, "_activeHelp_") {
			continue
		}
		all = append(all, lineedit.Candidate{Text: text, Says: says, Open: directive&directiveNoSpace != 0 || strings.HasSuffix(text, "=")})
	}
	return all, len(all) > 0 || directive&directiveNoFileComp != 0
}
