package store

import (
	"testing"
	"time"
)

func TestLastVisitsAndResetsOfAClass(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	class, err := s.AddClass(ctx, Class{Name: "C", Capacity: 10, Instructor: "local"})
	if err != nil {
		t.Fatal(err)
	}
	joined, err := s.Join(ctx, class.JoinCode, "Ada", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ada := joined.Learner.ID
	for _, err := range []error{
		s.VisitLesson(ctx, ada, "t/one"), s.VisitLesson(ctx, ada, "t/two"), s.VisitLesson(ctx, "local", "t/three"),
		s.SaveExercise(ctx, ada, Exercise{ID: "t/e"}), s.ResetExercise(ctx, ada, "t/e"), s.ResetExercise(ctx, ada, "t/e"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	events, err := s.Events(ctx, ada, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	visits, err := s.LastVisits(ctx, class.ID)
	if err != nil || len(visits) != 1 || visits[ada] != "t/two" {
		t.Errorf("LastVisits: %v, %v; want t/two of Ada alone", visits, err)
	}
	resets, err := s.LastResets(ctx, class.ID)
	if want := events[len(events)-1].At; err != nil || len(resets) != 1 || !resets[ada]["t/e"].Equal(want) {
		t.Errorf("LastResets: %v, %v; want %v", resets, err, want)
	}
}
