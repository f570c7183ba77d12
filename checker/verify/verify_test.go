package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/checker/internal/real"
	"github.com/apilab/apilab/exercises"
)

func TestMain(m *testing.M) { os.Exit(real.Main(m)) }

// realEnv gives labs on one real cluster; tests keep apart by namespaces.
type realEnv struct {
	t     *testing.T
	alone bool // nobody else uses the cluster meanwhile
}

func (e realEnv) Lab(_ context.Context, want exercises.Cluster) (*Lab, error) {
	if want.Backend == "kind" {
		return nil, fmt.Errorf("%w: kind", ErrUnsupported)
	}
	gateway := real.NewGateway(e.t)
	platform, learner := real.Shell(e.t, ""), real.Shell(e.t, gateway.Kubeconfig)
	run := func(ctx context.Context, who checker.Identity, script string) (string, error) {
		if who == checker.Platform {
			return platform(ctx, "set -e\n"+script)
		}
		return learner(ctx, script)
	}
	var typed, left atomic.Int32
	e.t.Cleanup(func() {
		if typed.Load() != left.Load() {
			e.t.Errorf("%d scripts were typed, and what %d of them started was ended", typed.Load(), left.Load())
		}
	})
	typing := func(ctx context.Context, script string) (string, func(), error) {
		typed.Add(1)
		output, err := learner(ctx, script)
		return output, func() { left.Add(1) }, err
	}
	kubeconfig, err := os.ReadFile(gateway.Kubeconfig)
	if err != nil {
		return nil, err
	}
	return &Lab{Config: real.Cluster(e.t), Records: gateway.Recorder, Run: run, Type: typing, Kubeconfig: kubeconfig, Shared: !e.alone, Close: func(context.Context) error { return nil }}, nil
}

// exercise is one that holds; tests put mistakes into it.
const exercise = `
title: T
task: T
setup: kubectl create namespace NS --dry-run=client -o yaml | kubectl apply -f -
reset: kubectl delete configmap a -n NS --ignore-not-found
checks:
  - id: made
    says: Made
    object: {resource: configmaps, namespace: NS, name: a}
    expect: object.data.k == 'v'
  - id: read
    says: Read
    request: {verb: get, resource: configmaps, namespace: NS, name: a}
    expect: request.status.code == 200
  - id: version
    says: Version
    answer: {prompt: P, with: {maps: {resource: configmaps, namespace: NS}}}
    expect: maps.exists(m, m.metadata.resourceVersion == answer)
  - id: picked
    says: Picked
    choice: {prompt: P, options: [{id: r, text: R, right: true, why: W}, {id: w, text: W, why: W}]}
answers:
  version: $(kubectl get configmap a -n NS -o jsonpath='{.metadata.resourceVersion}')
solution: |
  kubectl create configmap a -n NS --from-literal=k=v
  kubectl get configmap a -n NS
wrong:
  - name: another value
    run: kubectl create configmap a -n NS --from-literal=k=w
    answers: {version: '1', picked: w}
    stays: [made, read, version, picked]
`

// proveText runs one exercise, with replacements made in its text, and returns the report.
func proveText(t *testing.T, replace ...string) (Summary, string) {
	t.Helper()
	return proveIn(t, realEnv{t: t}, replace...)
}

func proveIn(t *testing.T, env Env, replace ...string) (Summary, string) {
	t.Helper()
	namespace := fmt.Sprintf("v-%x", time.Now().UnixNano())
	text := strings.NewReplacer(replace...).Replace(exercise)
	e, problems := exercises.Parse("track/test", []byte(strings.ReplaceAll(text, "NS", namespace)))
	if e == nil {
		t.Fatal(problems)
	}
	var out bytes.Buffer
	summary, err := Run(t.Context(), env, Plan{Exercises: []*exercises.Exercise{e}, Within: 3 * time.Second, Programs: programs(t, namespace)}, &out)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = real.Shell(t, "")(context.Background(), "kubectl delete namespace --wait=false "+namespace)
	return summary, strings.ReplaceAll(out.String(), namespace, "NS")
}

func TestExercises(t *testing.T) {
	t.Parallel()
	real.Cluster(t)
	for _, tt := range []struct {
		name    string
		replace []string
		want    []string // in the report; empty: it passes
	}{
		{"that hold", nil, nil},
		{"that are green before anything was done", []string{"object.data.k == 'v'", "object == null"}, []string{
			"track/test: check made is passing before anything was done", "expect  object == null", "by      there is no ConfigMap a in NS",
		}},
		{"that a wrong answer passes", []string{"object.data.k == 'v'", "object.data.k != ''"}, []string{
			`track/test: check made is passing after the wrong answer "another value"`, "by      ConfigMap a in NS at resourceVersion",
		}},
		{"that the solution does not pass", []string{"=k=v", "=k=x"}, []string{
			`track/test: check made is failing after the solution: data.k is "x"; expected "v"`, `saw     object.data.k = "x"`, "the script printed", "configmap/a created",
		}},
		{"that stay green after a reset", []string{"reset: kubectl delete configmap a", "reset: kubectl get ns a", "run: kubectl create configmap a -n NS --from-literal=k=w", "run: 'true'"}, []string{
			"track/test: check made is passing after the solution was reset",
		}},
		{"that are broken", []string{"object.data.k == 'v'", "object.data.k > 1"}, []string{
			"track/test: check made is broken after", "cannot be evaluated: no such overload",
		}},
		{"whose setup fails", []string{"setup: kubectl", "setup: false; kubectl"}, []string{"the exercise could not be set up: the setup failed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			summary, report := proveText(t, tt.replace...)
			for _, want := range tt.want {
				if !strings.Contains(report, want) {
					t.Errorf("the report lacks %q", want)
				}
			}
			last := "1 passed, 0 failed\n"
			if len(tt.want) > 0 {
				last = "0 passed, 1 failed\n"
			}
			if !strings.HasSuffix(report, "\n"+last) || summary.Failed != min(1, len(tt.want)) {
				t.Errorf("%+v", summary)
			}
			if t.Failed() {
				t.Log(report)
			}
		})
	}
}

// Not beside other tests: what they do to the cluster would be taken for the exercise's.
func TestWhatAResetLeaves(t *testing.T) {
	env := realEnv{t: t, alone: true}
	const solution = "  kubectl create configmap a -n NS --from-literal=k=v\n"
	for _, tt := range []struct{ name, more, want string }{
		{"nothing", "  kubectl run gone -n NS --image=registry.k8s.io/pause:3.10; kubectl delete pod gone -n NS --now\n", ""},
		{"an object", "  kubectl create configmap b -n NS\n", "track/test: after the solution was reset, and unlike when the exercise was opened, configmaps NS/b is there\n"},
		{"a label", "  kubectl label namespace NS a=b\n", "namespaces NS is not what it was (metadata.labels.a)\n"},
	} {
		if summary, report := proveIn(t, env, solution, solution+tt.more); !strings.Contains(report, tt.want) || summary.Failed != min(1, len(tt.want)) {
			t.Errorf("%s: %+v; want %q in\n%s", tt.name, summary, tt.want, report)
		}
	}
}

// programs makes a folder with controllers of a learner: one that makes the ConfigMap a when it is gone, and others.
func programs(t *testing.T, namespace string) string {
	t.Helper()
	dir := t.TempDir()
	kubectl := "kubectl"
	if program := os.Getenv("APILAB_BIN"); program != "" {
		kubectl = filepath.Join(dir, "kubectl")
		if err := os.Symlink(program, kubectl); err != nil {
			t.Fatal(err)
		}
	}
	for name, script := range map[string]string{
		"maker":    "while :; do " + kubectl + " create configmap a -n " + namespace + " --from-literal=k=$1; sleep 0.2; done",
		"crasher":  "echo out of ideas; exit 3",
		"stubborn": "trap '' TERM; " + kubectl + " create configmap a -n " + namespace + " --from-literal=k=v; while :; do sleep 1; done",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	real.Cluster(t)
	// The solution reads what the program makes.
	const made, wrong = "  kubectl create configmap a -n NS --from-literal=k=v\n", "run: kubectl create configmap a -n NS --from-literal=k=w"
	const waits = "  until kubectl get configmap a -n NS; do sleep 0.1; done\n"
	for _, tt := range []struct {
		name    string
		replace []string
		want    string // in the report; empty: it passes
	}{
		{"make it green", []string{"solution: |", "program: maker v\nsolution: |", made, waits, wrong, "program: maker w"}, ""},
		{"are ended by force", []string{"solution: |", "program: stubborn\nsolution: |", made, waits}, ""},
		{"are wrong and pass", []string{wrong, "program: maker v\n    run: kubectl wait --for=create configmap/a -n NS"}, "check made is passing after the wrong answer"},
		{"that end", []string{made, "", "solution: |", "program: crasher\nsolution: |"}, "  of the program: it ended: exit status 3\n        the program printed\n          out of ideas"},
		{"that are not there", []string{"solution: |", "program: nobody\nsolution: |"}, "solution: start nobody: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			summary, report := proveText(t, tt.replace...)
			if !strings.Contains(report, tt.want) || (summary.Passed == 1) != (tt.want == "") {
				t.Errorf("%+v; want %q in\n%s", summary, tt.want, report)
			}
		})
	}
	e, problems := exercises.Parse("track/test", []byte(strings.NewReplacer("NS", "ns", "solution: |", "program: maker v\nsolution: |").Replace(exercise)))
	if e == nil {
		t.Fatal(problems)
	}
	var out bytes.Buffer
	if summary, err := Run(t.Context(), brokenEnv{}, Plan{Exercises: []*exercises.Exercise{e}}, &out); err != nil || summary.Skipped != 1 {
		t.Errorf("without a folder: %+v, %v\n%s", summary, err, out.String())
	}
}

func TestLessons(t *testing.T) {
	t.Parallel()
	namespace := fmt.Sprintf("v-%x", time.Now().UnixNano())
	real.Cluster(t)
	lesson := Lesson{ID: "track/lesson", File: "content/track/lesson/index.md", Setup: "kubectl create namespace " + namespace, Transcripts: []Transcript{
		{Line: 10, Steps: []Step{
			{11, "N=" + namespace, ""},
			{12, "kubectl create configmap a -n $N", "configmap/a created"},
			{14, "kubectl get configmaps -n $N", "NAME DATA AGE\na  0  <age>\n…"},
			{18, "false; echo still \\\n  here", "still here"},
		}},
		{Line: 30, Steps: []Step{{31, "echo one", "two"}, {33, "exit 3", ""}, {34, "echo gone", "gone"}}},
	}}
	var out bytes.Buffer
	skipped, _ := exercises.Parse("track/kind", []byte(strings.NewReplacer("NS", "ns", "title: T", "title: T\ncluster: {backend: kind}").Replace(exercise)))
	summary, err := Run(t.Context(), realEnv{t: t}, Plan{Exercises: []*exercises.Exercise{skipped}, Lessons: []Lesson{lesson}, Parallel: 2}, &out)
	_, _ = real.Shell(t, "")(context.Background(), "kubectl delete namespace --wait=false "+namespace)
	if err != nil || summary != (Summary{Failed: 1, Skipped: 1}) {
		t.Errorf("%+v, %v", summary, err)
	}
	report := out.String()
	for _, want := range []string{
		"skip  track/kind: no such cluster can be made here: kind\n",
		"content/track/lesson/index.md:31: $ echo one\n        line 1 is\n          one\n",
		"content/track/lesson/index.md:33: $ exit 3\n        did not come to its end\n",
		"\n0 passed, 1 failed\n",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if strings.Contains(report, "index.md:1") || strings.Contains(report, "index.md:34") {
		t.Error("the report has more than it should")
	}
	if t.Failed() {
		t.Log(report)
	}
}

// The simulated controllers of an exercise run while it is proved, and beside the transcripts of its lesson.
func TestControllers(t *testing.T) {
	t.Parallel()
	real.Cluster(t)
	const controllers = `
controllers:
  - name: labeller
    says: S
    for: configmaps
    namespace: NS
    stages: [{name: seen, when: object.metadata.name == 'a', delay: 500ms, patch: {metadata: {labels: {seen: "yes"}}}}]
checks:
  - id: seen
    says: Seen
    object: {resource: configmaps, namespace: NS, name: a}
    expect: object.metadata.labels.seen == 'yes'`
	// The answer is a version: the one after the controller's write.
	const made, seen = "  kubectl create configmap a -n NS --from-literal=k=v\n", "  kubectl wait --for=jsonpath={.metadata.labels.seen}=yes configmap/a -n NS\n"
	text := strings.NewReplacer("\nchecks:", controllers, made, made+seen).Replace(exercise)
	summary, report := proveText(t, exercise, text)
	if summary.Passed != 1 {
		t.Error(report)
	}

	namespace := fmt.Sprintf("v-%x", time.Now().UnixNano())
	e, problems := exercises.Parse("track/test", []byte(strings.ReplaceAll(text, "NS", namespace)))
	if e == nil {
		t.Fatal(problems)
	}
	lesson := Lesson{ID: "track/lesson", Setup: "kubectl create namespace " + namespace, Controllers: e.Controllers, Transcripts: []Transcript{{Line: 1, Steps: []Step{
		{1, "kubectl create configmap a -n " + namespace, "configmap/a created"},
		{2, "kubectl wait --for=jsonpath={.metadata.labels.seen}=yes configmap/a -n " + namespace + " --timeout=10s", "configmap/a condition met"},
	}}}}
	var out bytes.Buffer
	_, err := Run(t.Context(), realEnv{t: t}, Plan{Lessons: []Lesson{lesson}}, &out)
	_, _ = real.Shell(t, "")(context.Background(), "kubectl delete namespace --wait=false "+namespace)
	if err != nil || !strings.HasPrefix(out.String(), "ok") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// What fails at the first attempt only passes, and the report tells both.
func TestAgain(t *testing.T) {
	t.Parallel()
	attempts := 0
	env := envFunc(func() (*Lab, error) {
		attempts++
		if attempts == 1 {
			return nil, errors.New("no time")
		}
		return realEnv{t: t}.Lab(t.Context(), exercises.Cluster{})
	})
	real.Cluster(t)
	lesson := Lesson{ID: "track/lesson", Transcripts: []Transcript{{Line: 1, Steps: []Step{{1, "echo one", "one"}}}}}
	wrong := Lesson{ID: "track/wrong", Transcripts: []Transcript{{Line: 1, Steps: []Step{{1, "echo one", "two"}}}}}
	var out bytes.Buffer
	summary, err := Run(t.Context(), env, Plan{Lessons: []Lesson{lesson, wrong}, Again: true}, &out)
	if err != nil || summary != (Summary{Passed: 1, Failed: 1, Again: 1}) {
		t.Errorf("%+v, %v", summary, err)
	}
	for _, want := range []string{"FAIL  transcripts of track/lesson", "no time", "again, one at a time:\nok    transcripts of track/lesson", "\n1 passed (1 at the second attempt), 1 failed\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
}

type envFunc func() (*Lab, error)

func (f envFunc) Lab(context.Context, exercises.Cluster) (*Lab, error) { return f() }

func TestRunThatIsCutShort(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	e, _ := exercises.Parse("track/test", []byte(strings.ReplaceAll(exercise, "NS", "ns")))
	if _, err := Run(ctx, brokenEnv{}, Plan{Exercises: []*exercises.Exercise{e, e, e}}, &bytes.Buffer{}); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	var out bytes.Buffer
	if _, err := Run(t.Context(), brokenEnv{}, Plan{Exercises: []*exercises.Exercise{e}}, &out); err != nil || !strings.Contains(out.String(), "no room") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

type brokenEnv struct{}

func (brokenEnv) Lab(context.Context, exercises.Cluster) (*Lab, error) {
	return nil, errors.New("no room")
}
