package content

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// A document is the body of a lesson or of a reference page, parsed and rendered but for its holes.
type document struct {
	parts       parts
	exercises   []located // message is the ID
	headings    []Heading
	sections    []Section
	terms       []*Term
	transcripts []Transcript
	targets     []target
	minutes     float64 // that it takes, exercises left out
}

// located is something said of a line.
type located struct {
	line    int
	message string
}

func (d *document) exerciseIDs() []string {
	var ids []string
	for _, e := range d.exercises {
		ids = append(ids, e.message)
	}
	return ids
}

// Render writes the lesson's body as HTML, with what slots have for its exercises and diagrams. It may be called
// concurrently.
func (l *Lesson) Render(w io.Writer, slots Slots) error {
	if err := l.body.parts.render(w, slots); err != nil {
		return fmt.Errorf("render lesson %s: %w", l.ID, err)
	}
	return nil
}

// parse reads the body of the page at file, whose first line has the number first, and marks the terms of the glossary.
func parse(file string, body []byte, first int, terms *words) (*document, []located) {
	p := &parsing{file: file, source: body, first: first, doc: &document{}}
	root := lessons.Parser().Parse(text.NewReader(body))
	// The walk returns only what visit returns: no error.
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			p.visit(n)
		}
		return ast.WalkContinue, nil
	})
	p.doc.sections = sectionsOf(root, body)
	mark := &marker{words: terms, source: body, seen: map[*Term]bool{}}
	mark.walk(root)
	p.doc.terms = mark.met
	_ = lessons.Renderer().Render(&p.doc.parts, body, root)
	p.doc.parts.end()
	return p.doc, p.problems
}

type parsing struct {
	file     string
	source   []byte
	first    int
	level    int  // of the last heading
	proxied  bool // a block has started kubectl's proxy
	doc      *document
	problems []located
}

func (p *parsing) problem(n ast.Node, format string, args ...any) {
	p.problems = append(p.problems, located{p.line(n), fmt.Sprintf(format, args...)})
}

// line returns the line in the file that a node begins on.
func (p *parsing) line(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if pos := n.Pos(); pos >= 0 && n.Kind() != ast.KindDocument {
			return p.first + bytes.Count(p.source[:min(pos, len(p.source))], []byte("\n"))
		}
	}
	return p.first
}

func (p *parsing) visit(n ast.Node) {
	p.takes(n)
	switch n := n.(type) {
	case *directive:
		p.directive(n)
	case *ast.FencedCodeBlock:
		p.fence(n)
	case *ast.CodeBlock:
		p.problem(n, "indented text is a code block; fence it with ``` and name its language")
	case *ast.Heading:
		p.heading(n)
	case *ast.Link:
		p.link(n)
	case *ast.Image:
		p.problem(n, "pictures are not served; draw a mermaid diagram")
	case *ast.HTMLBlock:
		if !isComment(n.Lines().Value(p.source)) && !n.HasClosure() {
			p.problem(n, "raw HTML is shown as text; write Markdown, or mark it as code")
		}
	case *ast.RawHTML:
		if !isComment(n.Segments.Value(p.source)) {
			p.problem(n, "raw HTML is shown as text; write Markdown, or mark %s as code", n.Segments.Value(p.source))
		}
	}
}

func (p *parsing) directive(d *directive) {
	_, known := directiveTitles[d.name]
	switch {
	case d.name == "":
		p.problem(d, "::: closes nothing")
	case !known:
		p.problem(d, "unknown directive :::%s; there are %s", d.name, directiveNames)
	case d.name == "exercise" && d.arg == "":
		p.problem(d, "which exercise? Write :::exercise track/name")
	case d.name == "exercise":
		p.doc.exercises = append(p.doc.exercises, located{p.line(d), d.arg})
	case !d.closed:
		p.problem(d, ":::%s is never closed: a line ::: is missing", d.name)
	case d.FirstChild() == nil:
		p.problem(d, ":::%s is empty", d.name)
	case d.name == "predict":
		p.predict(d)
	}
}

func (p *parsing) predict(d *directive) {
	switch {
	case d.arg != "":
		p.problem(d, ":::predict has no title; the question says it")
	case d.FirstChild().Kind() != kindHalf:
		p.problem(d, ":::predict has no answer: write it below a line ---, with blank lines around that")
	case d.FirstChild().FirstChild() == nil || d.LastChild().FirstChild() == nil:
		p.problem(d, ":::predict needs a question above the line --- and an answer below it")
	case d.ChildCount() == 3:
		right, options := 0, d.FirstChild().NextSibling()
		for item := options.FirstChild(); item != nil; item = item.NextSibling() {
			if checkbox(item).IsChecked {
				right++
			}
		}
		if right != 1 {
			p.problem(d, "%d options of :::predict are marked - [x] as right; one is", right)
		}
	}
}

func (p *parsing) heading(n *ast.Heading) {
	was := p.level
	p.level = n.Level
	switch {
	case n.Level == 1:
		p.problem(n, "the title is in the front matter; headings begin with ##")
		p.level = max(was, 1)
	case n.Level > 4:
		p.problem(n, "a heading of level %d is too deep; the deepest is ####", n.Level)
	case n.Level > max(was, 1)+1:
		p.problem(n, "a heading of level %d follows one of level %d", n.Level, max(was, 1))
	}
	if n.Level >= 2 && n.Level <= 4 {
		p.doc.headings = append(p.doc.headings, Heading{n.Level, headingID(n), plainText(n, p.source)})
	}
}

// link points a link at the page, in place.
func (p *parsing) link(n *ast.Link) {
	dest := string(n.Destination)
	to, t, message := resolve(p.file, dest)
	if message != "" {
		p.problem(n, "link %s %s", dest, message)
	}
	if t != nil {
		t.line = p.line(n)
		p.doc.targets = append(p.doc.targets, *t)
	}
	n.Destination = []byte(to)
}

// plainText returns the text of a node without its markup.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Text:
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			case *ast.String:
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
