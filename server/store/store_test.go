package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// open returns a store in a new file with the learner "local", and a clock that moves one second at each look.
func open(t *testing.T) *Store {
	t.Helper()
	// A folder name with what URLs treat as special: data folders have such names.
	dir := filepath.Join(t.TempDir(), "a b%20?c#d")
	if runtime.GOOS == "windows" {
		dir = filepath.Join(t.TempDir(), "a b%20#d")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "apilab.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Fatalf("the database file: %v, %v; want mode 0600", info, err)
	}
	var mu sync.Mutex
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
	if _, err := s.EnsureLearner(t.Context(), "local", "You"); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOpenSetsUpEveryConnection(t *testing.T) {
	t.Parallel()
	s := open(t)
	for pragma, want := range map[string]string{"journal_mode": "wal", "foreign_keys": "1", "busy_timeout": "10000", "synchronous": "1"} {
		var got string
		if err := s.db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %q, %v; want %q", pragma, got, err, want)
		}
	}
}

func TestOpenAgainKeepsEverything(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "apilab.db")
	var instance string
	for range 2 {
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		id, err := s.Instance(t.Context())
		if err != nil || id == "" {
			t.Fatalf("instance %q, %v", id, err)
		}
		if instance != "" && id != instance {
			t.Errorf("the instance's name changed from %s to %s", instance, id)
		}
		instance = id
		s.Close()
	}
}

func TestNewerSchemaIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "apilab.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`); err != nil {
		t.Fatal(err)
	}
	s.Close()

	_, err = Open(t.Context(), path)
	var newer *NewerError
	if !errors.As(err, &newer) || newer.Database != 999 {
		t.Fatalf("Open: %v; want a NewerError of schema 999", err)
	}
	if want := "update apilab"; !strings.Contains(err.Error(), want) {
		t.Errorf("the error %q does not say %q", err, want)
	}
}

func TestDownRemovesWhatUpMade(t *testing.T) {
	t.Parallel()
	s := open(t)
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range slices.Backward(files) {
		text, err := migrations.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, down, _ := strings.Cut(string(text), "-- +goose Down")
		if _, err := s.db.Exec(down); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	var left int
	s.db.QueryRow(`SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'goose_%'`).Scan(&left)
	if left != 0 {
		t.Errorf("%d tables are left", left)
	}
}

func TestDamagedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "apilab.db")
	garbage := []byte(strings.Repeat("this is no database ", 1000))
	if err := os.WriteFile(path, garbage, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path)
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "move it away") {
		t.Fatalf("Open: %v; want an error that names the file and says what to do", err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(garbage) {
		t.Error("the damaged file was changed")
	}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	code, err := s.NewSignInCode(ctx, "local", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.RedeemSignInCode(ctx, code, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	learner, err := s.LearnerBySession(ctx, token)
	if err != nil || learner.ID != "local" || learner.Name != "You" || learner.CreatedAt.IsZero() {
		t.Errorf("learner %+v, %v", learner, err)
	}
	if _, err := s.RedeemSignInCode(ctx, code, time.Hour); !errors.Is(err, ErrNotFound) {
		t.Errorf("the code works twice: %v", err)
	}
	if _, err := s.LearnerBySession(ctx, token+"x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a wrong token: %v", err)
	}
	if _, err := s.LearnerBySession(ctx, ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("no token: %v", err)
	}
}

func TestSecretsAreNotKept(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	code, _ := s.NewSignInCode(ctx, "local", time.Minute)
	other, _ := s.NewSignInCode(ctx, "local", time.Minute)
	token, err := s.RedeemSignInCode(ctx, code, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var path string
	s.db.QueryRow(`SELECT file FROM pragma_database_list`).Scan(&path)
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{code, other, token} {
			if strings.Contains(string(content), secret) {
				t.Errorf("a secret stands in apilab.db%s", suffix)
			}
		}
	}
}

func TestCodesAndSessionsExpire(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.now = func() time.Time { return now }

	late, _ := s.NewSignInCode(ctx, "local", 10*time.Minute)
	now = now.Add(10 * time.Minute)
	if _, err := s.RedeemSignInCode(ctx, late, time.Hour); !errors.Is(err, ErrNotFound) {
		t.Errorf("a code works after its time: %v", err)
	}
	code, _ := s.NewSignInCode(ctx, "local", 10*time.Minute)
	token, err := s.RedeemSignInCode(ctx, code, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(59 * time.Minute)
	if err := s.ProlongSession(ctx, token, time.Hour); err != nil {
		t.Fatal(err)
	}
	now = now.Add(59 * time.Minute)
	if _, err := s.LearnerBySession(ctx, token); err != nil {
		t.Errorf("a prolonged session: %v", err)
	}
	now = now.Add(time.Minute)
	if _, err := s.LearnerBySession(ctx, token); !errors.Is(err, ErrNotFound) {
		t.Errorf("a session works after its time: %v", err)
	}
}

func TestACodeIsRedeemedOnceByManyAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	code, err := s.NewSignInCode(t.Context(), "local", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		wins int
	)
	for range 16 {
		wg.Go(func() {
			_, err := s.RedeemSignInCode(t.Context(), code, time.Hour)
			if err == nil {
				mu.Lock()
				wins++
				mu.Unlock()
			} else if !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if wins != 1 {
		t.Errorf("%d of 16 redeemed the code", wins)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	if e, err := s.Exercise(ctx, "local", "t/a"); err != nil || e.ID != "t/a" || !e.OpenedAt.IsZero() || e.Checks != nil {
		t.Fatalf("never opened: %+v, %v", e, err)
	}

	passed := time.Date(2026, 1, 2, 4, 0, 0, 123e6, time.UTC)
	steps := []Exercise{
		{ID: "t/a"},
		{ID: "t/a", Checks: []Check{{ID: "one", Answer: "12", Hints: 1}}},
		{ID: "t/a", PassedAt: passed, Solution: true, Cluster: "uid", Checks: []Check{
			{ID: "one", Answer: "12", Hints: 1, PassedAt: passed, Evidence: `{"text":"right"}`}, {ID: "two", PassedAt: passed}}},
		{ID: "t/a", PassedAt: passed, Solution: true, Cluster: "uid", Checks: []Check{{ID: "two", PassedAt: passed}}}, // "one" is gone from the content
	}
	for _, step := range steps {
		if err := s.SaveExercise(ctx, "local", step); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Exercise(ctx, "local", "t/a")
	if err != nil {
		t.Fatal(err)
	}
	want := steps[2]
	want.OpenedAt = got.OpenedAt
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || got.OpenedAt.IsZero() {
		t.Errorf("read back\n%+v, want\n%+v", got, want)
	}
	progress, err := s.Progress(ctx, "local")
	if err != nil || len(progress) != 1 || !progress["t/a"].PassedAt.Equal(passed) {
		t.Errorf("progress %+v, %v", progress, err)
	}

	if err := s.ResetExercise(ctx, "local", "t/a"); err != nil {
		t.Fatal(err)
	}
	after, _ := s.Exercise(ctx, "local", "t/a")
	if want := []Check{{ID: "one", Hints: 1}, {ID: "two"}}; !after.PassedAt.IsZero() || !after.Solution || !slices.Equal(after.Checks, want) {
		t.Errorf("after the reset: %+v", after)
	}
	events, err := s.Events(ctx, "local", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range events {
		told = append(told, strings.TrimSuffix(string(e.Kind)+" "+e.Exercise+" "+e.Check, " "))
	}
	wantTold := "opened t/a; answered t/a one; hint-told t/a one; check-passed t/a one; check-passed t/a two; revealed t/a; passed t/a; reset t/a"
	if got := strings.Join(told, "; "); got != wantTold {
		t.Errorf("events\n%s, want\n%s", got, wantTold)
	}
	if rest, _ := s.Events(ctx, "local", events[5].ID, 1); len(rest) != 1 || rest[0].Kind != Passed {
		t.Errorf("one event after the sixth: %+v", rest)
	}
}

func TestUnknownLearnerHasNoProgress(t *testing.T) {
	t.Parallel()
	s := open(t)
	if err := s.SaveExercise(t.Context(), "nobody", Exercise{ID: "t/a"}); err == nil {
		t.Error("progress of a learner who does not exist was saved")
	}
	if events, err := s.Events(t.Context(), "nobody", 0, 10); err != nil || len(events) != 0 {
		t.Errorf("events %v, %v", events, err)
	}
}

func TestVisited(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, lesson := range []string{"t/one", "t/two", "t/one"} {
		if err := s.VisitLesson(t.Context(), "local", lesson); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Visited(t.Context(), "local")
	if err != nil || strings.Join(got, " ") != "t/one t/two" {
		t.Errorf("visited %v, %v", got, err)
	}
}

// Two processes of the server share a file for a moment at an update, and apilab's commands read it beside the server.
func TestTwoStoresOnOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "apilab.db")
	const each = 50
	var stores []*Store
	for range 2 {
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stores = append(stores, s)
	}
	if _, err := stores[0].EnsureLearner(t.Context(), "local", "You"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i, s := range stores {
		for j := range each {
			wg.Go(func() {
				if err := s.SaveExercise(context.Background(), "local", Exercise{ID: fmt.Sprintf("t/%d-%d", i, j)}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	progress, err := stores[0].Progress(t.Context(), "local")
	if err != nil || len(progress) != 2*each {
		t.Errorf("%d exercises, %v; want %d", len(progress), err, 2*each)
	}
}

func TestFullDiskIsToldAndLosesNothingSaved(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.db.SetMaxOpenConns(1) // the limit below is one connection's
	if err := s.SaveExercise(t.Context(), "local", Exercise{ID: "t/kept"}); err != nil {
		t.Fatal(err)
	}
	var pages int
	if err := s.db.QueryRow(`PRAGMA page_count`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages)); err != nil {
		t.Fatal(err)
	}
	big := Exercise{ID: "t/big", Checks: []Check{{ID: "c", Answer: strings.Repeat("x", 1<<16)}}}
	err := s.SaveExercise(t.Context(), "local", big)
	if err == nil || !strings.Contains(err.Error(), "full") {
		t.Fatalf("SaveExercise on a full disk: %v", err)
	}
	progress, err := s.Progress(t.Context(), "local")
	if _, kept := progress["t/kept"]; err != nil || !kept || len(progress) != 1 {
		t.Errorf("progress %v, %v", progress, err)
	}
	if _, err := s.db.Exec(`PRAGMA max_page_count = 100000`); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveExercise(t.Context(), "local", big); err != nil {
		t.Errorf("after space was made: %v", err)
	}
}

func TestBackend(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, name := range []string{"", "kind", "embedded"} {
		if name != "" {
			if err := s.SetBackend(t.Context(), "local", name); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Backend(t.Context(), "local"); err != nil || got != name {
			t.Errorf("got %q, %v; want %q", got, err, name)
		}
	}
	if name, err := s.Backend(t.Context(), "nobody"); err != nil || name != "" {
		t.Errorf("of nobody: %q, %v", name, err)
	}
	if err := s.SetBackend(t.Context(), "nobody", "kind"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a choice of nobody: %v", err)
	}
}

func TestGivenClusters(t *testing.T) {
	t.Parallel()
	s := open(t)
	if _, err := s.EnsureLearner(t.Context(), "ada", "Ada"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		learner, backend, id string
		refused              bool
		given                []string // of the backend, afterwards
	}{
		{"local", "embedded", "warm-1", false, []string{"warm-1"}},
		{"local", "kind", "warm-1", false, []string{"warm-1"}},
		{"ada", "embedded", "warm-1", true, []string{"warm-1"}},
		{"ada", "embedded", "warm-2", false, []string{"warm-1", "warm-2"}},
		{"local", "embedded", "warm-3", false, []string{"warm-2", "warm-3"}},
		{"local", "embedded", "", false, []string{"warm-2"}},
		{"local", "embedded", "", false, []string{"warm-2"}},
		{"nobody", "embedded", "warm-4", true, []string{"warm-2"}},
	} {
		if err := s.SetCluster(t.Context(), step.learner, step.backend, step.id); (err != nil) != step.refused {
			t.Errorf("%+v: %v", step, err)
		}
		given, err := s.Clusters(t.Context(), step.backend)
		slices.Sort(given)
		if err != nil || !slices.Equal(given, step.given) {
			t.Errorf("%+v: given are %q, %v", step, given, err)
		}
		id, err := s.Cluster(t.Context(), step.learner, step.backend)
		if err != nil || !step.refused && id != step.id {
			t.Errorf("%+v: it is %q, %v", step, id, err)
		}
	}
}
