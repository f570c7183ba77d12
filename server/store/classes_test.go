package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// newClass makes a class of the capacity with an instructor of its own.
func newClass(t *testing.T, s *Store, capacity int, change ...func(*Class)) Class {
	t.Helper()
	instructor, err := s.AddPerson(t.Context(), "Grace", RoleInstructor)
	if err != nil {
		t.Fatal(err)
	}
	c := Class{Name: "Tuesday", Capacity: capacity, Instructor: instructor.ID}
	for _, fn := range change {
		fn(&c)
	}
	if c, err = s.AddClass(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

func join(t *testing.T, s *Store, c Class, name string) Joined {
	t.Helper()
	joined, err := s.Join(t.Context(), c.JoinCode, name, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return joined
}

func TestClass(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	day := time.Date(2026, 1, 3, 9, 0, 0, 0, time.UTC)
	want := newClass(t, s, 3, func(c *Class) {
		c.Tracks, c.Starts, c.Ends = []string{"zebra", "ant"}, day.Add(-48*time.Hour), day.Add(8*time.Hour)
	})
	other := newClass(t, s, 1)

	same := func(step string, got Class, err error) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v\nwant %+v", step, got, err, want)
		}
	}
	want.CreatedAt = want.CreatedAt.Truncate(time.Millisecond)
	got, err := s.Class(ctx, want.ID)
	same("made", got, err)
	got, err = s.ClassByJoinCode(ctx, ParseCode(strings.ToLower(want.JoinCode.String())))
	same("by its code", got, err)

	joined := join(t, s, want, "Ada")
	want.Members = 1
	got, err = s.ClassOf(ctx, joined.Learner.ID)
	same("of a member", got, err)

	want.Name, want.Tracks, want.Closed, want.Capacity = "Wednesday", []string{"ant"}, true, 1
	if err := s.SaveClass(ctx, want); err != nil {
		t.Fatal(err)
	}
	want.Ends = day.Add(24 * time.Hour)
	if err := s.Extend(ctx, want.ID, want.Ends); err != nil {
		t.Fatal(err)
	}
	old := want.JoinCode
	if want.JoinCode, err = s.NewJoinCode(ctx, want.ID); err != nil || want.JoinCode == old {
		t.Errorf("another join code: %s, %v", want.JoinCode, err)
	}
	got, err = s.Class(ctx, want.ID)
	same("changed", got, err)
	if _, err := s.ClassByJoinCode(ctx, old); !errors.Is(err, ErrNotFound) {
		t.Errorf("by its old code: %v", err)
	}

	all, err := s.Classes(ctx, "")
	if err != nil || len(all) != 2 || all[0].ID != other.ID || all[0].Tracks != nil {
		t.Errorf("all classes: %+v, %v", all, err)
	}
	own, err := s.Classes(ctx, want.Instructor)
	if err != nil || len(own) != 1 || own[0].ID != want.ID {
		t.Errorf("an instructor's: %+v, %v", own, err)
	}
}

func TestNoSuchClass(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	for name, ask := range map[string]func() error{
		"Class":              func() error { _, err := s.Class(ctx, "c-none"); return err },
		"ClassByJoinCode":    func() error { _, err := s.ClassByJoinCode(ctx, "ACDEFGHJ"); return err },
		"ClassByJoinCode ''": func() error { _, err := s.ClassByJoinCode(ctx, ""); return err },
		"ClassOf":            func() error { _, err := s.ClassOf(ctx, "local"); return err },
		"SaveClass":          func() error { return s.SaveClass(ctx, Class{ID: "c-none"}) },
		"Extend":             func() error { return s.Extend(ctx, "c-none", time.Time{}) },
		"NewJoinCode":        func() error { _, err := s.NewJoinCode(ctx, "c-none"); return err },
		"Join":               func() error { _, err := s.Join(ctx, "ACDEFGHJ", "Ada", time.Hour); return err },
		"Member":             func() error { _, err := s.Member(ctx, "local"); return err },
		"RaiseHand":          func() error { return s.RaiseHand(ctx, "local") },
		"Learner":            func() error { _, err := s.Learner(ctx, "nobody"); return err },
		"SetRole":            func() error { return s.SetRole(ctx, "nobody", RoleAdmin) },
		"TokenGeneration":    func() error { _, err := s.TokenGeneration(ctx, "nobody"); return err },
		"RevokeTokens":       func() error { _, err := s.RevokeTokens(ctx, "nobody"); return err },
		"SignInCodeOf":       func() error { _, err := s.SignInCodeOf(ctx, "nothing"); return err },
		"RedeemPersonal":     func() error { _, err := s.RedeemPersonalCode(ctx, "ACDEFGHJKM", time.Hour); return err },
	} {
		if err := ask(); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
}

func TestWhoMayJoin(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		class Class
		want  error
	}{
		"any day":                {Class{Capacity: 1}, nil},
		"its day":                {Class{Capacity: 1, Starts: now, Ends: now.Add(time.Second)}, nil},
		"too early":              {Class{Capacity: 1, Starts: now.Add(time.Second)}, ErrNotBegun},
		"too late":               {Class{Capacity: 1, Ends: now}, ErrOver},
		"closed":                 {Class{Capacity: 1, Closed: true}, ErrClassClosed},
		"closed and too early":   {Class{Capacity: 1, Closed: true, Starts: now.Add(time.Second)}, ErrClassClosed},
		"closed and too late":    {Class{Capacity: 1, Closed: true, Ends: now}, ErrOver},
		"no place":               {Class{}, ErrClassFull},
		"no place and too early": {Class{Starts: now.Add(time.Second)}, ErrNotBegun},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := tt.class.CanJoin(now); !errors.Is(err, tt.want) {
				t.Errorf("CanJoin: %v, want %v", err, tt.want)
			}
			s := open(t)
			s.now = func() time.Time { return now }
			c := newClass(t, s, tt.class.Capacity, func(c *Class) { c.Starts, c.Ends, c.Closed = tt.class.Starts, tt.class.Ends, tt.class.Closed })
			if _, err := s.Join(t.Context(), c.JoinCode, "Ada", time.Hour); !errors.Is(err, tt.want) {
				t.Errorf("Join: %v, want %v", err, tt.want)
			}
			want := 0
			if tt.want == nil {
				want = 1
			}
			if members, err := s.Members(t.Context(), c.ID); err != nil || len(members) != want {
				t.Errorf("members %+v, %v; want %d", members, err, want)
			}
		})
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	c := newClass(t, s, 2)
	ada, bob := join(t, s, c, "Ada"), join(t, s, c, "Bob")
	if ada.Learner.Role != RoleLearner || !strings.HasPrefix(ada.Learner.ID, "l-") || len(ada.PersonalCode) != PersonalCodeLength || ada.Class.ID != c.ID || bob.Class.Members != 2 {
		t.Errorf("joined %+v and %+v", ada, bob)
	}
	who, err := s.LearnerBySession(ctx, ada.Token)
	if err != nil || who.ID != ada.Learner.ID || who.Name != "Ada" {
		t.Errorf("the session is of %+v, %v", who, err)
	}
	members, err := s.Members(ctx, c.ID)
	if err != nil || len(members) != 2 || members[0].ID != ada.Learner.ID || members[1].Name != "Bob" || members[1].JoinedAt.IsZero() {
		t.Errorf("members %+v, %v", members, err)
	}

	// From another browser.
	token, err := s.RedeemPersonalCode(ctx, ParseCode(strings.ToLower(ada.PersonalCode.String())), time.Hour)
	if err != nil || token == ada.Token {
		t.Fatalf("the personal code: %v, %v", token == ada.Token, err)
	}
	if who, err := s.LearnerBySession(ctx, token); err != nil || who.ID != ada.Learner.ID {
		t.Errorf("the personal code brings back %+v, %v", who, err)
	}
	second, err := s.NewPersonalCode(ctx, ada.Learner.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.RedeemPersonalCode(ctx, ada.PersonalCode, time.Hour); !errors.Is(err, ErrNotFound) {
		t.Errorf("the code that was replaced: %v", err)
	}
	if _, err := s.RedeemPersonalCode(ctx, second, time.Hour); err != nil {
		t.Errorf("the code that replaced it: %v", err)
	}

	before, _ := s.TokenGeneration(ctx, ada.Learner.ID)
	if err := s.RemoveMember(ctx, ada.Learner.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.RedeemPersonalCode(ctx, second, time.Hour); !errors.Is(err, ErrNotFound) {
		t.Errorf("the code of who was removed: %v", err)
	}
	if _, err := s.LearnerBySession(ctx, token); !errors.Is(err, ErrNotFound) {
		t.Errorf("the session of who was removed: %v", err)
	}
	if after, err := s.TokenGeneration(ctx, ada.Learner.ID); err != nil || after == before {
		t.Errorf("token generation of who was removed: %d, %v", after, err)
	}
	join(t, s, c, "Eve") // in the place that is free
}

func TestRemovals(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	c, kept := newClass(t, s, 5), newClass(t, s, 5)
	ada, bob, eve := join(t, s, c, "Ada").Learner.ID, join(t, s, c, "Bob").Learner.ID, join(t, s, kept, "Eve").Learner.ID
	wantRemoved := func(want ...string) {
		t.Helper()
		removed, err := s.Removed(ctx)
		slices.Sort(removed)
		slices.Sort(want)
		if err != nil || !slices.Equal(removed, want) {
			t.Errorf("removed: %q, %v; want %q", removed, err, want)
		}
	}
	for _, id := range []string{ada, eve} {
		if err := s.SaveExercise(ctx, id, Exercise{ID: "a/b", OpenedAt: s.now()}); err != nil {
			t.Fatal(err)
		}
	}
	wantRemoved()
	if err := s.DeleteLearner(ctx, ada); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Learner(ctx, ada); err != nil {
		t.Errorf("a learner who was not removed was deleted: %v", err)
	}

	if err := s.RemoveMember(ctx, ada); err != nil {
		t.Fatal(err)
	}
	wantRemoved(ada)
	if _, err := s.Learner(ctx, ada); !errors.Is(err, ErrNotFound) {
		t.Errorf("the removed learner: %v", err)
	}
	if err := s.SendMessage(ctx, c.ID, bob, "Grace", "Hello"); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveClass(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	wantRemoved(ada, bob)
	if err := s.RemoveClass(ctx, c.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("a second time: %v", err)
	}
	for _, id := range []string{ada, bob} {
		if err := s.DeleteLearner(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	wantRemoved()
	for table, want := range map[string]int{"learners": 4, "members": 1, "personal_codes": 1, "exercises": 1, "sessions": 1, "messages": 0, "classes": 1} {
		var n int
		if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != want {
			t.Errorf("%s: %d rows, %v; want %d", table, n, err, want)
		}
	}
}

func TestJoinsAtOnceNeverPassTheCapacity(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "apilab.db")
	var stores []*Store // two servers on one database
	for range 2 {
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stores = append(stores, s)
	}
	const places, learners = 5, 24
	c := newClass(t, stores[0], places)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		full int
	)
	for i := range learners {
		wg.Go(func() {
			_, err := stores[i%2].Join(context.Background(), c.JoinCode, fmt.Sprint("learner ", i), time.Hour)
			switch {
			case errors.Is(err, ErrClassFull):
				mu.Lock()
				full++
				mu.Unlock()
			case err != nil:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	members, err := stores[0].Members(t.Context(), c.ID)
	if err != nil || len(members) != places || full != learners-places {
		t.Errorf("%d members, %d found it full, %v; want %d and %d", len(members), full, err, places, learners-places)
	}
}

func TestPersonalCodesAreNotKept(t *testing.T) {
	t.Parallel()
	s := open(t)
	joined := join(t, s, newClass(t, s, 1), "Ada")
	rows, err := s.db.Query(`SELECT code_hash FROM personal_codes`)
	if err != nil {
		t.Fatal(err)
	}
	hashes, err := collect(rows, func(h *[]byte) []any { return []any{h} })
	if err != nil || len(hashes) != 1 {
		t.Fatalf("%d hashes, %v", len(hashes), err)
	}
	if slices.Equal(hashes[0], hash(string(joined.PersonalCode))) || strings.Contains(string(hashes[0]), string(joined.PersonalCode)) {
		t.Error("a personal code can be searched back from what is kept")
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	seen := make(map[rune]bool)
	for range 200 {
		code := newCode(JoinCodeLength)
		for _, r := range string(code) {
			seen[r] = true
		}
		if shown := code.String(); len(shown) != JoinCodeLength+1 || ParseCode(shown) != code || ParseCode(" "+strings.ToLower(string(code[:3]))+" "+string(code[3:])+"\n") != code {
			t.Errorf("%s is shown as %s", string(code), shown)
		}
	}
	if len(seen) != len(codeAlphabet) {
		t.Errorf("%d characters in use, want all %d", len(seen), len(codeAlphabet))
	}
	for typed, want := range map[string]Code{"": "", "abcd–efgh": "ABCDEFGH", "A-B\u00a0C": "ABC", "ß💥": "ß💥"} {
		if got := ParseCode(typed); got != want {
			t.Errorf("%q is read as %q, want %q", typed, string(got), string(want))
		}
	}
}

func TestHands(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	ada := join(t, s, newClass(t, s, 1), "Ada").Learner.ID
	hand := func() time.Time {
		m, err := s.Member(ctx, ada)
		if err != nil {
			t.Fatal(err)
		}
		return m.HandAt
	}
	if !hand().IsZero() {
		t.Error("the hand is up from the beginning")
	}
	var since time.Time
	for range 2 {
		if err := s.RaiseHand(ctx, ada); err != nil {
			t.Fatal(err)
		}
		if since.IsZero() {
			since = hand()
		}
	}
	if got := hand(); got.IsZero() || !got.Equal(since) {
		t.Errorf("raised twice: since %v, want %v", got, since)
	}
	if err := s.LowerHand(ctx, ada); err != nil || !hand().IsZero() {
		t.Errorf("lowered: %v, %v", hand(), err)
	}
}

func TestClosedLessons(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	c, other := newClass(t, s, 1), newClass(t, s, 1)
	for _, step := range []struct {
		change func(context.Context, string, string) error
		lesson string
		want   string
	}{
		{s.CloseLesson, "t/b", "t/b"}, {s.CloseLesson, "t/a", "t/a t/b"}, {s.CloseLesson, "t/a", "t/a t/b"},
		{s.OpenLesson, "t/b", "t/a"}, {s.OpenLesson, "t/b", "t/a"},
	} {
		if err := step.change(ctx, c.ID, step.lesson); err != nil {
			t.Fatal(err)
		}
		if got, err := s.ClosedLessons(ctx, c.ID); err != nil || strings.Join(got, " ") != step.want {
			t.Errorf("closed are %q, %v; want %q", got, err, step.want)
		}
	}
	if got, err := s.ClosedLessons(ctx, other.ID); err != nil || len(got) != 0 {
		t.Errorf("of another class: %q, %v", got, err)
	}
	if err := s.CloseLesson(ctx, "c-none", "t/a"); err == nil {
		t.Error("a lesson of no class was closed")
	}
}

func TestClassProgress(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	c := newClass(t, s, 3)
	ada, bob, stranger := join(t, s, c, "Ada").Learner.ID, join(t, s, c, "Bob").Learner.ID, join(t, s, newClass(t, s, 1), "Eve").Learner.ID
	passed := time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)
	for _, save := range []struct {
		learner  string
		exercise Exercise
	}{
		{ada, Exercise{ID: "t/b", PassedAt: passed, Solution: true, Checks: []Check{{ID: "one", PassedAt: passed, Evidence: "secret"}, {ID: "two", Answer: "secret", Hints: 2}}}},
		{ada, Exercise{ID: "t/a"}},
		{stranger, Exercise{ID: "t/a"}},
		{"local", Exercise{ID: "t/a"}},
	} {
		if err := s.SaveExercise(ctx, save.learner, save.exercise); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.ClassProgress(ctx, c.ID)
	if err != nil || len(got) != 1 || len(got[ada]) != 2 {
		t.Fatalf("progress %+v, %v", got, err)
	}
	if got[bob] != nil {
		t.Errorf("progress of who opened nothing: %+v", got[bob])
	}
	if a := got[ada][0]; a.ID != "t/a" || a.OpenedAt.IsZero() || !a.PassedAt.IsZero() || a.Checks != nil {
		t.Errorf("an exercise that was opened alone: %+v", a)
	}
	want := []Check{{ID: "one", PassedAt: passed}, {ID: "two", Hints: 2}}
	if b := got[ada][1]; b.ID != "t/b" || !b.PassedAt.Equal(passed) || !b.Solution || !slices.Equal(b.Checks, want) {
		t.Errorf("an exercise that passed: %+v", b)
	}
}

func TestPeople(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	admin, made, err := s.EnsureAdmin(ctx, "Admin")
	if err != nil || !made || admin.Role != RoleAdmin {
		t.Fatalf("first admin %+v, %v, %v", admin, made, err)
	}
	again, made, err := s.EnsureAdmin(ctx, "Another")
	if err != nil || made || again.ID != admin.ID || again.Name != "Admin" {
		t.Errorf("the admin again: %+v, %v, %v", again, made, err)
	}
	grace, err := s.AddPerson(ctx, "Grace", RoleInstructor)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Learner(ctx, grace.ID); err != nil || got.Role != RoleInstructor || got.Name != "Grace" {
		t.Errorf("the instructor is %+v, %v", got, err)
	}
	staff, err := s.Staff(ctx)
	if err != nil || len(staff) != 2 || staff[0].ID != admin.ID || staff[1].ID != grace.ID {
		t.Errorf("staff %+v, %v", staff, err)
	}
	if err := s.SetRole(ctx, admin.ID, RoleLearner); !errors.Is(err, ErrLastAdmin) {
		t.Errorf("the only admin became a learner: %v", err)
	}
	if err := s.SetRole(ctx, grace.ID, RoleAdmin); err != nil {
		t.Fatal(err)
	}
	if err := s.SetRole(ctx, admin.ID, RoleLearner); err != nil {
		t.Errorf("one of two admins: %v", err)
	}
	if local, err := s.Learner(ctx, "local"); err != nil || local.Role != RoleLearner || local.Role.CanTeach() {
		t.Errorf("who is nothing else: %+v, %v", local, err)
	}
}

func TestTokenGenerations(t *testing.T) {
	t.Parallel()
	s := open(t)
	for want := range 3 {
		if got, err := s.TokenGeneration(t.Context(), "local"); err != nil || got != want {
			t.Errorf("generation %d, %v; want %d", got, err, want)
		}
		if got, err := s.RevokeTokens(t.Context(), "local"); err != nil || got != want+1 {
			t.Errorf("revoked: generation %d, %v; want %d", got, err, want+1)
		}
	}
}

func TestSessionsOfAPersonAreBounded(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	c := newClass(t, s, 2)
	ada, bob := join(t, s, c, "Ada"), join(t, s, c, "Bob")
	tokens := []string{ada.Token}
	for range maxSessions {
		token, err := s.RedeemPersonalCode(ctx, ada.PersonalCode, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	for i, token := range append(tokens, bob.Token) {
		if _, err := s.LearnerBySession(ctx, token); (err == nil) == (i == 0) {
			t.Errorf("session %d of %d: %v", i, maxSessions, err)
		}
	}
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	signIn := func(learner string) string {
		code, err := s.NewSignInCode(ctx, learner, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if who, err := s.SignInCodeOf(ctx, code); err != nil || who.ID != learner {
			t.Errorf("the code is of %+v, %v", who, err)
		}
		token, err := s.RedeemSignInCode(ctx, code, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	ada, err := s.EnsureLearner(ctx, "ada", "Ada")
	if err != nil {
		t.Fatal(err)
	}
	one, two, others := signIn("local"), signIn("local"), signIn(ada.ID)
	unused, _ := s.NewSignInCode(ctx, "local", time.Hour)
	good := func(token string) bool {
		_, err := s.LearnerBySession(ctx, token)
		return err == nil
	}
	if err := s.EndSession(ctx, one); err != nil || good(one) || !good(two) {
		t.Errorf("one browser signed out: %v, %v, %v", good(one), good(two), err)
	}
	if err := s.EndSessions(ctx, "local"); err != nil || good(two) || !good(others) {
		t.Errorf("signed out everywhere: %v, %v, %v", good(two), good(others), err)
	}
	if _, err := s.RedeemSignInCode(ctx, unused, time.Hour); !errors.Is(err, ErrNotFound) {
		t.Errorf("a link that was given before: %v", err)
	}
}
