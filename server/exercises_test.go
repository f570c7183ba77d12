package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/server/protocol"
	"github.com/apilab/apilab/server/store"
)

// openExercise opens an exercise and waits until it is judged.
func (tab *tab) openExercise(id string) {
	tab.t.Helper()
	tab.get("exercise.open", map[string]any{"exercise": id}, nil)
	tab.exercise(id, func(s checker.ExerciseState) bool { return s.Phase == checker.Open })
}

// exercise waits until the newest state of an exercise is as wanted.
func (tab *tab) exercise(id string, wanted func(checker.ExerciseState) bool) checker.ExerciseState {
	tab.t.Helper()
	var newest checker.ExerciseState
	tab.until("the wanted state of "+id, func() bool {
		newest = checker.ExerciseState{}
		for _, m := range slices.Backward(tab.messages) {
			var c protocol.ExerciseChanged
			if m.Type == "exercise" && json.Unmarshal(m.raw, &c) == nil && c.State.ID == id {
				newest = c.State
				break
			}
		}
		return newest.ID == id && wanted(newest)
	})
	return newest
}

func inState(state checker.CheckState) func(checker.ExerciseState) bool {
	return func(s checker.ExerciseState) bool { return s.Phase == checker.Open && s.Checks[0].State == state }
}

// saved waits until the store knows what is wanted of an exercise.
func (s *testServer) saved(t *testing.T, id string, wanted func(store.Exercise) bool) store.Exercise {
	t.Helper()
	h, err := s.hub(s.local)
	if err != nil {
		t.Fatal(err)
	}
	h.Flush()
	e, err := s.store.Exercise(t.Context(), localLearner, id)
	if err != nil || !wanted(e) {
		t.Fatalf("saved %+v, %v", e, err)
	}
	return e
}

func TestAnswerTurnsACheckGreenAndIsKept(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	tab, other := v.open(t), v.open(t)
	tab.openExercise("basics/say")
	answer := func(value string) {
		tab.get("exercise.answer", map[string]any{"exercise": "basics/say", "check": "said", "value": value}, nil)
	}
	answer("bye")
	if state := tab.exercise("basics/say", inState(checker.Failing)); state.Checks[0].Answered != "bye" || state.PassedAt != nil {
		t.Errorf("after a wrong answer: %+v", state)
	}
	answer("hello")
	state := tab.exercise("basics/say", inState(checker.Passing))
	if state.PassedAt == nil {
		t.Error("the exercise has not passed")
	}
	other.exercise("basics/say", inState(checker.Passing)) // every page sees it
	s.saved(t, "basics/say", func(e store.Exercise) bool {
		return !e.PassedAt.IsZero() && len(e.Checks) == 1 && e.Checks[0].Answer == "hello" && !e.Checks[0].PassedAt.IsZero()
	})
	v.get("/").wants(t, http.StatusOK, "The first lesson")

	// A page that comes later, and a server that comes later, know it.
	var hello protocol.Hello
	v.open(t).wait("hello", nil).decode(t, &hello)
	if len(hello.Exercises) != 1 || hello.Exercises[0].Checks[0].State != checker.Passing {
		t.Errorf("hello of a later page: %+v", hello.Exercises)
	}
	s.stop()
	v.server = start(t, func(o *Options) { o.DataDir = s.o.DataDir; o.Listen = s.Addr(); o.ContentDir = s.content })
	again := v.open(t)
	again.openExercise("basics/say")
	later := again.exercise("basics/say", inState(checker.Passing))
	if later.PassedAt == nil || later.Checks[0].Answered != "hello" {
		t.Errorf("after a restart: %+v", later)
	}
	if later.Checks[0].Revision <= state.Checks[0].Revision {
		t.Errorf("revision %d after %d: a page would take the newer state for the older", later.Checks[0].Revision, state.Checks[0].Revision)
	}
}

func TestChoiceHintAndSolution(t *testing.T) {
	t.Parallel()
	s := start(t)
	tab := s.learner(t).open(t)
	tab.openExercise("basics/pick")
	tab.openExercise("basics/say")
	tab.get("exercise.answer", map[string]any{"exercise": "basics/pick", "check": "picked", "value": "b"}, nil)
	if state := tab.exercise("basics/pick", func(s checker.ExerciseState) bool { return s.Checks[0].Answered == "b" }); !strings.Contains(state.Checks[0].Why, "It is not this.") {
		t.Errorf("why not: %q", state.Checks[0].Why)
	}
	tab.get("exercise.hint", map[string]any{"exercise": "basics/say", "check": "said"}, nil)
	tab.exercise("basics/say", func(s checker.ExerciseState) bool { return len(s.Checks[0].Hints) == 1 && s.Checks[0].HintsLeft == 0 })
	var solution protocol.Solution
	tab.get("exercise.solution", map[string]any{"exercise": "basics/say"}, &solution)
	if solution.Solution != "echo hello" {
		t.Errorf("solution %q", solution.Solution)
	}
	tab.exercise("basics/say", func(s checker.ExerciseState) bool { return s.Solution })
	s.saved(t, "basics/say", func(e store.Exercise) bool { return e.Solution && len(e.Checks) == 1 && e.Checks[0].Hints == 1 })

	events, err := s.store.Events(t.Context(), localLearner, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []store.EventKind{store.Opened, store.Answered, store.HintTold, store.Revealed} {
		if !slices.ContainsFunc(events, func(e store.Event) bool { return e.Kind == kind }) {
			t.Errorf("no event %q in %+v", kind, events)
		}
	}
}

func TestResetExercise(t *testing.T) {
	t.Parallel()
	s := start(t)
	tab := s.learner(t).open(t)
	tab.openExercise("basics/say")
	answer := map[string]any{"exercise": "basics/say", "check": "said", "value": "hello"}
	tab.get("exercise.answer", answer, nil)
	tab.exercise("basics/say", inState(checker.Passing))
	tab.get("exercise.reset", map[string]any{"exercise": "basics/say"}, nil)
	if state := tab.exercise("basics/say", inState(checker.Failing)); state.PassedAt != nil || state.Checks[0].Answered != "" {
		t.Errorf("after the reset: %+v", state)
	}
	s.saved(t, "basics/say", func(e store.Exercise) bool { return e.PassedAt.IsZero() && !e.OpenedAt.IsZero() })
	tab.get("exercise.answer", answer, nil)
	tab.exercise("basics/say", inState(checker.Passing))
	s.saved(t, "basics/say", func(e store.Exercise) bool { return !e.PassedAt.IsZero() })
}

// The learner's own request, through the gateway, turns a check green; and the page sees the request.
func TestRequestTurnsACheckGreen(t *testing.T) {
	t.Parallel()
	s := start(t)
	tab := s.learner(t).open(t)
	tab.openExercise("basics/ask")
	file, err := s.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	tab.exercise("basics/ask", inState(checker.Passing))
	m := tab.wait("request", nil)
	var r protocol.Requested
	m.decode(t, &r)
	if r.Record.Verb != "list" || r.Record.Resource != "namespaces" || !r.Record.Done || bytes.Contains(m.raw, []byte("NamespaceList")) {
		t.Errorf("request %s", m.raw)
	}
}

func TestResetOfTheClusterKeepsProgressAndOpensAgain(t *testing.T) {
	t.Parallel()
	s := start(t)
	tab := s.learner(t).open(t)
	tab.openExercise("basics/say")
	tab.openExercise("basics/pick")
	tab.get("exercise.answer", map[string]any{"exercise": "basics/say", "check": "said", "value": "hello"}, nil)
	before := tab.exercise("basics/say", inState(checker.Passing))

	hold := make(chan struct{})
	p := s.o.provider()
	p.mu.Lock()
	p.hold = hold
	p.mu.Unlock()
	tab.get("cluster.reset", nil, nil)
	waiting := tab.exercise("basics/pick", func(s checker.ExerciseState) bool { return s.Phase == checker.Preparing })
	if waiting.Checks[0].State != checker.Waiting {
		t.Errorf("without a cluster: %+v", waiting)
	}
	if r := tab.ask("exercise.answer", map[string]any{"exercise": "basics/pick", "check": "picked", "value": "a"}); r.OK || !strings.Contains(r.Error, "not ready") {
		t.Errorf("an answer without a cluster: %+v", r)
	}
	close(hold)
	after := tab.exercise("basics/say", func(s checker.ExerciseState) bool {
		return s.Phase == checker.Open && s.Checks[0].State == checker.Passing && s.Checks[0].Revision > before.Checks[0].Revision
	})
	if after.PassedAt == nil {
		t.Error("the progress is lost")
	}
	tab.exercise("basics/pick", inState(checker.Failing))
	tab.get("exercise.answer", map[string]any{"exercise": "basics/pick", "check": "picked", "value": "a"}, nil)
	tab.exercise("basics/pick", inState(checker.Passing))
}

func TestHealedClusterGoesOn(t *testing.T) {
	t.Parallel()
	s := start(t)
	tab := s.learner(t).open(t)
	tab.openExercise("basics/pick")
	p := s.o.provider()
	p.mu.Lock()
	c := p.current
	p.mu.Unlock()
	c.turn(healing)
	tab.wait("cluster", func(m message) bool { return bytes.Contains(m.raw, []byte(`"healing"`)) })
	tab.get("exercise.answer", map[string]any{"exercise": "basics/pick", "check": "picked", "value": "b"}, nil)
	c.turn(healthy)
	tab.get("exercise.answer", map[string]any{"exercise": "basics/pick", "check": "picked", "value": "a"}, nil)
	tab.exercise("basics/pick", inState(checker.Passing))
	if made, _ := p.count(); made != 1 {
		t.Errorf("%d clusters were made", made)
	}
}

func TestChangedContentIsLoadedAgain(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	tab := v.open(t)
	tab.openExercise("basics/say")
	kept := s.library.current().exercise("basics/pick")
	path := filepath.Join(s.content, "exercises", "basics", "say.yaml")
	changed := strings.ReplaceAll(read(t, path), "You said hello", "You said hello, politely")
	write(t, path, changed)
	write(t, filepath.Join(s.content, "content", "basics", "03-third", "index.md"),
		"---\ntitle: The third lesson\nsummary: More.\nduration: 5\ndifficulty: introductory\nobjectives: [go on]\n---\n\nMore.\n")
	tab.wait("content", func(m message) bool { return bytes.Contains(m.raw, []byte(`"reload":false`)) })
	tab.exercise("basics/say", func(s checker.ExerciseState) bool {
		return s.Phase == checker.Open && s.Checks[0].Says == "You said hello, politely"
	})
	tab.until("the third lesson", func() bool { return v.get("/lessons/basics/third").code == http.StatusOK })
	write(t, path, "title: [")
	tab.wait("notice", func(m message) bool { return bytes.Contains(m.raw, []byte("mistake in exercises/basics/say.yaml")) })
	later := v.open(t) // a page that is loaded after the mistake was made
	later.wait("notice", func(m message) bool { return bytes.Contains(m.raw, []byte("mistake in exercises/basics/say.yaml")) })
	if s.library.current().exercise("basics/pick") != kept {
		t.Error("an exercise that did not change was loaded anew")
	}
}

func TestPreviewReloadsPages(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *Options) { o.Preview = true })
	tab := s.learner(t).open(t)
	path := filepath.Join(s.content, "content", "basics", "track.yaml")
	write(t, path, read(t, path)+"# changed\n")
	tab.wait("content", func(m message) bool { return bytes.Contains(m.raw, []byte(`"reload":true`)) })
}

// Progress in what the content no longer has is kept, and not counted.
func TestProgressSurvivesContent(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	gone := store.Exercise{ID: "basics/gone", PassedAt: s.local.CreatedAt, Checks: []store.Check{{ID: "x", PassedAt: s.local.CreatedAt}}}
	renamed := store.Exercise{ID: "basics/say", Checks: []store.Check{{ID: "former", PassedAt: s.local.CreatedAt, Answer: "a"}}}
	for _, e := range []store.Exercise{gone, renamed} {
		if err := s.store.SaveExercise(t.Context(), localLearner, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.store.VisitLesson(t.Context(), localLearner, "basics/gone"); err != nil {
		t.Fatal(err)
	}
	v.get("/").wants(t, http.StatusOK, "The first lesson")
	tab := v.open(t)
	tab.openExercise("basics/say")
	tab.get("exercise.answer", map[string]any{"exercise": "basics/say", "check": "said", "value": "hello"}, nil)
	tab.exercise("basics/say", inState(checker.Passing))
	s.saved(t, "basics/gone", func(e store.Exercise) bool { return !e.PassedAt.IsZero() && len(e.Checks) == 1 })
	s.saved(t, "basics/say", func(e store.Exercise) bool { return len(e.Checks) == 2 && e.Checks[0].Answer == "a" })
}
