package content

import (
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/net/html"
)

// FuzzRender feeds Markdown with directives: whatever it is, the HTML is balanced, holds no script and no handler, and
// the lesson's problems name lines that exist.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		"", ":::", ":::note\n:::", ":::predict\na\n\n---\n\nb\n:::", "- :::note\n  a\n  :::\n", ":::note\n```sh\n:::\n```\n:::\n",
		":::::warning `t`\n> :::note\n> :::\n", "```console\n$ a\n> b\nc\n```", "```mermaid title=\"x\"\nA\n```", "    :::note\n",
		"```sh run terminal=2\n", ":::exercise a/b\n:::exercise\n", "[a](javascript:x) <script>", "|a|\n|-|\n:::note\n", "a\n===\n:::\n---\n",
		":::predict\n---\n:::predict\n---\n:::\n:::\n", "1. a\n\n   ```\n   :::\n", ":::note\n\ta\n\t:::\n", "# `a` {#x onclick=y}\n",
		"field\n\tmanager *of a list* list\\\nwatch&amp;CRD\n", "- [ ] watch\n- [x] list\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		checkHTML(t, string(RenderMarkdown(src)))
		c, problems := Load(fstest.MapFS{
			"t/track.yaml":      {Data: []byte(goodTrack)},
			"glossary/t.yaml":   {Data: []byte(someTerms)},
			"t/reference/r.md":  {Data: []byte("---\ntitle: a\nsummary: b\n---\n" + src)},
			"t/01-a/index.md":   {Data: []byte(front + src)},
			"t/02-b/index.md":   {Data: []byte("---\n" + src)},
			"t/ 03 -c/index.md": {Data: []byte(src)},
		})
		lines := strings.Count(front+src, "\n") + 1
		for _, p := range problems {
			if p.Line < 0 || p.Line > lines {
				t.Errorf("%v: the file has %d lines", p, lines)
			}
		}
		if l := c.Lesson("t/a"); l != nil {
			var b strings.Builder
			if err := l.Render(&b, Slots{}); err != nil {
				t.Error(err)
			}
			checkHTML(t, b.String())
		}
		if r := c.Reference("t/r"); r != nil {
			var b strings.Builder
			if err := r.Render(&b, Slots{}); err != nil {
				t.Error(err)
			}
			checkHTML(t, b.String())
		}
	})
}

var void = map[string]bool{"input": true, "br": true, "hr": true, "img": true}

// checkHTML fails if elements are not closed in the order they were opened, or if something could run.
func checkHTML(t *testing.T, src string) {
	t.Helper()
	var open []string
	z := html.NewTokenizer(strings.NewReader(src))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				t.Fatalf("%v in\n%s", z.Err(), src)
			}
			if len(open) > 0 {
				t.Fatalf("%v are not closed in\n%s", open, src)
			}
			return
		case html.StartTagToken:
			token := z.Token()
			if token.Data == "script" || token.Data == "iframe" || token.Data == "style" {
				t.Fatalf("<%s> in\n%s", token.Data, src)
			}
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
					t.Fatalf("%s=%q in\n%s", a.Key, a.Val, src)
				}
			}
			if !void[token.Data] {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if len(open) == 0 || open[len(open)-1] != string(name) {
				t.Fatalf("</%s> closes %v in\n%s", name, open, src)
			}
			open = open[:len(open)-1]
		}
	}
}
