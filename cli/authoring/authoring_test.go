package authoring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apilab/apilab/content"
	"github.com/apilab/apilab/exercises"
)

// What is laid out has no mistake, and comes after what is there.
func TestNewLessonsAndExercises(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := Folder(dir)
	want := func(got []string, err error, paths ...string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for i, path := range paths {
			if i >= len(got) || got[i] != filepath.Join(dir, filepath.FromSlash(path)) {
				t.Errorf("wrote %v; want %v", got, paths)
			}
		}
	}
	written, err := f.NewLesson("onboarding/first-steps")
	want(written, err, "content/onboarding/track.yaml", "content/onboarding/01-first-steps/index.md")
	written, err = f.NewLesson("onboarding/second-steps")
	want(written, err, "content/onboarding/02-second-steps/index.md")
	written, err = f.NewLesson("rules/naming")
	want(written, err, "content/rules/track.yaml", "content/rules/01-naming/index.md")
	written, err = f.NewExercise("onboarding/say-hello", "")
	want(written, err, "exercises/onboarding/say-hello.yaml", "content/onboarding/02-second-steps/index.md")
	written, err = f.NewExercise("onboarding/say-more", "onboarding/first-steps")
	want(written, err, "exercises/onboarding/say-more.yaml", "content/onboarding/01-first-steps/index.md")

	curriculum, problems := content.Load(os.DirFS(filepath.Join(dir, "content")))
	set, mistakes := exercises.Load(os.DirFS(filepath.Join(dir, "exercises")))
	problems = append(problems, curriculum.Lint([]string{"onboarding/say-hello", "onboarding/say-more"})...)
	if len(problems)+len(mistakes) > 0 {
		t.Errorf("%v %v", problems, mistakes)
	}
	if len(curriculum.Tracks) != 2 || curriculum.Tracks[1].ID != "rules" || curriculum.Tracks[0].Title != "Onboarding" {
		t.Errorf("the tracks: %+v", curriculum.Tracks)
	}
	if lesson := curriculum.Lesson("onboarding/first-steps"); lesson == nil || len(lesson.ExerciseIDs) != 1 || lesson.ExerciseIDs[0] != "onboarding/say-more" {
		t.Errorf("the lesson: %+v", lesson)
	}
	if len(set.All()) != 2 {
		t.Errorf("%d exercises", len(set.All()))
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	f := Folder(t.TempDir())
	if _, err := f.NewLesson("team/hello"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.NewExercise("team/greet", ""); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(string(f), "content", "team", "01-hello", "index.md")
	before, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	lesson := func(id string) error { _, err := f.NewLesson(id); return err }
	exercise := func(id, lesson string) error { _, err := f.NewExercise(id, lesson); return err }
	for _, tt := range []struct {
		err  error
		want string
	}{
		{lesson("hello"), `"hello" is no id: write track/name`},
		{lesson("Team/hello"), "lower-case letters"},
		{lesson("../../etc/hello"), "is no id"},
		{lesson("team/hello"), "there is a lesson team/hello already"},
		{exercise("team/greet", ""), "is there already"},
		{exercise("team/more", "team/helo"), "there is no lesson team/helo"},
		{exercise("other/more", ""), "the track other has no lesson"},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("got %v; want %q", tt.err, tt.want)
		}
	}
	if after, err := os.ReadFile(index); err != nil || string(after) != string(before) {
		t.Errorf("a refusal changed the lesson: %v\n%s", err, after)
	}
}
