package content

import (
	"html/template"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// plainLanguages are shown as they are.
var plainLanguages = map[string]bool{"text": true, "http": true, "console": true, "mermaid": true}

// lexersByName keeps what lexers.Get finds, which it searches for anew each time.
var lexersByName sync.Map // of string to chroma.Lexer

// lexerOf returns the lexer of a language, nil if there is none.
func lexerOf(language string) chroma.Lexer {
	if known, ok := lexersByName.Load(language); ok {
		return known.(chroma.Lexer)
	}
	lexer := lexers.Get(language)
	if lexer != nil {
		lexersByName.Store(language, lexer)
	}
	return lexer
}

func knownLanguage(name string) bool { return plainLanguages[name] || lexerOf(name) != nil }

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
	if plainLanguages[language] {
		return plain
	}
	lexer := lexerOf(language)
	if lexer == nil {
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
