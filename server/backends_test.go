package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
