package checker

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/checker/internal/real"
	"github.com/apilab/apilab/exercises"
)

// patience bounds what a test waits for that is about to happen.
const patience = 20 * time.Second

func TestMain(m *testing.M) { os.Exit(real.Main(m)) }

var (
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	configmaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	crds       = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// A lab is a session on a real cluster, with a namespace of the test's own.
type lab struct {
	*Session
	t         *testing.T
	config    *rest.Config
	client    dynamic.Interface
	namespace string
	states    *statesSeen
}

// newLab makes the namespace and the session; both go with the test.
func newLab(t *testing.T, change ...func(*Options)) *lab {
	t.Helper()
	config := real.Cluster(t)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, config: config, client: client, namespace: "t-" + strings.ToLower(fmt.Sprintf("%x", time.Now().UnixNano()))}
	l.create(namespaces, "", object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": l.namespace}})
	t.Cleanup(func() {
		_ = client.Resource(namespaces).Delete(context.Background(), l.namespace, metav1.DeleteOptions{})
	})
	o := Options{Learner: "test", Config: config, Run: l.shell(), Logger: slog.New(slog.DiscardHandler)}
	for _, fn := range change {
		fn(&o)
	}
	l.Session = NewSession(o)
	l.states = watchStates(l.Session)
	t.Cleanup(l.Close)
	return l
}

type object = map[string]any

// shell runs scripts as the platform, strictly, and with NS for the test's namespace.
func (l *lab) shell() Runner {
	run := real.Shell(l.t, "")
	return func(ctx context.Context, _ Identity, script string) (string, error) {
		return run(ctx, "set -eu\n"+strings.ReplaceAll(script, "NS", l.namespace))
	}
}

// open parses an exercise, in whose text NS is the test's namespace, and opens it.
func (l *lab) open(checks string) string {
	l.t.Helper()
	return l.openWith("checks:\n"+checks, Saved{})
}

func (l *lab) openWith(text string, saved Saved) string {
	l.t.Helper()
	e := exercise(l.t, strings.ReplaceAll(text, "NS", l.namespace))
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	if err := l.Open(ctx, e, saved); err != nil {
		l.t.Fatal(err)
	}
	return e.ID
}

// exercise parses a text, to which what every exercise must have is added.
func exercise(t *testing.T, text string) *exercises.Exercise {
	t.Helper()
	text = "title: T\ntask: T\nsolution: 'true'\n" + text
	if !strings.Contains(text, "\nwrong:") {
		_, first, _ := strings.Cut(text, "- id: ")
		first, _, _ = strings.Cut(first, "\n")
		text += "\nwrong: [{name: nothing, run: 'true', stays: [" + first + "]}]\n"
	}
	e, problems := exercises.Parse("track/test", []byte(text))
	if e == nil {
		t.Fatalf("%v\n%s", problems, text)
	}
	return e
}

func (l *lab) create(gvr schema.GroupVersionResource, namespace string, o object) *unstructured.Unstructured {
	l.t.Helper()
	made, err := l.on(gvr, namespace).Create(context.Background(), &unstructured.Unstructured{Object: o}, metav1.CreateOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	return made
}

func (l *lab) on(gvr schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return l.client.Resource(gvr)
	}
	return l.client.Resource(gvr).Namespace(namespace)
}

func (l *lab) createConfigMap(name string, data object) *unstructured.Unstructured {
	l.t.Helper()
	return l.create(configmaps, l.namespace, configMap(name, data))
}

func configMap(name string, data object) object {
	return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name}, "data": data}
}

func (l *lab) deleteConfigMap(name string) {
	l.t.Helper()
	if err := l.on(configmaps, l.namespace).Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) updateConfigMap(name string, change func(*unstructured.Unstructured)) {
	l.t.Helper()
	o, err := l.on(configmaps, l.namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	change(o)
	if _, err := l.on(configmaps, l.namespace).Update(context.Background(), o, metav1.UpdateOptions{}); err != nil {
		l.t.Fatal(err)
	}
}

// settle waits until the session has seen everything.
func (l *lab) settle() {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	if err := l.Settle(ctx); err != nil {
		l.t.Fatal(err)
	}
}

// check returns a check of an open exercise.
func (l *lab) check(exercise, id string) CheckStatus {
	l.t.Helper()
	state, _ := l.State(exercise)
	for _, c := range state.Checks {
		if c.ID == id {
			return c
		}
	}
	l.t.Fatalf("no check %s in %+v", id, state)
	return CheckStatus{}
}

// want settles and compares a check's state, and its why if that is given.
func (l *lab) want(exercise, id string, state CheckState, why ...string) CheckStatus {
	l.t.Helper()
	l.settle()
	c := l.check(exercise, id)
	if c.State != state {
		l.t.Errorf("%s is %s (%s); want %s", id, c.State, c.Why, state)
	}
	for _, part := range why {
		if got := strings.ReplaceAll(c.Why, l.namespace, "NS"); got != part {
			l.t.Errorf("%s: why %q; want %q", id, got, part)
		}
	}
	return c
}

// await waits for a check to be in a state.
func (l *lab) await(exercise, id string, state CheckState) CheckStatus {
	l.t.Helper()
	return l.states.await(l.t, exercise, id, state)
}

// statesSeen are the states that a session told.
type statesSeen struct {
	mu      sync.Mutex
	all     []ExerciseState
	changed chan struct{}
}

func watchStates(s *Session) *statesSeen {
	seen := &statesSeen{changed: make(chan struct{})}
	s.Subscribe(func(state ExerciseState) {
		seen.mu.Lock()
		defer seen.mu.Unlock()
		seen.all = append(seen.all, state)
		close(seen.changed)
		seen.changed = make(chan struct{})
	})
	return seen
}

func (s *statesSeen) await(t *testing.T, exercise, id string, want CheckState) CheckStatus {
	t.Helper()
	timeout := time.After(patience)
	var last CheckStatus
	for {
		s.mu.Lock()
		changed := s.changed
		for i := len(s.all) - 1; i >= 0; i-- {
			if s.all[i].ID != exercise {
				continue
			}
			for _, c := range s.all[i].Checks {
				if c.ID == id {
					last = c
				}
			}
			break
		}
		s.mu.Unlock()
		if last.State == want {
			return last
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("%s is %s (%s); want %s", id, last.State, last.Why, want)
		}
	}
}

// of returns each state that a check was told to be in, repetitions left out.
func (s *statesSeen) of(id string) []CheckState {
	s.mu.Lock()
	defer s.mu.Unlock()
	var states []CheckState
	for _, e := range s.all {
		for _, c := range e.Checks {
			if c.ID == id && (len(states) == 0 || states[len(states)-1] != c.State) {
				states = append(states, c.State)
			}
		}
	}
	return states
}
