package server

import (
	"log/slog"
	"testing"
	"time"

	"github.com/apilab/apilab/server/store"
)

func TestWhereToGoOn(t *testing.T) {
	t.Parallel()
	shelf, err := openShelf(writeContent(t), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	passed := store.Exercise{PassedAt: time.Now()}
	for name, test := range map[string]struct {
		p    progress
		url  string // "" for nowhere
		done int
		next string
	}{
		"has not begun": {},
		"has looked at the first": {
			p:   progress{visited: []string{"basics/first"}},
			url: "/lessons/basics/first", next: "Say hello",
		},
		"has finished the first": {
			p:   progress{visited: []string{"basics/first"}, exercises: map[string]store.Exercise{"basics/say": passed}},
			url: "/lessons/basics/second", next: "Pick the right one",
		},
		"is in the middle of the second": {
			p: progress{visited: []string{"basics/second", "basics/first"},
				exercises: map[string]store.Exercise{"basics/say": passed, "basics/pick": passed, "basics/ask": {}}},
			url: "/lessons/basics/second#exercise-basics-ask", done: 1, next: "Ask the server",
		},
		"has left out the first": {
			p: progress{visited: []string{"basics/second", "more/last"},
				exercises: map[string]store.Exercise{"basics/pick": passed, "basics/ask": passed}},
			url: "/lessons/basics/first", next: "Say hello",
		},
		"has finished everything": {
			p: progress{visited: []string{"more/last", "basics/second", "basics/first"},
				exercises: map[string]store.Exercise{"basics/say": passed, "basics/pick": passed, "basics/ask": passed}},
		},
		"was in a lesson that is gone": {
			p:   progress{visited: []string{"basics/gone", "basics/first"}, exercises: map[string]store.Exercise{"basics/gone": passed}},
			url: "/lessons/basics/first", next: "Say hello",
		},
		"knows only what is gone": {p: progress{visited: []string{"other/gone"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := test.p.next(shelf.current())
			switch {
			case got == nil && test.url == "":
			case got == nil || got.URL != test.url || got.Done != test.done || got.Next != test.next || got.Track != "Basics":
				t.Errorf("go on at %+v, want %+v", got, test)
			}
		})
	}
}

func TestWhereToGoOnInATrack(t *testing.T) {
	t.Parallel()
	shelf, err := openShelf(writeContent(t), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	library := shelf.current()
	passed := store.Exercise{PassedAt: time.Now()}
	all := map[string]store.Exercise{"basics/say": passed, "basics/pick": passed, "basics/ask": passed}
	for name, test := range map[string]struct {
		p     progress
		url   string // "" for nowhere
		begin bool
	}{
		"has not begun":              {url: "/lessons/basics/first", begin: true},
		"was in another track since": {p: progress{visited: []string{"more/last", "basics/second"}}, url: "/lessons/basics/second"},
		"has finished the first":     {p: progress{visited: []string{"basics/first"}, exercises: map[string]store.Exercise{"basics/say": passed}}, url: "/lessons/basics/second"},
		"has finished it":            {p: progress{visited: []string{"basics/second", "basics/first"}, exercises: all}},
	} {
		got := test.p.nextIn(library, library.curriculum.Track("basics"))
		switch {
		case got == nil && test.url == "":
		case got == nil || got.URL != test.url || got.Begin != test.begin:
			t.Errorf("who %s goes on at %+v, want %+v", name, got, test)
		}
	}
	p := progress{exercises: all}
	if more := p.track(library, library.curriculum.Track("more"), nil); len(more.Needs) != 1 || !more.Needs[0].Done || more.Needs[0].URL != "/tracks/basics" {
		t.Errorf("the needs of the second track are %+v", more.Needs)
	}
}
