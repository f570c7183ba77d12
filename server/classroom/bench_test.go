package classroom

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/store"
)

// BenchmarkTell is what pages cost when all of 60 learners have changed within one pause: 20 checks each, one page.
func BenchmarkTell(b *testing.B) {
	const learners, checks = 60, 20
	s := &shelf{class: store.Class{ID: "c"}}
	lesson := Lesson{ID: "t/big", Exercises: []Exercise{{ID: "t/e"}}}
	words := make([]string, checks)
	for i := range checks {
		lesson.Exercises[0].Checks = append(lesson.Exercises[0].Checks, Check{ID: fmt.Sprint(i), Says: "It is as it should be"})
	}
	for i := range learners {
		s.members = append(s.members, store.Member{Learner: store.Learner{ID: fmt.Sprint("l-", i), Name: fmt.Sprint("Learner ", i)}})
	}
	rooms := NewRooms(s, func([]string) []Lesson { return []Lesson{lesson} }, func(string) {}, slog.New(slog.DiscardHandler))
	room, err := rooms.Room(b.Context(), "c")
	if err != nil {
		b.Fatal(err)
	}
	room.Join(nothing{})
	room.telling = true // by hand, here
	n := 0
	for b.Loop() {
		n++
		for i := range learners {
			for c := range checks {
				words[c] = fmt.Sprintf("%d:failing:There are %d of them", c, n)
			}
			rooms.Follow(fmt.Sprint("l-", i), hub.Report{Pages: 1, Cluster: cluster.Ready, Exercise: state("t/e", words...)})
		}
		room.tell()
		room.telling = true
	}
}

type nothing struct{}

func (nothing) Send(string, []byte) {}
