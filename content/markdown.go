package content

import (
	"bytes"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// RenderMarkdown renders a piece of Markdown that is not a lesson: a task, a hint, an option of a choice. Raw HTML comes
// out as text; what else a lesson may contain works here too, but for exercises.
func RenderMarkdown(src string) template.HTML {
	source := []byte(strings.ReplaceAll(src, "\r\n", "\n"))
	out := &parts{}
	root := snippets.Parser().Parse(text.NewReader(source))
	// Writing to memory does not fail, and neither do the node renderers.
	_ = snippets.Renderer().Render(out, source, root)
	return template.HTML(out.plain())
}

// RenderInline renders one line of Markdown without a paragraph around it, for labels and titles.
func RenderInline(src string) template.HTML {
	html := strings.TrimSpace(string(RenderMarkdown(src)))
	inner, one := strings.CutPrefix(html, "<p>")
	inner, closed := strings.CutSuffix(inner, "</p>")
	if !one || !closed || strings.Contains(inner, "<p>") {
		return template.HTML(template.HTMLEscapeString(src)) // not inline: a list, a heading
	}
	return template.HTML(inner)
}

// lessons is CommonMark, GitHub's extensions and ours; snippets is the same without anchors, which would not be unique on
// a page of many. They keep no state between documents.
var (
	lessons  = newMarkdown(parser.WithAutoHeadingID())
	snippets = newMarkdown()
)

func newMarkdown(options ...parser.Option) goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(
			parser.WithBlockParsers(util.Prioritized(directiveParser{}, 50)),
			parser.WithASTTransformers(util.Prioritized(folder{}, 50)),
		),
		goldmark.WithParserOptions(options...),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(nodeRenderer{}, 10))),
	)
}

// folder parts predictions into question and answer.
type folder struct{}

// Transform implements parser.ASTTransformer.
func (folder) Transform(root *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if d, ok := n.(*directive); ok && entering && d.name == "predict" {
			fold(d)
		}
		return ast.WalkContinue, nil
	})
}

// nodeRenderer renders what differs from goldmark's HTML. Its writer is always a *parts.
type nodeRenderer struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (r nodeRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindDirective, renderDirective)
	reg.Register(kindHalf, renderHalf)
	reg.Register(kindTerm, renderTerm)
	reg.Register(ast.KindListItem, renderListItem)
	reg.Register(east.KindTaskCheckBox, renderCheckbox)
	reg.Register(ast.KindFencedCodeBlock, renderFence)
	reg.Register(ast.KindCodeBlock, renderIndentedCode)
	reg.Register(ast.KindHeading, renderHeading)
	reg.Register(ast.KindLink, renderLink)
	reg.Register(ast.KindHTMLBlock, renderHTMLBlock)
	reg.Register(ast.KindRawHTML, renderRawHTML)
	reg.Register(east.KindTable, renderTable)
}

func renderHeading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Heading)
	tag := "h" + string(rune('0'+n.Level))
	id := headingID(n)
	if entering {
		w.WriteString("<" + tag)
		if id != "" {
			w.WriteString(` id="` + template.HTMLEscapeString(id) + `"`)
		}
		w.WriteString(">")
		return ast.WalkContinue, nil
	}
	if id != "" {
		w.WriteString(` <a class="anchor" href="#` + template.HTMLEscapeString(id) + `" aria-label="Link to this section">#</a>`)
	}
	w.WriteString("</" + tag + ">\n")
	return ast.WalkContinue, nil
}

func headingID(n *ast.Heading) string {
	if v, ok := n.AttributeString("id"); ok {
		if b, ok := v.([]byte); ok {
			return string(b)
		}
	}
	return ""
}

func renderLink(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Link)
	if !entering {
		w.WriteString("</a>")
		return ast.WalkContinue, nil
	}
	w.WriteString("<a")
	if !html.IsDangerousURL(n.Destination) {
		w.WriteString(` href="`)
		w.Write(util.EscapeHTML(util.URLEscape(n.Destination, true)))
		w.WriteString(`"`)
	}
	if isExternal(string(n.Destination)) {
		w.WriteString(` rel="noreferrer"`)
	}
	if n.Title != nil {
		w.WriteString(` title="`)
		w.Write(util.EscapeHTML(n.Title))
		w.WriteString(`"`)
	}
	w.WriteString(">")
	return ast.WalkContinue, nil
}

// HTML is shown, not passed through: "<name>" in a sentence is a placeholder that its author forgot to mark as code.
// Comments vanish.
func renderHTMLBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.HTMLBlock)
	src := n.Lines().Value(source)
	if n.HasClosure() {
		src = append(bytes.Clone(src), n.ClosureLine.Value(source)...)
	}
	if !isComment(src) {
		w.WriteString("<p>")
		w.Write(util.EscapeHTML(bytes.TrimSpace(src)))
		w.WriteString("</p>\n")
	}
	return ast.WalkContinue, nil
}

func renderRawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		if src := node.(*ast.RawHTML).Segments.Value(source); !isComment(src) {
			w.Write(util.EscapeHTML(src))
		}
	}
	return ast.WalkSkipChildren, nil
}

func isComment(src []byte) bool {
	src = bytes.TrimSpace(src)
	return bytes.HasPrefix(src, []byte("<!--")) && bytes.HasSuffix(src, []byte("-->"))
}

// A wide table scrolls by itself, reachable by keyboard, instead of widening the page.
func renderTable(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString(`<div class="table" tabindex="0" role="group" aria-label="Table"><table>` + "\n")
	} else {
		w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}
