package assets

import (
	"bytes"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// pages are one of each, with every optional part filled.
func pages(r *Renderer) map[string]func(io.Writer) error {
	page := Page{Title: "Watch", Scheme: Dark, Split: 40, Version: "v0.1.0", Learner: "local"}
	items := []LessonItem{{RealNodes: true, ID: "t/watch", URL: "/lessons/t/watch", Title: "Watch <events>", Minutes: 25, Current: true, Exercises: []ExerciseItem{{ID: "t/one", Title: "One", Done: true}, {ID: "t/two", Title: "Two", RealNodes: true}}}}
	terms := []Term{{ID: "watch", Name: "watch", Also: []string{"watching"}, Text: "It <em>stays</em> open.", In: &Link{"/lessons/t/watch", "Watch <events>"}}}
	track := Track{ID: "t", URL: "/tracks/t", Title: "T", Summary: "All of <events>.", Outcome: "see", Needs: []Need{{Link{"/tracks/s", "S"}, true}}, Lessons: items, Current: true}
	references := []Summary{{Link{"/reference/t/sheet", "Sheet"}, "All."}}
	return map[string]func(io.Writer) error{
		"track": func(w io.Writer) error {
			return r.Track(w, TrackPage{Page: page, Track: track, Number: 1, Count: 2, Continue: &Continue{URL: "/lessons/t/watch", Lesson: "Watch <events>", Done: 1, Total: 2}, References: references, Next: &Link{"/tracks/u", "U"}})
		},
		"track that is finished": func(w io.Writer) error {
			return r.Track(w, TrackPage{Page: page, Track: track, Number: 1, Count: 2, Next: &Link{"/tracks/u", "U"}})
		},
		"glossary":       func(w io.Writer) error { return r.Glossary(w, Glossary{Page: page, Terms: terms}) },
		"empty glossary": func(w io.Writer) error { return r.Glossary(w, Glossary{Page: page}) },
		"node logs": func(w io.Writer) error {
			return r.NodeLogs(w, NodeLogs{Page: page, At: time.Unix(0, 0), Files: []LogFile{{Link{"/cluster/logs/a", "a <events>"}, 2 << 20}}})
		},
		"search": func(w io.Writer) error {
			return r.Search(w, Search{Page: page, Query: "watch <events>", Hits: []Hit{{Link: Link{"/lessons/t/watch", "Watch <events>"}, Place: "T", Excerpt: []Part{{Text: "a "}, {Text: "<watch>", Hit: true}}, RealNodes: true}}})
		},
		"search for nothing":        func(w io.Writer) error { return r.Search(w, Search{Page: page}) },
		"search that found nothing": func(w io.Writer) error { return r.Search(w, Search{Page: page, Query: "<zebra>"}) },
		"reference": func(w io.Writer) error {
			return r.Reference(w, Reference{Page: page, Track: Link{"/tracks/t", "T"}, ID: "t/sheet", Name: "Sheet <1>", Headings: []Heading{{"a", "A", 2}}, Body: "<h2 id=\"a\">A</h2>", Terms: terms})
		},
		"home of who has finished": func(w io.Writer) error {
			return r.Home(w, Home{Page: page, Finished: true, Tracks: []Track{track}, Terms: 3, References: references})
		},
		"home": func(w io.Writer) error {
			return r.Home(w, Home{Page: page, Continue: &Continue{URL: "/lessons/t/watch", Lesson: "Watch <events>", Done: 1, Total: 2}, Tracks: []Track{{ID: "t", Title: "T", Lessons: items}, {ID: "later", Title: "Later"}}})
		},
		"home of a new learner": func(w io.Writer) error {
			return r.Home(w, Home{Page: page, Tracks: []Track{{ID: "t", Title: "T", Lessons: items}}})
		},
		"home without tracks": func(w io.Writer) error { return r.Home(w, Home{Page: page}) },
		"lesson": func(w io.Writer) error {
			return r.Lesson(w, Lesson{Page: page, Track: Link{"/tracks/t", "T"}, ID: "t/watch", Name: "Watch <events>", Number: 1, Count: 2, Siblings: items, Next: &Neighbour{Link: Link{"/lessons/t/b", "B"}, Track: "T2"}, Terms: terms, Headings: []Heading{{"a", "A", 2}}, Wants: &Wanted{Backend: "kind"}, RealNodes: true, Objectives: []template.HTML{"see <code>rv</code>"}, Needs: []Link{{"/lessons/t/0", "Zero"}}, Body: "<h2 id=\"a\">A</h2>", Exercises: items[0].Exercises})
		},
		"classroom": func(w io.Writer) error {
			return r.Classroom(w, Classroom{Page: page, ID: "c-1", Name: "Watch <events>", Handouts: []Handout{{"t/one", "One <events>"}}})
		},
		"signin": func(w io.Writer) error {
			return r.SignIn(w, SignIn{Page: page, Problem: "This link was used already.", Command: "apilab open"})
		},
		"error": func(w io.Writer) error { return r.Error(w, ErrorPage{Page: Page{}, Code: 404}) },
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	r, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	for name, render := range pages(r) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := render(&b); err != nil {
				t.Fatal(err)
			}
			html := b.String()
			if !strings.HasSuffix(strings.TrimSpace(html), "</html>") {
				t.Errorf("page is cut off: …%q", html[max(0, len(html)-80):])
			}
			for _, bad := range []string{"ZgotmplZ", "<events>", "<script>", "onclick", "http://", "https://"} {
				if strings.Contains(html, bad) {
					t.Errorf("page contains %q", bad)
				}
			}
			if strings.Count(html, "<h1") != 1 {
				t.Errorf("page has %d h1, want 1", strings.Count(html, "<h1"))
			}
		})
	}
}

func TestUnbuiltPageSaysHowToBuild(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{"dist/.keep": {}}
	templates, err := fs.Glob(embedded, "templates/*.html")
	if err != nil || len(templates) == 0 {
		t.Fatal(templates, err)
	}
	for _, file := range templates {
		data, err := embedded.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fsys[file] = &fstest.MapFile{Data: data}
	}
	r, err := OpenFS(fsys)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Home(&b, Home{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Assets are not built") {
		t.Error("the page does not say that assets are not built")
	}
}

func TestExerciseCard(t *testing.T) {
	t.Parallel()
	r, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	html, err := r.Exercise(ExerciseCard{ID: "t/one", Title: "One & only", Task: "<p>Do it.</p>", Checks: []Check{
		{ID: "held", Says: `It is "held"`, Kind: "object"},
		{ID: "typed", Says: "You read it", Kind: "answer", Prompt: "Which <code>uid</code>?", Placeholder: "uid"},
		{ID: "picked", Says: "You picked", Kind: "choice", Prompt: "Why?", Options: []Option{{ID: "a", Text: "A"}, {ID: "b", Text: "B"}}, Passed: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`id="exercise-t-one"`, `exercise="t/one"`, "One &amp; only", "<p>Do it.</p>", `says="It is &#34;held&#34;"`,
		"Which <code>uid</code>?", `placeholder="uid"`, `type="radio" name="value" value="b"`, `state="passing"`, "3 checks",
	} {
		if !strings.Contains(string(html), want) {
			t.Errorf("card lacks %s", want)
		}
	}
}

func TestCardSaysWhichClusterItWants(t *testing.T) {
	t.Parallel()
	r, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		wants     *Wanted
		has, lack string
	}{
		{nil, "", "apilab-wants"},
		{&Wanted{Backend: "kind"}, `backend="kind"><p>Needs real nodes`, "hidden"},
		{&Wanted{Backend: "kind", Here: true}, `backend="kind" hidden><p>Needs real nodes`, "Needs the embedded"},
		{&Wanted{Backend: "embedded"}, `backend="embedded"><p>Needs the embedded cluster`, "real nodes</span>"},
	} {
		html, err := r.Exercise(ExerciseCard{ID: "t/one", Wants: tt.wants})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(string(html)), " "); !strings.Contains(strings.ReplaceAll(got, "> <", "><"), tt.has) || strings.Contains(got, tt.lack) {
			t.Errorf("%+v: want %q and no %q in %s", tt.wants, tt.has, tt.lack, got)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	script := "console.log('" + strings.Repeat("a", 2000) + "')"
	files, err := readFiles(fstest.MapFS{"app-DQ1BcssG.js": {Data: []byte(script)}, "licenses.md": {Data: []byte("# Licenses")}, ".keep": {}, "font-Bo_j9asI.woff2": {Data: []byte("wOF2")}})
	if err != nil {
		t.Fatal(err)
	}
	h := (&Renderer{files: files}).Files()
	for _, c := range []struct {
		method, path, accept string
		code                 int
		contentType, coding  string
	}{
		{"GET", "/assets/app-DQ1BcssG.js", "", 200, "text/javascript; charset=utf-8", ""},
		{"GET", "/assets/app-DQ1BcssG.js", "br, gzip", 200, "text/javascript; charset=utf-8", "gzip"},
		{"HEAD", "/assets/font-Bo_j9asI.woff2", "gzip", 200, "font/woff2", ""},
		{"GET", "/assets/licenses.md", "", 200, "text/plain; charset=utf-8", ""},
		{"GET", "/assets/app-0000.js", "", 404, "", ""},
		{"GET", "/assets/", "", 404, "", ""},
		{"GET", "/assets/.keep", "", 404, "", ""},
		{"GET", "/assets/../assets.go", "", 404, "", ""},
		{"POST", "/assets/app-DQ1BcssG.js", "", 405, "", ""},
	} {
		req := httptest.NewRequest(c.method, "/", nil)
		req.URL.Path = c.path
		req.Header.Set("Accept-Encoding", c.accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if w.Code != c.code {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, w.Code, c.code)
			continue
		}
		if got := w.Header().Get("Content-Encoding"); got != c.coding {
			t.Errorf("%s %s: encoding %q, want %q", c.method, c.path, got, c.coding)
		}
		if c.code == 200 {
			if got := w.Header().Get("Content-Type"); got != c.contentType {
				t.Errorf("%s %s: type %q, want %q", c.method, c.path, got, c.contentType)
			}
			if kept := strings.Contains(w.Header().Get("Cache-Control"), "immutable"); kept != strings.Contains(c.path, "-") {
				t.Errorf("%s %s: kept for good: %t", c.method, c.path, kept)
			}
		}
		if c.coding == "gzip" && w.Body.Len() > len(script)/2 {
			t.Errorf("%s is not compressed: %d bytes", c.path, w.Body.Len())
		}
	}
}

func TestManifest(t *testing.T) {
	t.Parallel()
	m, err := readManifest(fstest.MapFS{"manifest.json": {Data: []byte(`{
		"src/a.ts": {"file": "a-1.js", "imports": ["_x.js"], "dynamicImports": ["src/late.ts"]},
		"_x.js": {"file": "x-2.js", "imports": ["_y.js"]},
		"_y.js": {"file": "y-3.js", "imports": ["_x.js"]},
		"src/late.ts": {"file": "late-4.js", "isDynamicEntry": true},
		"src/main.css": {"file": "main-5.css"},
		"node_modules/f/files/f-latin.woff2": {"file": "f-6.woff2"}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		m.script("src/a.ts"):                       "/assets/a-1.js",
		m.script("src/none.ts"):                    "",
		strings.Join(m.preloads("src/a.ts"), " "):  "/assets/x-2.js /assets/y-3.js",
		strings.Join(m.styles("src/main.css"), ""): "/assets/main-5.css",
		m.asset("f-latin.woff2"):                   "/assets/f-6.woff2",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if _, err := readManifest(fstest.MapFS{"manifest.json": {Data: []byte("{")}}); err == nil {
		t.Error("a damaged manifest is taken")
	}
}

func TestDiagramName(t *testing.T) {
	t.Parallel()
	const want = "80baf41df0aba5c4" // of "graph LR\n  a --> b"; build/diagrams.test.mjs has the same
	for _, source := range []string{"graph LR\n  a --> b", "\ngraph LR\r\n  a --> b\n\n"} {
		if got := diagramName(source); got != want {
			t.Errorf("diagramName(%q) = %s, want %s", source, got, want)
		}
	}
}

func TestNewPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cookies string
		want    Page
	}{
		{"", Page{Title: "T"}},
		{"apilab-scheme=dark; apilab-split=35", Page{Title: "T", Scheme: Dark, Split: 35}},
		{"apilab-scheme=\"><script>; apilab-split=900", Page{Title: "T"}},
		{"apilab-scheme=system; apilab-split=4.5", Page{Title: "T"}},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Cookie", c.cookies)
		if got := NewPage(r, "T"); got != c.want {
			t.Errorf("NewPage with %q = %+v, want %+v", c.cookies, got, c.want)
		}
	}
}

func TestTicks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ done, total, marks, on int }{{0, 0, 0, 0}, {0, 3, 3, 0}, {2, 5, 5, 2}, {48, 48, 48, 48}, {1, 200, 48, 0}, {199, 200, 48, 47}, {200, 200, 48, 48}} {
		marks := ticks(c.done, c.total)
		on := 0
		for _, m := range marks {
			if m {
				on++
			}
		}
		if len(marks) != c.marks || on != c.on {
			t.Errorf("ticks(%d, %d) = %d of %d, want %d of %d", c.done, c.total, on, len(marks), c.on, c.marks)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for minutes, want := range map[int]string{5: "5 min", 60: "1 h", 75: "1 h 15 min"} {
		if got := duration(minutes); got != want {
			t.Errorf("duration(%d) = %q, want %q", minutes, got, want)
		}
	}
}
