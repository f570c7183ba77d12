package content

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// info is what stands behind the opening of a code block:
//
//	```sh run                  a block with a Run button
//	```sh run terminal=2       … that types into the second terminal
//	```console                 a transcript
//	```mermaid title="…"       a diagram; the title is its caption and its text for those who do not see it
//	```yaml title="pod.yaml"   any language; the title is its caption
type info struct {
	language string
	run      bool
	terminal string // "2" to "9"; "": the current one
	title    string
}

func parseInfo(s string) (info, error) {
	var in info
	words, err := splitInfo(s)
	if err != nil || len(words) == 0 {
		return in, err
	}
	in.language = words[0]
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch {
		case w == "run" && in.language == "sh":
			in.run = true
		case key == "terminal" && in.run && len(value) == 1 && value >= "1" && value <= "9":
			in.terminal = value
		case key == "title" && value != "":
			in.title = value
		default:
			return in, fmt.Errorf("a %s block does not take %q", in.language, w)
		}
	}
	return in, nil
}

// splitInfo splits at spaces, but not inside double quotes, and drops the quotes.
func splitInfo(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	quoted, in := false, false
	for _, r := range s {
		switch {
		case r == '"':
			quoted, in = !quoted, true
		case (r == ' ' || r == '\t') && !quoted:
			if in {
				words = append(words, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quoted {
		return nil, fmt.Errorf("a quote is not closed in %q", s)
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

func fenceInfo(n *ast.FencedCodeBlock, source []byte) (info, error) {
	if n.Info == nil {
		return info{}, nil
	}
	return parseInfo(string(n.Info.Segment.Value(source)))
}

// fence checks a code block of a lesson and takes its transcript.
func (p *parsing) fence(n *ast.FencedCodeBlock) {
	in, err := fenceInfo(n, p.source)
	text := string(n.Lines().Value(p.source))
	switch {
	case err != nil:
		p.problem(n, "%v", err)
	case in.language == "":
		p.problem(n, "the code block does not name its language; there is ```text")
	case strings.TrimSpace(text) == "":
		p.problem(n, "the code block is empty")
	case in.language == "console":
		steps, err := parseTranscript(text, p.line(n)+1)
		if err != nil {
			p.problem(n, "%v", err)
			return
		}
		p.doc.transcripts = append(p.doc.transcripts, Transcript{Line: p.line(n) + 1, Steps: steps})
	case in.language == "mermaid":
		if in.title == "" {
			p.problem(n, `a diagram needs a title for those who do not see it: mermaid title="…"`)
		}
	case !knownLanguage(in.language):
		p.problem(n, "unknown language %q; there is ```text", in.language)
	}
	if in.language == "sh" {
		p.curl(n, text, in.run)
	}
	p.proxied = p.proxied || strings.Contains(text, proxy)
}

// proxy is what listens on a learner's localhost:8001, and only once they have started it.
const proxy = "kubectl proxy"

var silentCurl = regexp.MustCompile(`curl -[a-zA-RT-Z]*s[a-zA-RT-Z]*\b`)

// curl refuses commands that depend on what another page has started, or that would fail without a word.
func (p *parsing) curl(n ast.Node, text string, run bool) {
	if before, _, asks := strings.Cut(text, "localhost:8001"); asks && !p.proxied && !strings.Contains(before, proxy) {
		p.problem(n, "nothing on this page has started what listens on localhost:8001: show `kubectl proxy --port=8001 &` in a block above, or here")
	}
	if command := silentCurl.FindString(text); run && command != "" {
		p.problem(n, "%s hides its errors from who runs it; write %sS", command, command)
	}
}
