package content

import (
	"html/template"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// plainLanguages are shown as they are.
var plainLanguages = map[string]bool{"text": true, "http": true, "console": true, "mermaid": true}

func knownLanguage(name string) bool { return plainLanguages[name] || lexers.Get(name) != nil }

// tokenClass folds chroma's eighty token types into the few that a reader can tell apart. The most specific entry wins.
var tokenClass = map[chroma.TokenType]string{
	chroma.Comment:         "c",
	chroma.Keyword:         "k",
	chroma.KeywordConstant: "n",
	chroma.NameTag:         "k", // keys of YAML and JSON
	chroma.NameAttribute:   "k",
	chroma.NameBuiltin:     "f",
	chroma.NameFunction:    "f",
	chroma.NameVariable:    "v",
	chroma.LiteralString:   "s",
	chroma.LiteralNumber:   "n",
}

func classOf(t chroma.TokenType) string {
	for _, kind := range []chroma.TokenType{t, t.SubCategory(), t.Category()} {
		if class, ok := tokenClass[kind]; ok {
			return class
		}
	}
	return ""
}

// highlight returns code as HTML, with a span around each token that has a class. Its text is exactly code: a reader
// copies and runs what the author wrote.
func highlight(language, code string) string {
	plain := template.HTMLEscapeString(code)
	lexer := lexers.Get(language)
	if plainLanguages[language] || lexer == nil {
		return plain
	}
	// Without EnsureLF, which would normalise the text.
	tokens, err := chroma.Coalesce(lexer).Tokenise(&chroma.TokeniseOptions{State: "root"}, code)
	if err != nil {
		return plain
	}
	var b strings.Builder
	for t := tokens(); t != chroma.EOF; t = tokens() {
		if class := classOf(t.Type); class != "" {
			b.WriteString(`<span class="` + class + `">` + template.HTMLEscapeString(t.Value) + "</span>")
		} else {
			b.WriteString(template.HTMLEscapeString(t.Value))
		}
	}
	return b.String()
}
