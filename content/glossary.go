package content

import (
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"go.yaml.in/yaml/v3"
)

// glossaryDir is where the glossary's files are: any number of them, each a map of terms.
const glossaryDir = "glossary"

// What is longer does not fit beside the word that it explains.
const (
	longestTerm       = 40  // characters
	longestDefinition = 320 // characters
)

// A Term is a word of the field that lessons explain where it comes up.
type Term struct {
	ID   string        // its anchor in the glossary
	Name string        // as the glossary lists it
	Also []string      // other words for it, which lessons mark too
	Text template.HTML // the explanation, inline
	// Plain is Text without markup.
	Plain string

	file string
	line int
}

// glossary reads content/glossary/*.yaml.
func (l *loader) glossary() []*Term {
	entries, err := fs.ReadDir(l.fsys, glossaryDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		l.problem(glossaryDir, 0, "%v", err)
		return nil
	}
	g := &glossaryLoader{loader: l, forms: map[string]*Term{}, ids: map[string]*Term{}}
	for _, e := range entries {
		file := path.Join(glossaryDir, e.Name())
		switch {
		case e.IsDir() || path.Ext(file) == ".yml":
			l.problem(file, 0, "the glossary is made of files NAME.yaml")
		case path.Ext(file) == ".yaml":
			if src, err := fs.ReadFile(l.fsys, file); err != nil {
				l.problem(file, 0, "%v", err)
			} else {
				g.load(file, src)
			}
		}
	}
	slices.SortStableFunc(g.terms, func(a, b *Term) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return g.terms
}

type glossaryLoader struct {
	*loader
	terms []*Term
	forms map[string]*Term // by the word, in lower case
	ids   map[string]*Term
}

func (g *glossaryLoader) load(file string, src []byte) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		for _, p := range yamlProblems(err) {
			g.problem(file, p.line, "%s", p.message)
		}
		return
	}
	if len(doc.Content) == 0 {
		return // nothing but comments
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		g.problem(file, root.Line, "a glossary file is a map: each term with its text")
		return
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if t := g.term(file, root.Content[i], root.Content[i+1]); t != nil {
			g.add(t)
		}
	}
}

// term reads one entry. One with any mistake is left out.
func (g *glossaryLoader) term(file string, key, value *yaml.Node) *Term {
	t := &Term{Name: key.Value, ID: slug(key.Value), file: file, line: key.Line}
	ok := true
	wrong := func(n *yaml.Node, format string, args ...any) {
		g.problem(file, n.Line, "%s", t.Name+": "+fmt.Sprintf(format, args...))
		ok = false
	}
	if key.Kind != yaml.ScalarNode || t.ID == "" || utf8.RuneCountInString(t.Name) > longestTerm {
		wrong(key, "a term is a word or a few, at most %d characters", longestTerm)
	}
	if value.Kind != yaml.MappingNode {
		wrong(value, "a term has a text, and may have a list also")
		return nil
	}
	var source string
	given := map[string]bool{}
	for i := 0; i+1 < len(value.Content); i += 2 {
		field, v := value.Content[i], value.Content[i+1]
		if given[field.Value] {
			wrong(field, "%s is given twice", field.Value)
		}
		given[field.Value] = true
		switch field.Value {
		case "text":
			source = strings.TrimSpace(v.Value)
			if n := utf8.RuneCountInString(source); n > longestDefinition {
				wrong(v, "the text has %d characters; it is read in passing, one or two sentences of at most %d", n, longestDefinition)
			} else if source != "" && !isSentence(source) {
				wrong(v, "the text is one paragraph of words, `code` and *emphasis*; no links, lists or HTML")
			}
		case "also":
			if v.Decode(&t.Also) != nil {
				wrong(v, "also is a list of words")
			}
			for _, form := range t.Also {
				if slug(form) == "" || utf8.RuneCountInString(form) > longestTerm {
					wrong(v, "%q in also is not a word or a few, at most %d characters", form, longestTerm)
				}
			}
		default:
			wrong(field, "unknown field %s; there are text and also", field.Value)
		}
	}
	if source == "" {
		wrong(key, "text is missing")
	}
	if !ok {
		return nil
	}
	t.Text, t.Plain = RenderInline(source), PlainText(source)
	return t
}

// add takes a term that shares no word with another one.
func (g *glossaryLoader) add(t *Term) {
	for i, form := range t.forms() {
		known := strings.ToLower(form)
		switch other := g.forms[known]; {
		case other == t && slices.Contains(t.forms()[:i], form):
			g.problem(t.file, t.line, "%s: %q is given twice", t.Name, form)
			return
		case other != nil && other != t:
			g.problem(t.file, t.line, "%s: %q is explained already at %s:%d, as %s", t.Name, form, other.file, other.line, other.Name)
			return
		}
		g.forms[known] = t
	}
	if other := g.ids[t.ID]; other != nil {
		g.problem(t.file, t.line, "%s would have the same address as %s at %s:%d", t.Name, other.Name, other.file, other.line)
		return
	}
	g.ids[t.ID] = t
	g.terms = append(g.terms, t)
}

// forms are the words that are marked.
func (t *Term) forms() []string { return append([]string{t.Name}, t.Also...) }

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug makes a name into an anchor: "410 Gone" → "410-gone".
func slug(name string) string {
	return strings.Trim(notSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

// isSentence reports whether Markdown is text alone.
func isSentence(src string) bool {
	root := snippets.Parser().Parse(text.NewReader([]byte(src)))
	paragraph := root.FirstChild()
	if paragraph == nil || paragraph.NextSibling() != nil || paragraph.Kind() != ast.KindParagraph {
		return false
	}
	plain := true
	_ = ast.Walk(paragraph, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		switch n.Kind() {
		case ast.KindParagraph, ast.KindText, ast.KindString, ast.KindCodeSpan, ast.KindEmphasis:
		default:
			plain = false
		}
		return ast.WalkContinue, nil
	})
	return plain
}

// PlainText returns the text of a piece of Markdown without its markup, for a search.
func PlainText(src string) string {
	source := []byte(strings.ReplaceAll(src, "\r\n", "\n"))
	var texts []string
	for _, s := range sectionsOf(snippets.Parser().Parse(text.NewReader(source)), source) {
		texts = append(texts, strings.TrimSpace(s.Heading.Text+"\n"+s.Text))
	}
	return strings.Join(texts, "\n")
}
