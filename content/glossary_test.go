package content

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// withGlossary is a curriculum of one lesson with this body, and a glossary.
func withGlossary(glossary, body string) fstest.MapFS {
	fsys := lessonFS(body)
	fsys["glossary/t.yaml"] = &fstest.MapFile{Data: []byte(glossary)}
	return fsys
}

const someTerms = `
watch:
  text: A request that stays open.
field manager:
  also: [manager]
  text: Who set a field.
CRD:
  text: Defines a kind.
policy:
  text: A rule.
list:
  text: A request.
`

func TestTermsAreMarkedOncePerSection(t *testing.T) {
	t.Parallel()
	const open, shut = `<dfn class="term"><a href="/glossary#`, `</a></dfn>`
	mark := func(id, word string) string { return open + id + `" aria-describedby="term:` + id + `">` + word + shut }
	tests := []struct{ name, body, want string }{
		{"first of a section", "A watch, a watch.\n\n## B\n\nA watch.\n\n### C\n\nA watch.\n",
			"<p>A " + mark("watch", "watch") + ", a watch.</p>\n|<p>A " + mark("watch", "watch") + ".</p>\n|<p>A watch.</p>\n"},
		{"capital at the start, plural, another word", "Watches and CRDs. Policies of managers.\n",
			"<p>" + mark("watch", "Watches") + " and " + mark("crd", "CRDs") + ". " + mark("policy", "Policies") + " of " + mark("field-manager", "managers") + ".</p>\n"},
		{"whole words as they are spelt", "watcher, re-watch, watch-list, list/watch, crd, WATCH, x_list\n", "<p>watcher, re-watch, watch-list, list/watch, crd, WATCH, x_list</p>\n"},
		{"the longer one", "A field manager is a manager.\n", "<p>A " + mark("field-manager", "field manager") + " is a manager.</p>\n"},
		{"over the end of a line", "A field\nmanager\nand a list\n", "<p>A " + mark("field-manager", "field\nmanager") + "\nand a " + mark("list", "list") + "</p>\n"},
		{"inside emphasis, beside code", "**A watch** of `watch`: list & go.\n", "<p><strong>A " + mark("watch", "watch") + "</strong> of <code>watch</code>: " + mark("list", "list") + " &amp; go.</p>\n"},
		{"not in links, code, headings, heads of tables", "[a watch](https://x.example) `list`\n\n## A watch\n\n| watch |\n|---|\n| a list |\n\n```text\nlist\n```\n",
			`rel="noreferrer">a watch</a> <code>list</code></p>|<th>watch</th>|<td>a ` + mark("list", "list") + "</td>|>A watch <a|<code>list</code>"},
		{"not in options", ":::predict\n\nA watch?\n\n- [x] a list\n- [ ] none\n\n---\n\nA list.\n\n:::\n",
			"<p>A " + mark("watch", "watch") + "?</p>|<li data-right>a list</li>|<p>A " + mark("list", "list") + ".</p>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, problems := Load(withGlossary(someTerms, tt.body))
			if len(problems) > 0 {
				t.Fatalf("problems: %q", texts(problems))
			}
			var got strings.Builder
			if err := c.Lesson("t/a").Render(&got, Slots{}); err != nil {
				t.Fatal(err)
			}
			for _, want := range strings.Split(tt.want, "|") {
				if !strings.Contains(got.String(), want) {
					t.Errorf("no\n%s\nin\n%s", want, got.String())
				}
			}
			if want, got := strings.Count(tt.want, open), strings.Count(got.String(), open); got != want {
				t.Errorf("%d terms are marked, want %d", got, want)
			}
		})
	}
}

func TestGlossary(t *testing.T) {
	t.Parallel()
	fsys := withGlossary(someTerms, "A list, then a watch; a list.\n")
	fsys["glossary/more.yaml"] = &fstest.MapFile{Data: []byte("# More\n410 Gone:\n  text: The `history` *ended*.\n")}
	fsys["glossary/README.md"] = &fstest.MapFile{Data: []byte("# Not a term")}
	c, problems := Load(fsys)
	if len(problems) > 0 {
		t.Fatalf("problems: %q", texts(problems))
	}
	var names []string
	for _, term := range c.Glossary {
		names = append(names, term.Name)
	}
	if want := []string{"410 Gone", "CRD", "field manager", "list", "policy", "watch"}; !slices.Equal(names, want) {
		t.Errorf("terms are %q, want %q", names, want)
	}
	gone := c.Glossary[0]
	if gone.ID != "410-gone" || gone.Text != "The <code>history</code> <em>ended</em>." || gone.Plain != "The history ended." {
		t.Errorf("410 Gone is %+v", gone)
	}
	var met []string
	for _, term := range c.Lesson("t/a").Terms {
		met = append(met, term.Name)
	}
	if want := []string{"list", "watch"}; !slices.Equal(met, want) {
		t.Errorf("the lesson's terms are %q, want %q", met, want)
	}
}

func TestGlossaryNamesProblems(t *testing.T) {
	t.Parallel()
	const at = "glossary/t.yaml"
	for _, tt := range []struct {
		name, glossary string
		want           []string
	}{
		{"no YAML", "a: [\n", []string{at + ":1: did not find expected node content"}},
		{"no map", "- a\n", []string{at + ":1: a glossary file is a map: each term with its text"}},
		{"nothing", "# later\n", nil},
		{"no text", "a:\n  also: [b]\n", []string{at + ":1: a: text is missing"}},
		{"text alone", "a: b\n", []string{at + ":1: a: a term has a text, and may have a list also"}},
		{"unknown field", "a:\n  text: b\n  see: c\n", []string{at + ":3: a: unknown field see; there are text and also"}},
		{"field twice", "a:\n  text: b\n  text: c\n", []string{at + ":3: a: text is given twice"}},
		{"too long", "a:\n  text: " + strings.Repeat("x", 321) + "\n", []string{at + ":2: a: the text has 321 characters; it is read in passing, one or two sentences of at most 320"}},
		{"a link", "a:\n  text: See [b](https://b.example).\n", []string{at + ":2: a: the text is one paragraph of words, `code` and *emphasis*; no links, lists or HTML"}},
		{"two paragraphs", "a:\n  text: |\n    b\n\n    c\n", []string{at + ":2: a: the text is one paragraph of words, `code` and *emphasis*; no links, lists or HTML"}},
		{"also no list", "a:\n  text: b\n  also: {c: d}\n", []string{at + ":3: a: also is a list of words"}},
		{"no word", "a:\n  text: b\n  also: ['…']\n", []string{at + `:3: a: "…" in also is not a word or a few, at most 40 characters`}},
		{"twice", "a:\n  text: b\nA:\n  text: c\n", []string{at + ":3: A: \"A\" is explained already at " + at + ":1, as a"}},
		{"also elsewhere", "a:\n  text: b\n  also: [c]\nd:\n  text: e\n  also: [C]\n", []string{at + ":4: d: \"C\" is explained already at " + at + ":1, as a"}},
		{"twice in itself", "a:\n  text: b\n  also: [a]\n", []string{at + ":1: a: \"a\" is given twice"}},
		{"same address", "a b:\n  text: c\na-b:\n  text: d\n", []string{at + ":3: a-b would have the same address as a b at " + at + ":1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, problems := Load(withGlossary(tt.glossary, "")); !slices.Equal(texts(problems), tt.want) {
				t.Errorf("problems are\n%s\nwant\n%s", strings.Join(texts(problems), "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
	fsys := withGlossary("a:\n  text: b\n", "")
	fsys["glossary/u.yaml"] = &fstest.MapFile{Data: []byte("\nA:\n  text: c\n")}
	fsys["glossary/v.yml"] = &fstest.MapFile{}
	want := []string{"glossary/u.yaml:2: A: \"A\" is explained already at glossary/t.yaml:1, as a", "glossary/v.yml: the glossary is made of files NAME.yaml"}
	if _, problems := Load(fsys); !slices.Equal(texts(problems), want) {
		t.Errorf("over files, problems are %q, want %q", texts(problems), want)
	}
}
