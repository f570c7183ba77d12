package server

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/apilab/apilab/assets"
)

// A query is what someone looks for: words, and in double quotes phrases.
type query struct {
	words   []string // lower case; those that every text has are left out, unless there are no others
	phrases []string // lower case, with single spaces
}

var quoted = regexp.MustCompile(`["“”„]([^"“”„]*)["“”„]?`)

func parseQuery(text string) query {
	var q query
	for _, found := range quoted.FindAllStringSubmatch(text, -1) {
		if phrase := spaced(strings.ToLower(found[1])); phrase != "" {
			q.phrases = append(q.phrases, phrase)
		}
	}
	all := strings.FieldsFunc(strings.ToLower(text), notOfWord)
	q.words = slices.DeleteFunc(slices.Clone(all), func(w string) bool { return slices.Contains(assets.StopWords(), w) })
	if len(q.words) == 0 {
		q.words = all
	}
	slices.Sort(q.words)
	q.words = slices.Compact(q.words)
	return q
}

func notOfWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// hump is where a word begins inside of a name: resourceVersion, APIService.
var hump = regexp.MustCompile(`(\p{Ll}|\p{N})(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})`)

// wordsOf are the words of a text, lower case; a name also by its parts.
func wordsOf(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), notOfWord)
	if parts := hump.ReplaceAllString(text, "$1$3 $2$4"); parts != text {
		words = append(words, strings.FieldsFunc(strings.ToLower(parts), notOfWord)...)
	}
	return words
}

func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }
