package store

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestMessagesStayUntilDismissed(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	teacher, err := s.AddPerson(ctx, "Tea", RoleInstructor)
	if err != nil {
		t.Fatal(err)
	}
	class, err := s.AddClass(ctx, Class{Name: "C", Capacity: 10, Instructor: teacher.ID})
	if err != nil {
		t.Fatal(err)
	}
	join := func(name string) string {
		t.Helper()
		joined, err := s.Join(ctx, class.JoinCode, name, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return joined.Learner.ID
	}
	texts := func(learner string) (all []string) {
		t.Helper()
		messages, err := s.Messages(ctx, learner)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			all = append(all, m.Sender+": "+m.Text)
		}
		return all
	}
	send := func(learner, text string) {
		t.Helper()
		if err := s.SendMessage(ctx, class.ID, learner, "Tea", text); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(who, learner string, want ...string) {
		t.Helper()
		if got := texts(learner); !slices.Equal(got, want) {
			t.Errorf("%s sees %q, want %q", who, got, want)
		}
	}

	ada, bob := join("Ada"), join("Bob")
	send("", "to all")
	send(ada, "to Ada")
	wants("Ada", ada, "Tea: to all", "Tea: to Ada")
	wants("Bob", bob, "Tea: to all")
	wants("who joins later", join("Cy"), "Tea: to all")
	wants("who is in no class", "local")

	messages, _ := s.Messages(ctx, ada)
	for range 2 { // by two pages
		if err := s.DismissMessage(ctx, ada, messages[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DismissMessage(ctx, ada, 1<<40); err != nil {
		t.Errorf("dismissing what is not there: %v", err)
	}
	wants("Ada, who dismissed one,", ada, "Tea: to Ada")
	wants("Bob, who did not,", bob, "Tea: to all")

	if err := s.SendMessage(ctx, class.ID, "local", "Tea", "x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("to who is not of the class: %v, want ErrNotFound", err)
	}
	if err := s.SendMessage(ctx, "c-none", "", "Tea", "x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("to a class that is not there: %v, want ErrNotFound", err)
	}
	for range maxMessages + 3 {
		send(bob, "again")
	}
	if got := texts(bob); len(got) != maxMessages {
		t.Errorf("Bob sees %d messages, want the newest %d", len(got), maxMessages)
	}
}
