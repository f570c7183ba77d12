package server

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
)

const (
	longestQuery  = 200 // characters; what is beyond is not looked at
	excerptLength = 160 // about, in bytes
)

// find is the search as a page of its own: it needs no JavaScript, and can be linked to.
func (s *Server) find(c echo.Context) error {
	text := spaced(c.QueryParam("q"))
	if runes := []rune(text); len(runes) > longestQuery {
		text = string(runes[:longestQuery])
	}
	index, err := s.library.current().index()
	if err != nil {
		return err
	}
	q := parseQuery(text)
	page := assets.Search{Page: s.page(c, "Search"), Query: text}
	for _, e := range index.finder.find(q) {
		page.Hits = append(page.Hits, assets.Hit{Link: assets.Link{URL: e.URL, Title: e.Title}, Place: placeOf(e), Excerpt: excerpt(e, q), RealNodes: e.Real})
	}
	return s.html(c, http.StatusOK, func(w *bytes.Buffer) error { return s.renderer.Search(w, page) })
}

func placeOf(e searchEntry) string {
	switch e.Kind {
	case "exercise":
		return "Exercise in " + e.Place
	case "lesson":
		return "Lesson · " + e.Place
	case "reference":
		return "Reference · " + e.Place
	case "track":
		return "Track"
	}
	return e.Place
}

// excerpt is some of the text: of a term its beginning, else the place where a word was found.
func excerpt(e searchEntry, q query) []assets.Part {
	var words []string
	for _, w := range slices.Concat(q.phrases, q.words) {
		words = append(words, strings.ReplaceAll(regexp.QuoteMeta(w), " ", `\s+`))
	}
	if len(words) == 0 {
		return nil
	}
	text := spaced(e.Text)
	hits := regexp.MustCompile(`(?i)(?:^|[^\pL\pN])(`+strings.Join(words, "|")+`)`).FindAllStringSubmatchIndex(text, -1)
	from := 0
	if e.Kind != "term" {
		if len(hits) == 0 {
			return nil
		}
		from = wordAt(text, hits[0][2]-excerptLength/3)
	}
	to := wordAt(text, from+excerptLength)
	var parts []assets.Part
	if from > 0 {
		parts = append(parts, assets.Part{Text: "… "})
	}
	at := from
	for _, h := range hits {
		if h[2] < at || h[3] > to {
			continue
		}
		parts = append(parts, assets.Part{Text: text[at:h[2]]}, assets.Part{Text: text[h[2]:h[3]], Hit: true})
		at = h[3]
	}
	parts = append(parts, assets.Part{Text: strings.TrimRight(text[at:to], " ")})
	if to < len(text) {
		parts = append(parts, assets.Part{Text: " …"})
	}
	return parts
}

// wordAt is the beginning of the word at or before a place in a text, or the end of a text that is shorter.
func wordAt(text string, at int) int {
	switch {
	case at <= 0:
		return 0
	case at >= len(text):
		return len(text)
	}
	if space := strings.LastIndexByte(text[:at], ' '); space >= 0 {
		return space + 1
	}
	for !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
