package server

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/apilab/apilab/assets"
)

func TestFind(t *testing.T) {
	t.Parallel()
	f := newFinder([]searchEntry{
		{Kind: "lesson", URL: "/l/conditions", Title: "Conditions", Place: "API machinery", Also: "How status speaks."},
		{Kind: "lesson", URL: "/l/watch", Title: "List, then watch", Place: "API machinery", Also: "Ask once, then stay."},
		{Kind: "section", URL: "/l/watch#bookmarks", Title: "Bookmarks", Place: "List, then watch", Text: "A watch sends its metadata.resourceVersion now and then, so that it can begin again where it was."},
		{Kind: "section", URL: "/l/watch#a", Title: "Away", Place: "List, then watch", Text: "One watch."},
		{Kind: "section", URL: "/l/watch#b", Title: "Back", Place: "List, then watch", Text: "One watch."},
		{Kind: "section", URL: "/l/watch#c", Title: "Cut", Place: "List, then watch", Text: "One watch."},
		{Kind: "exercise", URL: "/l/watch#exercise", Title: "Watch a Pod start", Place: "List, then watch", Text: "Open a watch."},
		{Kind: "term", URL: "/glossary#finalizer", Title: "finalizer", Place: "Glossary", Text: "A word in the metadata that holds a deletion until somebody takes it away."},
	})
	for text, want := range map[string]string{ // titles, the first ones
		"condition":                 "Conditions",
		"STATUS":                    "Conditions",
		"bookm":                     "Bookmarks",
		"resource version":          "Bookmarks", // the words of a name
		"resourceversion":           "Bookmarks",
		"machinery list":            "List, then watch",
		"watch pod":                 "Watch a Pod start",
		"how does a finalizer work": "finalizer",
		"what is a finalizer?":      "finalizer",
		`"so that"`:                 "Bookmarks",
		`"begin again where"`:       "Bookmarks",
		"“holds a deletion” word":   "finalizer",
		`"one watch" away`:          "Away",
		"bookmarks stay":            "Bookmarks|List, then watch",
		"conditions zebra":          "Conditions",
		"":                          "",
		"zebra":                     "",
		`""`:                        "",
		`"watch one"`:               "",
		strings.Repeat("x ", 100):   "",
	} {
		var titles []string
		for _, e := range f.find(parseQuery(text)) {
			titles = append(titles, e.Title)
		}
		if got := strings.Join(titles, "|"); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q finds %q; want %q first", text, got, want)
		}
	}
	sections := 0
	for _, e := range f.find(parseQuery("watch")) {
		if e.Kind == "section" {
			sections++
		}
	}
	if sections != mostOfPage {
		t.Errorf("%d sections of one page", sections)
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("wörd ", 90) + "Needle here " + strings.Repeat("möre ", 90)
	for _, tt := range []struct{ kind, text, query, want string }{
		{"section", "A watch can begin again where it was.", "begin AGAIN", "A watch can [begin] [again] where it was."},
		{"section", "A watch can begin\nagain.", `"begin again"`, "A watch can [begin again]."},
		{"section", "nothing of it", "zebra", ""},
		{"term", "A word that holds it.", "finalizer", "A word that holds it."},
	} {
		if got := marked(excerpt(searchEntry{Kind: tt.kind, Text: tt.text}, parseQuery(tt.query))); got != tt.want {
			t.Errorf("%q in %q: %q; want %q", tt.query, tt.text, got, tt.want)
		}
	}
	got := marked(excerpt(searchEntry{Kind: "section", Text: long}, parseQuery("needle")))
	if !strings.HasPrefix(got, "… wörd ") || !strings.HasSuffix(got, "möre …") || !strings.Contains(got, "[Needle] here") || len(got) > 200 {
		t.Errorf("of a long text: %q", got)
	}
}

func marked(parts []assets.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Hit {
			p.Text = "[" + p.Text + "]"
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

func TestSearchPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	v.get("/search").wants(t, http.StatusOK, `<input type="search" name="q" value=""`, "double quotes")
	v.get("/search?q=say+hello").wants(t, http.StatusOK, "results for “say hello”", `href="/lessons/basics/first#exercise-basics-say"`, "Exercise in The first lesson")
	v.get("/search?q="+url.QueryEscape(`<b>"'`)).wants(t, http.StatusOK, `value="&lt;b&gt;&#34;&#39;"`, "Nothing has")
	v.get("/").wants(t, http.StatusOK, `href="/search"`)
	s.visitor(t).get("/search?q=hello").wants(t, http.StatusUnauthorized)
}
