package content

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// A Section is the plain text below one heading of a page, for a search. Text before the first heading is a section
// whose heading is empty. Commands are part of the text; other code and what commands print are not.
type Section struct {
	Heading
	Text string
}

// sectionsOf parts a document at its headings of level 2 and 3.
func sectionsOf(root ast.Node, source []byte) []Section {
	sections := []Section{{}}
	var b strings.Builder
	end := func() {
		sections[len(sections)-1].Text = strings.TrimSpace(b.String())
		b.Reset()
	}
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level <= 3 {
				end()
				sections = append(sections, Section{Heading: Heading{n.Level, headingID(n), plainText(n, source)}})
				return ast.WalkSkipChildren, nil
			}
		case *ast.FencedCodeBlock:
			b.WriteString(commands(n, source))
			return ast.WalkSkipChildren, nil
		}
		if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeInline {
			b.WriteString(plainText(n, source))
			b.WriteByte('\n')
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	end()
	if sections[0].Text == "" {
		sections = sections[1:]
	}
	return sections
}

// commands returns what is typed in a code block, if anything is.
func commands(n *ast.FencedCodeBlock, source []byte) string {
	in, _ := fenceInfo(n, source)
	code := string(n.Lines().Value(source))
	switch in.language {
	case "sh", "bash":
		return code
	case "console":
		steps, _ := parseTranscript(code, 1) // what is wrong with it is told elsewhere
		var b strings.Builder
		for _, s := range steps {
			b.WriteString(s.Command + "\n")
		}
		return b.String()
	}
	return ""
}
