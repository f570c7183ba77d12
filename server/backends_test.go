package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/protocol"
)

// realContent adds a lesson that needs real nodes, and one of whose two exercises one does.
func realContent(t *testing.T) func(*Options) {
	return func(o *Options) {
		const exercise = "title: %s\ncluster: {%s}\ntask: Say it.\nchecks:\n  - id: said\n    says: You said it\n    answer: {prompt: \"Which?\"}\n    expect: answer == 'it'\n" +
			"solution: echo it\nanswers: {said: it}\nwrong:\n  - {name: no, answers: {said: no}, stays: [said]}\n"
		const lesson = "---\ntitle: %s\nsummary: S.\nduration: 5\ndifficulty: advanced\nobjectives: [run]\n%s---\n\nText.\n\n%s"
		for name, text := range map[string]string{
			"content/more/02-real/index.md":  fmt.Sprintf(lesson, "All of it real", "cluster: {backend: kind}\n", ":::exercise more/run\n"),
			"content/more/03-mixed/index.md": fmt.Sprintf(lesson, "Some of it real", "", ":::exercise more/exec\n\n:::exercise more/any\n\n:::exercise more/pretend\n"),
			"exercises/more/run.yaml":        fmt.Sprintf(exercise, "Run it", "backend: kind"),
			"exercises/more/exec.yaml":       fmt.Sprintf(exercise, "Exec into it", "nodes: real"),
			"exercises/more/any.yaml":        fmt.Sprintf(exercise, "Anywhere", "backend: any"),
			"exercises/more/pretend.yaml":    fmt.Sprintf(exercise, "Pretend", "backend: embedded"),
		} {
			write(t, filepath.Join(o.ContentDir, filepath.FromSlash(name)), text)
		}
	}
}

func TestRealNodesAreMarked(t *testing.T) {
	t.Parallel()
	const badge = ">real nodes</span>"
	server := start(t, realContent(t))
	if mistake := server.library.mistake(); mistake != "" {
		t.Fatal(mistake)
	}
	v := server.learner(t)
	for path, want := range map[string]int{
		"/tracks/basics":        0,
		"/tracks/more":          3, // both lessons, and the one exercise that is not like its lesson
		"/lessons/basics/first": 0,
		"/lessons/more/last":    2, // the two siblings, in the contents
		"/lessons/more/real":    4, // with its facts, and its card
		"/lessons/more/mixed":   5, // with its facts, its outline, and one card
	} {
		if got := strings.Count(v.get(path).body, badge); got != want {
			t.Errorf("%s: %d marks, want %d", path, got, want)
		}
	}
	v.get("/lessons/more/real").wants(t, http.StatusOK, `exercise="more/run" backend="kind"`, "Needs real nodes")
	v.get("/lessons/more/mixed").wants(t, http.StatusOK, `exercise="more/pretend" backend="embedded"`, "Needs the embedded cluster")

	var entries []searchEntry
	if err := json.Unmarshal([]byte(v.get("/search.json").body), &entries); err != nil {
		t.Fatal(err)
	}
	var real []string
	for _, e := range entries {
		if e.Real {
			real = append(real, e.Title)
		}
	}
	if want := []string{"All of it real", "Run it", "Some of it real", "Exec into it"}; !slices.Equal(real, want) {
		t.Errorf("the index marks %q, want %q", real, want)
	}
}

func TestSwitchBetweenBackends(t *testing.T) {
	t.Parallel()
	s := start(t, realContent(t), func(o *Options) {
		o.Backends[0].Name = "embedded"
		o.Backends = append(o.Backends, cluster.Backend{Name: "kind", Provider: &provider{t: t}})
	})
	v := s.learner(t)
	tab := v.open(t)
	var hello protocol.Hello
	tab.wait("hello", nil).decode(t, &hello)
	if !slices.Equal(hello.Backends, []string{"embedded", "kind"}) || hello.Cluster.Backend != "embedded" {
		t.Errorf("hello offers %v and has a cluster of %q", hello.Backends, hello.Cluster.Backend)
	}
	on := func(backend string) { // by the newest status
		t.Helper()
		tab.until("a ready cluster of "+backend, func() bool {
			for _, m := range slices.Backward(tab.messages) {
				var c protocol.Cluster
				if m.Type == "cluster" && json.Unmarshal(m.raw, &c) == nil {
					return c.Status.State == cluster.Ready && c.Status.Backend == backend
				}
			}
			return false
		})
	}
	if a := tab.ask("cluster.switch", map[string]any{"backend": "docker"}); a.OK || !strings.Contains(a.Error, "embedded, kind") {
		t.Errorf("a backend that there is not: %+v", a)
	}
	tab.openExercise("basics/say")
	tab.get("exercise.answer", map[string]any{"exercise": "basics/say", "check": "said", "value": "hello"}, nil)
	tab.exercise("basics/say", inState(checker.Passing))
	tab.openExercise("more/pretend")
	if a := tab.ask("exercise.open", map[string]any{"exercise": "more/run"}); a.OK || !strings.Contains(a.Error, "kind") {
		t.Errorf("it opened on the embedded cluster: %+v", a)
	}

	tab.get("cluster.switch", map[string]any{"backend": "kind"}, nil)
	on("kind")
	tab.exercise("basics/say", inState(checker.Passing)) // once is for ever
	tab.exercise("more/pretend", func(e checker.ExerciseState) bool { return e.Phase == checker.Closed })
	tab.openExercise("more/run")
	v.get("/lessons/more/real").wants(t, http.StatusOK, `<apilab-wants class="wants" backend="kind" hidden>`)
	v.get("/lessons/more/mixed").wants(t, http.StatusOK, `<apilab-wants class="wants" backend="embedded">`)

	tab.get("cluster.switch", map[string]any{"backend": "embedded"}, nil)
	on("embedded")
	tab.exercise("more/pretend", inState(checker.Failing))
	tab.exercise("more/run", func(e checker.ExerciseState) bool { return e.Phase == checker.Closed })
}
