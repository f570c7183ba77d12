package content

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Directives are lines that begin with ":::". ":::exercise id" stands alone; the others hold blocks, up to a line ":::":
//
//	:::note An optional title
//
//	Any Markdown, code blocks and further directives included.
//
//	:::
//
// Blank lines inside keep it readable where Markdown has no directives.
type directive struct {
	ast.BaseBlock
	name   string // "" of a closing line that closes nothing
	arg    string // exercise ID or title
	closed bool
}

var kindDirective = ast.NewNodeKind("Directive")

// Kind implements ast.Node.
func (d *directive) Kind() ast.NodeKind { return kindDirective }

// Dump implements ast.Node.
func (d *directive) Dump(source []byte, level int) {
	ast.DumpHelper(d, source, level, map[string]string{"Name": d.name, "Arg": d.arg}, nil)
}

// leaf reports whether the directive holds no blocks.
func (d *directive) leaf() bool { return d.name == "exercise" || d.name == "" }

// The directives, with the title that a container has by default.
var directiveTitles = map[string]string{
	"exercise":  "Exercise",
	"predict":   "Predict",
	"note":      "Note",
	"warning":   "Warning",
	"edge-case": "Edge case",
}

const directiveNames = "exercise, predict, note, warning and edge-case"

var directiveLine = regexp.MustCompile(`^:::+[ \t]*([A-Za-z][A-Za-z0-9_-]*)?(?:[ \t]+(.*?))?[ \t]*\n?$`)

type directiveParser struct{}

// Trigger implements parser.BlockParser.
func (directiveParser) Trigger() []byte { return []byte{':'} }

// Open implements parser.BlockParser.
func (directiveParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	pos := pc.BlockOffset()
	if pos < 0 || !bytes.HasPrefix(line[pos:], []byte(":::")) {
		return nil, parser.NoChildren
	}
	m := directiveLine.FindSubmatch(line[pos:])
	if m == nil {
		return nil, parser.NoChildren
	}
	reader.AdvanceToEOL()
	d := &directive{name: string(m[1]), arg: string(m[2])}
	if d.leaf() {
		return d, parser.NoChildren
	}
	return d, parser.HasChildren
}

// Continue implements parser.BlockParser.
func (directiveParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	d := node.(*directive)
	if d.leaf() {
		return parser.Close
	}
	if line, _ := reader.PeekLine(); !isDirectiveEnd(line) || !endsHere(node, pc.OpenedBlocks()) {
		return parser.Continue | parser.HasChildren
	}
	d.closed = true
	reader.AdvanceToEOL()
	return parser.Close
}

// Close implements parser.BlockParser.
func (directiveParser) Close(ast.Node, text.Reader, parser.Context) {}

// CanInterruptParagraph implements parser.BlockParser.
func (directiveParser) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine implements parser.BlockParser.
func (directiveParser) CanAcceptIndentedLine() bool { return false }

func isDirectiveEnd(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) >= 3 && len(bytes.Trim(line, ":")) == 0
}

// endsHere reports whether a closing line belongs to this directive, rather than to one inside it or to the text of a
// code block.
func endsHere(node ast.Node, open []parser.Block) bool {
	inside := false
	for _, b := range open {
		switch {
		case b.Node == node:
			inside = true
		case !inside:
		case b.Node.Kind() == ast.KindFencedCodeBlock:
			return false
		case b.Node.Kind() == kindDirective && !b.Node.(*directive).leaf():
			return false
		}
	}
	return true
}
