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
			p: progress{visited: []string{"basics/second"},
				exercises: map[string]store.Exercise{"basics/pick": passed, "basics/ask": passed}},
			url: "/lessons/basics/first", next: "Say hello",
		},
		"has finished everything": {
			p: progress{visited: []string{"basics/second", "basics/first"},
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
