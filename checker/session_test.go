package checker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/checker/internal/real"
)

const oneCheck = `
  - id: a
    says: A
    object: {resource: configmaps, namespace: NS, name: a}
    expect: object.data.k == 'v'
`

func TestResourceThatComesLater(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	group := l.namespace + ".example.com"
	id := l.open(`
  - id: widget
    says: Widget
    object: {resource: widgets.NS.example.com, namespace: NS, name: w}
    expect: object.spec.size == 3
  - id: none
    says: None
    objects: {resource: widgets.NS.example.com}
    expect: objects.size() == 0
`)
	l.want(id, "widget", Failing, `the API server has no resource "widgets.NS.example.com" yet`)
	l.want(id, "none", Passing)
	l.createCRD(group, 10)
	widget := object{"apiVersion": group + "/v1", "kind": "Widget", "metadata": object{"name": "w"}, "spec": object{"size": int64(3)}}
	for l.on(widgets(group), l.namespace) != nil { // until it is served
		if _, err := l.on(widgets(group), l.namespace).Create(t.Context(), &unstructured.Unstructured{Object: widget}, metav1.CreateOptions{}); err == nil {
			break
		}
	}
	l.await(id, "widget", Passing)
	l.await(id, "none", Failing)
	// And goes again, and comes again.
	if err := l.client.Resource(crds).Delete(t.Context(), "widgets."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	l.await(id, "widget", Failing)
	l.await(id, "none", Passing)
}

func TestUnknownResourceIsBroken(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	id := l.open(`
  - id: a
    says: A
    object: {resource: podz, namespace: NS, name: a}
    expect: object == null
  - id: b
    says: B
    objects: {resource: deployment.apps, namespace: NS}
    expect: objects.size() == 0
`)
	l.want(id, "a", Broken, `the API server knows no resource "podz"; did you mean "pods"?`)
	l.want(id, "b", Broken, `the API server knows no resource "deployment.apps"; did you mean "deployments.apps"?`)
}

func TestForbiddenIsBroken(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *Options) {
		o.Config = rest.CopyConfig(o.Config)
		o.Config.Impersonate = rest.ImpersonationConfig{UserName: "nobody", Groups: []string{"system:authenticated"}}
	})
	id := l.open(oneCheck)
	if c := l.check(id, "a"); c.State != Broken || !strings.Contains(c.Why, "may not read configmaps") {
		t.Errorf("%+v", c)
	}
}

func TestEndlessExpressionIsBroken(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.createConfigMap("a", object{"k": strings.Repeat("x,", 2000) + "x"})
	id := l.open(`
  - id: a
    says: A
    object: {resource: configmaps, namespace: NS, name: a}
    expect: object.data.k.split(',').all(x, object.data.k.split(',').all(y, object.data.k.split(',').all(z, x == z)))
`)
	if c := l.want(id, "a", Broken); !strings.Contains(c.Why, "the expression costs too much") {
		t.Errorf("why %q", c.Why)
	}
}

func TestNeedsAndModes(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	id := l.open(`
  - id: held
    says: It is held
    object: {resource: configmaps, namespace: NS, name: a}
    expect: object != null
  - id: gone
    says: It is gone
    needs: [held]
    object: {resource: configmaps, namespace: NS, name: a}
    expect: object == null
  - id: last
    says: Last
    needs: [gone]
    mode: once
    object: {resource: configmaps, namespace: NS, name: b}
    expect: object != null
`)
	l.want(id, "gone", Waiting, "comes after “It is held”")
	l.createConfigMap("a", nil)
	l.want(id, "held", Passing)
	l.want(id, "gone", Failing)
	l.deleteConfigMap("a")
	l.want(id, "held", Passing) // another check needs it, so it stays
	l.want(id, "gone", Passing)
	if state, _ := l.State(id); state.PassedAt != nil {
		t.Error("passed before the last check")
	}
	l.createConfigMap("b", nil)
	l.want(id, "last", Passing)
	first, _ := l.State(id)
	if first.PassedAt == nil {
		t.Fatal("all pass, and the exercise has not")
	}
	l.deleteConfigMap("b")
	l.settle()
	if after, _ := l.State(id); !after.PassedAt.Equal(*first.PassedAt) {
		t.Errorf("passed at %v, then at %v", first.PassedAt, after.PassedAt)
	}
}

// What fails once, as a wait for something that the API server has only just stored, is not told.
func TestSetupRunsOnceMore(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	marker := filepath.Join(t.TempDir(), "marker")
	e := exercise(t, strings.ReplaceAll("setup: test -e "+marker+" || { touch "+marker+"; exit 1; }\nchecks:"+oneCheck, "NS", l.namespace))
	if err := l.Open(t.Context(), e, Saved{}); err != nil {
		t.Error(err)
	}
}

func TestSetupThatFailsIsToldAndTriedAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	marker := filepath.Join(t.TempDir(), "marker")
	e := exercise(t, strings.ReplaceAll("setup: cat "+marker+"\nchecks:"+oneCheck, "NS", l.namespace))
	if err := l.Open(t.Context(), e, Saved{}); !errors.Is(err, ErrSetup) {
		t.Fatal(err)
	}
	state, _ := l.State(e.ID)
	if state.Phase != Error || !strings.Contains(state.Error, "the setup failed") || !strings.Contains(state.Error, "No such file") {
		t.Errorf("%+v", state)
	}
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Reset(t.Context(), e.ID); err != nil {
		t.Fatal(err)
	}
	l.want(e.ID, "a", Failing)
}

func TestProgressOutlivesTheSession(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	count := filepath.Join(t.TempDir(), "count")
	text := "setup: echo x >> " + count + `
reset: kubectl delete configmap a -n NS --ignore-not-found
checks:
  - id: once
    says: Once
    mode: once
    object: {resource: configmaps, namespace: NS, name: a}
    expect: object != null
  - id: picked
    says: Picked
    choice: {prompt: P, options: [{id: r, text: R, right: true, why: W}, {id: w, text: W, why: W}]}
`
	id := l.openWith(text, Saved{})
	l.createConfigMap("a", nil)
	l.want(id, "once", Passing)
	if err := l.Answer(t.Context(), id, "picked", "r"); err != nil {
		t.Fatal(err)
	}
	l.settle()
	saved := l.Saved(id)
	if len(saved.Passed) != 2 || saved.Answers["picked"] != "r" || saved.PassedAt == nil || saved.Cluster == "" {
		t.Fatalf("saved %+v", saved)
	}
	l.deleteConfigMap("a")
	l.Close()

	again := NewSession(Options{Config: l.config, Run: l.shell()})
	defer again.Close()
	l.Session, l.states = again, watchStates(again)
	l.openWith(text, saved)
	l.want(id, "once", Passing)
	l.want(id, "picked", Passing)
	if ran, _ := os.ReadFile(count); string(ran) != "x\n" {
		t.Errorf("the setup ran %d times in one cluster", len(ran)/2)
	}
	if err := again.Reset(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	l.want(id, "once", Failing)
	l.want(id, "picked", Failing, "not answered yet")
	if state, _ := again.State(id); state.PassedAt != nil {
		t.Error("a reset leaves the exercise passed")
	}
	if ran, _ := os.ReadFile(count); string(ran) != "x\nx\n" {
		t.Errorf("the setup ran %d times after a reset", len(ran)/2)
	}
}

func TestReopeningIsNoNews(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	e := exercise(t, strings.ReplaceAll("checks:"+oneCheck, "NS", l.namespace))
	for range 3 {
		if err := l.Open(t.Context(), e, Saved{}); err != nil {
			t.Fatal(err)
		}
	}
	l.settle()
	if states := l.States(); len(states) != 1 {
		t.Errorf("%d exercises are open", len(states))
	}
	if err := l.CloseExercise(e.ID); err != nil {
		t.Fatal(err)
	}
	if len(l.States()) != 0 {
		t.Error("it is still open")
	}
	if err := l.CloseExercise(e.ID); !errors.Is(err, ErrNotOpen) {
		t.Errorf("closing it again: %v", err)
	}
	last := l.states.all[len(l.states.all)-1]
	if last.Phase != Closed {
		t.Errorf("last told %+v", last)
	}
}

// Checks that look at the same objects share one watch, which ends with the last of them.
func TestWatchesAreShared(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	id := l.open(oneCheck + strings.ReplaceAll(oneCheck, "id: a", "id: b") + `
  - id: c
    says: C
    objects: {resource: configmaps, namespace: NS}
    expect: objects.size() > 5
`)
	scopes := func() (n int) {
		_ = l.do(t.Context(), func() error { n = len(l.stores); return nil })
		return n
	}
	if n := scopes(); n != 1 {
		t.Errorf("%d watches", n)
	}
	_ = l.CloseExercise(id)
	if n := scopes(); n != 0 {
		t.Errorf("%d watches after closing", n)
	}
}

// Not parallel: it counts the goroutines of the whole process.
func TestCloseLeavesNothingRunning(t *testing.T) {
	real.Cluster(t)
	before := runtime.NumGoroutine()
	l := newLab(t)
	group := l.namespace + ".example.com"
	l.createConfigMap("mine", nil)
	l.open(oneCheck + `
  - id: later
    says: Later
    object: {resource: widgets.` + group + `, namespace: NS, name: w}
    expect: object != null
  - id: tried
    says: Tried
    probe:
      after: [{resource: configmaps, namespace: NS, name: mine}]
      steps: [{wait: {resource: configmaps, namespace: NS, name: mine, expect: object == null, within: 50s}}]
`)
	l.Close()
	l.Close() // twice is no error
	if err := l.Hint("track/test", "a"); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed session: %v", err)
	}
	if err := l.Open(t.Context(), exercise(t, "checks:"+strings.ReplaceAll(oneCheck, "NS", "x")), Saved{}); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed session: %v", err)
	}
	for deadline := time.Now().Add(5 * time.Second); ; runtime.Gosched() {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		var ours []string
		for stack := range strings.SplitSeq(string(stacks), "\n\n") {
			if strings.Contains(stack, "checker.(*") || strings.Contains(stack, "checker/watch") {
				ours = append(ours, stack)
			}
		}
		if len(ours) == 0 && runtime.NumGoroutine() <= before+4 { // connections of the test's own client
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before, %d now:\n%s", before, runtime.NumGoroutine(), strings.Join(ours, "\n\n"))
		}
	}
}

func TestSubscribersMayCallBack(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	told := make(chan Saved, 100)
	var stop func()
	stop = l.Subscribe(func(state ExerciseState) {
		if l.States(); state.Phase == Open {
			told <- l.Saved(state.ID)
			stop()
		}
	})
	l.open(oneCheck)
	select {
	case saved := <-told:
		if saved.Cluster == "" {
			t.Errorf("saved %+v", saved)
		}
	case <-time.After(patience):
		t.Fatal("not told")
	}
}

func TestNewestVersionIsTold(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	versions := make(chan string, 100)
	stop := l.SubscribeVersion(func(v string) { versions <- v })
	defer stop()
	l.open(oneCheck)
	made := l.createConfigMap("a", nil)
	for deadline := time.After(patience); ; {
		select {
		case v := <-versions:
			if v == made.GetResourceVersion() || newer(v, made.GetResourceVersion()) {
				if !newer(made.GetResourceVersion(), l.ResourceVersion()) {
					return
				}
			}
		case <-deadline:
			t.Fatal("not told")
		}
	}
}

// From the moment that a write is answered, a verdict is a matter of milliseconds.
func TestLatency(t *testing.T) {
	l := newLab(t)
	id := l.open(`
  - id: a
    says: A
    mode: holds
    object: {resource: configmaps, namespace: NS, name: a}
    expect: object != null && object.data.n == object.data.m
    `)
	l.createConfigMap("a", object{"n": "0", "m": "1"})
	l.want(id, "a", Failing)
	var took []time.Duration
	for i := range 50 {
		state, m := Passing, "0"
		if i%2 == 1 {
			state, m = Failing, "1"
		}
		patch := []byte(`{"data":{"m":"` + m + `"}}`)
		if _, err := l.on(configmaps, l.namespace).Patch(context.Background(), "a", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		l.await(id, "a", state)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	median, worst := took[len(took)/2], took[len(took)-1]
	t.Logf("from the answer of a write to the verdict: median %s, worst %s", median, worst)
	if median > 5*time.Millisecond {
		t.Errorf("median %s; want less than 5 ms", median)
	}
}
