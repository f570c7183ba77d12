package content

import (
	"html/template"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// words finds the glossary's terms in running text. It does not change and is safe for concurrent use.
type words struct {
	forms map[rune][]form // by first letter, in lower case; the longest first
}

type form struct {
	word string
	term *Term
}

func newWords(terms []*Term) *words {
	w := &words{forms: map[rune][]form{}}
	for _, t := range terms {
		for _, word := range t.forms() {
			first := firstLower(word)
			w.forms[first] = append(w.forms[first], form{word, t})
		}
	}
	for _, forms := range w.forms {
		slices.SortStableFunc(forms, func(a, b form) int { return len(b.word) - len(a.word) })
	}
	return w
}

// A span is where a term stands in a text.
type span struct {
	from, to int
	term     *Term
}

// find returns all terms in a text, in its order. Where one term is part of another, the longer one counts.
func (w *words) find(s string) []span {
	var spans []span
	before := ' '
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !joins(before) && unicode.In(r, unicode.Letter, unicode.Digit) {
			if at := w.at(s[i:]); at.term != nil {
				spans = append(spans, span{i, i + at.to, at.term})
				i += at.to
				before = 'x'
				continue
			}
		}
		before = r
		i += size
	}
	return spans
}

// at returns the longest term that a text begins with.
func (w *words) at(s string) span {
	for _, f := range w.forms[firstLower(s)] {
		if n := prefix(s, f.word); n > 0 {
			return span{to: n, term: f.term}
		}
	}
	return span{}
}

// prefix returns the length of word, or of its plural, where s begins with it as a whole word. A word that begins with a
// small letter may begin with a capital one, as at the start of a sentence; the other letters are as they are given.
func prefix(s, word string) int {
	plurals := []string{word, word + "s", word + "es"}
	if stem, ok := strings.CutSuffix(word, "y"); ok {
		plurals = append(plurals, stem+"ies")
	}
	for _, p := range plurals {
		if len(s) < len(p) || s[1:len(p)] != p[1:] || s[0] != p[0] && s[:1] != strings.ToUpper(p[:1]) {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(s[len(p):]); len(s) == len(p) || !joins(r) {
			return len(p)
		}
	}
	return 0
}

// joins reports whether a letter beside a word makes it part of a longer one.
func joins(r rune) bool {
	return unicode.In(r, unicode.Letter, unicode.Digit) || strings.ContainsRune("_-/@", r)
}

func firstLower(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.ToLower(r)
}

// A termNode is a term in a lesson's text, with its word as children.
type termNode struct {
	ast.BaseInline
	term *Term
}

var kindTerm = ast.NewNodeKind("Term")

// Kind implements ast.Node.
func (t *termNode) Kind() ast.NodeKind { return kindTerm }

// Dump implements ast.Node.
func (t *termNode) Dump(source []byte, level int) {
	ast.DumpHelper(t, source, level, map[string]string{"Term": t.term.Name}, nil)
}

func renderTerm(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		id := template.HTMLEscapeString(node.(*termNode).term.ID)
		w.WriteString(`<dfn class="term"><a href="/glossary#` + id + `" aria-describedby="term:` + id + `">`)
	} else {
		w.WriteString("</a></dfn>")
	}
	return ast.WalkContinue, nil
}

// A marker marks the first occurrence of each term in each section of a document. It passes over what is no running text:
// code, headings, heads of tables; and over what is something to press already: links, options.
type marker struct {
	words  *words
	source []byte
	seen   map[*Term]bool // in this section
	met    []*Term        // in the document, each once
}

func (m *marker) walk(n ast.Node) {
	for c := n.FirstChild(); c != nil; {
		next := c.NextSibling()
		switch c := c.(type) {
		case *ast.Heading:
			if c.Level <= 2 {
				clear(m.seen)
			}
		case *ast.Text:
			next = m.run(c)
		case *half:
			if c.is != "options" {
				m.walk(c)
			}
		case *ast.Link, *ast.AutoLink, *ast.Image, *ast.CodeSpan, *east.TableHeader:
		default:
			m.walk(c)
		}
		c = next
	}
}

// A piece is a text node with its place in the text of its run.
type piece struct {
	node     *ast.Text
	from, to int
}

// run marks the texts that stand side by side from first on, and returns the node behind them. The parser parts a text at
// the ends of its lines and at special characters, and a term may span such a seam.
func (m *marker) run(first *ast.Text) ast.Node {
	var b strings.Builder
	var pieces []piece
	var next ast.Node = first
	for next != nil {
		t, ok := next.(*ast.Text)
		if !ok || t.Segment.Padding > 0 {
			break
		}
		from := b.Len()
		b.Write(t.Segment.Value(m.source))
		pieces = append(pieces, piece{t, from, b.Len()})
		if t.SoftLineBreak() || t.HardLineBreak() {
			b.WriteByte(' ')
		}
		next = t.NextSibling()
	}
	if len(pieces) == 0 {
		return first.NextSibling()
	}
	var spans []span
	for _, s := range m.words.find(b.String()) {
		if !m.seen[s.term] {
			m.seen[s.term] = true
			spans = append(spans, s)
			if !slices.Contains(m.met, s.term) {
				m.met = append(m.met, s.term)
			}
		}
	}
	for _, s := range slices.Backward(spans) { // what stands before stays where it is
		wrap(pieces, s)
	}
	return next
}

// wrap puts what a span covers into a node of its own.
func wrap(pieces []piece, s span) {
	i := slices.IndexFunc(pieces, func(p piece) bool { return s.from < p.to })
	j := slices.IndexFunc(pieces, func(p piece) bool { return s.to <= p.to })
	first, last := &pieces[i], &pieces[j]
	parent := first.node.Parent()

	if n := last.node; s.to < last.to || n.SoftLineBreak() || n.HardLineBreak() {
		cut := n.Segment.Start + s.to - last.from
		tail := ast.NewTextSegment(text.NewSegment(cut, n.Segment.Stop))
		tail.SetSoftLineBreak(n.SoftLineBreak())
		tail.SetHardLineBreak(n.HardLineBreak())
		n.Segment.Stop = cut
		n.SetSoftLineBreak(false)
		n.SetHardLineBreak(false)
		parent.InsertAfter(parent, n, tail)
	}
	marked := &termNode{term: s.term}
	node := first.node
	parent.InsertBefore(parent, node, marked)
	if s.from > first.from {
		cut := node.Segment.Start + s.from - first.from
		head := ast.NewTextSegment(text.NewSegment(node.Segment.Start, cut))
		node.Segment.Start = cut
		parent.InsertBefore(parent, marked, head)
		*first = piece{head, first.from, s.from}
	}
	end := last.node
	if j == i {
		end = node
	}
	for n := ast.Node(node); n != nil; {
		following := n.NextSibling()
		marked.AppendChild(marked, n)
		if n == ast.Node(end) {
			break
		}
		n = following
	}
}
