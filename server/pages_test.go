package server

import (
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/server/store"
)

func TestHome(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	a := v.get("/")
	a.wants(t, http.StatusOK, "Basics", "What to begin with.", "Begin with The first lesson", `href="/tracks/basics"`, "2 lessons", "25 min", "introductory",
		`href="/glossary"`, `href="/reference/basics/sheet"`)
	if strings.Contains(a.body, "Say hello</") {
		t.Log("the home page names exercises")
	}
}

func TestTrack(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	v.get("/tracks/basics").wants(t, http.StatusOK, "What to begin with.", "begin.", "25 min", "Begin ·", "The first lesson", `href="/lessons/basics/second"`,
		`href="/lessons/basics/second#exercise-basics-ask"`, "no other track", `href="/reference/basics/sheet"`)
	v.get("/lessons/basics/second")
	v.get("/tracks/basics").wants(t, http.StatusOK, "Continue ·", "The second lesson", "Builds on")
	v.get("/tracks/more").wants(t, http.StatusOK, `href="/tracks/basics"`, "Track 2 of 2")
	v.get("/tracks/none").wants(t, http.StatusNotFound, "no page at this address")
}

func TestNeighboursCrossTracks(t *testing.T) {
	t.Parallel()
	v := start(t).learner(t)
	v.get("/lessons/basics/second").wants(t, http.StatusOK, `href="/lessons/basics/first" rel="prev"`, `href="/lessons/more/last" rel="next"`, "Next track: More")
	v.get("/lessons/more/last").wants(t, http.StatusOK, `href="/lessons/basics/second" rel="prev"`, "Before, in Basics", "This was the last lesson")
}

func TestGlossary(t *testing.T) {
	t.Parallel()
	v := start(t).learner(t)
	v.get("/glossary").wants(t, http.StatusOK, `<div id="lesson"`, "What you <em>read</em>.", "First met in", "The last lesson")
	v.get("/lessons/more/last").wants(t, http.StatusOK, `<a href="/glossary#lesson" aria-describedby="term:lesson">lesson</a>`, `<dd id="term:lesson">What you <em>read</em>.`)
}

func TestReference(t *testing.T) {
	t.Parallel()
	v := start(t).learner(t)
	v.get("/reference/basics/sheet").wants(t, http.StatusOK, "All of it", `<h2 id="reads">`, "<apilab-run>", `href="/tracks/basics"`, "apilab-filter")
	v.get("/reference/basics/none").wants(t, http.StatusNotFound, "no page at this address")
}

func TestSearchIndex(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	a := v.get("/search.json")
	a.wants(t, http.StatusOK)
	var entries []searchEntry
	if err := json.Unmarshal([]byte(a.body), &entries); err != nil {
		t.Fatal(err)
	}
	for _, want := range []searchEntry{
		{Kind: "track", URL: "/tracks/basics", Title: "Basics", Text: "What to begin with. begin."},
		{Kind: "lesson", URL: "/lessons/basics/first", Title: "The first lesson", Place: "Basics", Also: "say hello\nHow it begins.", Text: "Read this first."},
		{Kind: "section", URL: "/lessons/basics/first#say-something", Title: "Say something", Place: "The first lesson"},
		{Kind: "exercise", URL: "/lessons/basics/first#exercise-basics-say", Title: "Say hello", Place: "The first lesson", Text: "Type hello.\nYou said hello"},
		{Kind: "reference", URL: "/reference/basics/sheet", Title: "Sheet", Place: "Basics", Also: "All of it."},
		{Kind: "section", URL: "/reference/basics/sheet#reads", Title: "Reads", Place: "Sheet", Text: "kubectl get pods"},
		{Kind: "term", URL: "/glossary#lesson", Title: "lesson", Place: "Glossary", Also: "chapter", Text: "What you read."},
	} {
		if !slices.Contains(entries, want) {
			t.Errorf("no %+v in\n%+v", want, entries)
		}
	}
	tag := a.header.Get("ETag")
	v.get("/search.json", header("If-None-Match", tag)).wants(t, http.StatusNotModified)
	zipped := v.get("/search.json", header("Accept-Encoding", "gzip"))
	zipped.wants(t, http.StatusOK, "Say hello")
	if zipped.header.Get("Content-Encoding") != "gzip" || zipped.header.Get("ETag") == tag {
		t.Errorf("compressed, it comes with %v", zipped.header)
	}
	s.visitor(t).get("/search.json").wants(t, http.StatusUnauthorized, "Open the link that apilab printed")
}

func TestLesson(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	v.get("/lessons/basics/first").wants(t, http.StatusOK,
		"The first lesson", "Read this first.", `id="exercise-basics-say"`, "You said hello", "<strong>hello</strong>", `href="/lessons/basics/second"`)
	v.get("/lessons/basics/second").wants(t, http.StatusOK, "Pick the right one", "This", "That",
		`href="/lessons/basics/first#exercise-basics-say"`, // a need that is not passed yet
		`href="/lessons/basics/first"`)
	for _, path := range []string{"/lessons/basics/third", "/lessons/nothing/first", "/lessons/basics", "/lessons/basics/..%2ffirst"} {
		v.get(path).wants(t, http.StatusNotFound, "no page at this address")
	}
	// The last one visited is where to go on.
	v.get("/").wants(t, http.StatusOK, "Continue ·", "The second lesson", "/lessons/basics/second")
}

func TestLessonShowsWhatIsPassed(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	before := v.get("/lessons/basics/first").body
	now := time.Now()
	err := s.store.SaveExercise(t.Context(), localLearner, store.Exercise{ID: "basics/say", PassedAt: now, Checks: []store.Check{{ID: "said", PassedAt: now}}})
	if err != nil {
		t.Fatal(err)
	}
	if after := v.get("/lessons/basics/first").body; after == before {
		t.Error("the page is the same after the exercise was passed")
	}
	if a := v.get("/lessons/basics/second"); strings.Contains(a.body, "#exercise-basics-say") {
		t.Error("a need that is passed is still asked for")
	}
}

func TestKubeconfig(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.learner(t).get("/kubeconfig")
	a.wants(t, http.StatusOK, "kind: Config", "https://"+s.GatewayAddr(), "apilab")
	if !strings.Contains(a.header.Get("Content-Disposition"), "attachment") {
		t.Error("it is not offered as a file")
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	v := start(t).learner(t)
	a := v.get("/lessons/basics/first", header("Accept-Encoding", "gzip"))
	a.wants(t, http.StatusOK, "Read this first.")
	if a.header.Get("Content-Encoding") != "gzip" {
		t.Error("the page is not compressed")
	}
}

func TestErrorsBecomePages(t *testing.T) {
	t.Parallel()
	s := start(t)
	e := s.http.Handler.(*echo.Echo)
	e.GET("/panics", func(echo.Context) error { panic("a secret detail") })
	e.GET("/fails", func(echo.Context) error { return errors.New("a secret detail") })
	v := s.learner(t)
	for _, path := range []string{"/panics", "/fails"} {
		a := v.get(path)
		a.wants(t, http.StatusInternalServerError, "Something went wrong here")
		if strings.Contains(a.body, "secret detail") {
			t.Errorf("%s: the page tells what belongs into the log", path)
		}
		line := v.get(path, header("Accept", "application/json"))
		line.wants(t, http.StatusInternalServerError, "Something went wrong here")
		id := line.body[strings.LastIndex(line.body, " ")+1:]
		id = strings.TrimRight(id, ".\n")
		if !strings.Contains(s.log.String(), "request="+id) {
			t.Errorf("%s: the log does not know the request %q", path, id)
		}
	}
	if !strings.Contains(s.log.String(), "TestErrorsBecomePages") {
		t.Error("the log has no stack of the panic")
	}
	v.ask(http.MethodPost, "/").wants(t, http.StatusMethodNotAllowed)
	v.ask(http.MethodHead, "/nowhere").wants(t, http.StatusNotFound)
	v.get("/").wants(t, http.StatusOK) // it still serves
}

func TestBrokenContentTakesNothingElseDown(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *Options) {
		write(t, filepath.Join(o.ContentDir, "content", "basics", "03-broken", "index.md"), "no front matter")
		write(t, filepath.Join(o.ContentDir, "exercises", "basics", "say.yaml"), "title: [")
	})
	v := s.learner(t)
	v.get("/").wants(t, http.StatusOK, "The first lesson")
	v.get("/lessons/basics/first").wants(t, http.StatusOK, "Read this first.", "basics/say")
	for _, want := range []string{"content/basics/03-broken/index.md", "exercises/basics/say.yaml"} {
		if !strings.Contains(s.log.String(), want) {
			t.Errorf("the log does not name %s", want)
		}
	}
}

func TestContentFolderMustBeOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := New(Options{DataDir: t.TempDir(), ContentDir: dir, Backends: fakeBackends(t)})
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("New: %v; want an error that names %s", err, dir)
	}
}

var codeInPlaceholder = regexp.MustCompile("placeholder=\"[^\"]*(`|&#96;|&#x60;)")

func TestEveryBuiltInLessonIsShownWithItsExercises(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *Options) { o.ContentDir = "" })
	v := s.learner(t)
	lessons, cards := 0, 0
	for _, track := range s.library.current().curriculum.Tracks {
		for _, lesson := range track.Lessons {
			lessons++
			a := v.get(lessonURL(lesson.ID))
			a.wants(t, http.StatusOK)
			if !strings.Contains(html.UnescapeString(a.body), lesson.Summary) {
				t.Errorf("%s does not show its summary", lesson.ID)
			}
			if code := codeInPlaceholder.FindString(a.body); code != "" {
				t.Errorf("%s has code in a place that shows plain text: %s", lesson.ID, code)
			}
			for _, id := range lesson.ExerciseIDs {
				cards++
				if !strings.Contains(a.body, `id="`+exerciseAnchor(id)+`"`) {
					t.Errorf("%s has no card of %s", lesson.ID, id)
				}
			}
		}
	}
	if lessons == 0 || cards == 0 {
		t.Errorf("%d lessons with %d exercises", lessons, cards)
	}
}

func TestAssetsMayBeKept(t *testing.T) {
	t.Parallel()
	s := start(t)
	if !s.renderer.Built() {
		t.Skip("the assets are not built: npm run build")
	}
	v := s.learner(t)
	_, after, _ := strings.Cut(v.get("/").body, `<link rel="stylesheet" href="`)
	path, _, _ := strings.Cut(after, `"`)
	a := s.visitor(t).get(path, header("Accept-Encoding", "gzip")) // the sign-in page needs them too
	a.wants(t, http.StatusOK, "{")
	if got := a.header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("Cache-Control is %q", got)
	}
	if a.header.Get("Content-Encoding") != "gzip" {
		t.Error("it is not compressed")
	}
}
