package content

import (
	"html/template"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

func renderFence(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.FencedCodeBlock)
	in, _ := fenceInfo(n, source) // what is wrong with it is a problem of the lesson
	code := strings.TrimSuffix(string(n.Lines().Value(source)), "\n")
	switch {
	case in.language == "mermaid":
		w.(*parts).hole(part{diagram: code, title: in.title, html: []byte(codeBlock(in, code))})
	case in.language == "console":
		w.WriteString(`<apilab-transcript><div class="transcript" tabindex="0">`)
		renderTranscript(w, code)
		w.WriteString("</div></apilab-transcript>\n")
	case in.title != "":
		w.WriteString(`<figure class="listing"><figcaption>` + template.HTMLEscapeString(in.title) + "</figcaption>")
		w.WriteString(codeBlock(in, code) + "</figure>\n")
	default:
		w.WriteString(codeBlock(in, code) + "\n")
	}
	return ast.WalkContinue, nil
}

func renderIndentedCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString(codeBlock(info{language: "text"}, strings.TrimSuffix(string(node.Lines().Value(source)), "\n")) + "\n")
	}
	return ast.WalkContinue, nil
}

func codeBlock(in info, code string) string {
	pre := `<pre class="code" data-lang="` + template.HTMLEscapeString(in.language) + `" tabindex="0"><code>` +
		highlight(in.language, code) + "</code></pre>"
	switch {
	case in.terminal != "":
		return `<apilab-run terminal="` + in.terminal + `">` + pre + "</apilab-run>"
	case in.run:
		return "<apilab-run>" + pre + "</apilab-run>"
	}
	return "<apilab-code>" + pre + "</apilab-code>"
}

func renderTranscript(w util.BufWriter, code string) {
	steps, err := parseTranscript(code, 1)
	if err != nil { // a problem of the lesson
		w.WriteString(`<div class="output"><samp>` + template.HTMLEscapeString(code) + "</samp></div>")
		return
	}
	for _, s := range steps {
		w.WriteString(`<div class="command">`)
		mark := prompt
		for i, line := range strings.Split(s.Command, "\n") {
			if i > 0 {
				w.WriteString("\n")
			}
			w.WriteString(`<span class="prompt" aria-hidden="true">` + template.HTMLEscapeString(mark) + "</span>" +
				"<code>" + highlight("sh", line) + "</code>")
			mark = continuation
		}
		w.WriteString("</div>")
		if s.Want != "" {
			w.WriteString(`<div class="output"><samp>` + template.HTMLEscapeString(s.Want) + "</samp></div>")
		}
	}
}

// diagramFigure frames a picture of a diagram.
func diagramFigure(title string, svg template.HTML) string {
	title = template.HTMLEscapeString(title)
	return `<figure class="diagram">` + string(svg) + "<figcaption>" + title + "</figcaption></figure>\n"
}
