package checker

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/gateway"
)

// The tests in this file's company judge against a real API server: that of the program in APILAB_BIN, which is started
// once, or the one that APILAB_KUBECONFIG names. Without either they are skipped.

// patience bounds what a test waits for that is about to happen.
const patience = 20 * time.Second

func TestMain(m *testing.M) {
	code := m.Run()
	stopReal()
	os.Exit(code)
}

var (
	realOnce   sync.Once
	realFile   string // kubeconfig
	realErr    error
	stopReal   = func() {}
	realConfig *rest.Config
)

// realCluster returns the access to a real API server, with all rights.
func realCluster(t *testing.T) *rest.Config {
	t.Helper()
	if os.Getenv("APILAB_BIN") == "" && os.Getenv("APILAB_KUBECONFIG") == "" {
		t.Skip("needs a real API server: set APILAB_BIN to a built apilab (make test does), or APILAB_KUBECONFIG")
	}
	realOnce.Do(func() { realErr = startReal() })
	if realErr != nil {
		t.Fatal(realErr)
	}
	return rest.CopyConfig(realConfig)
}

func startReal() error {
	realFile = os.Getenv("APILAB_KUBECONFIG")
	if realFile == "" {
		if err := startApilab(os.Getenv("APILAB_BIN")); err != nil {
			return err
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", realFile)
	if err != nil {
		return err
	}
	realConfig = config
	return ready(config)
}

// startApilab serves on a data directory of its own until stopReal.
func startApilab(program string) error {
	dir, err := os.MkdirTemp("", "apilab")
	if err != nil {
		return err
	}
	var log bytes.Buffer
	cmd := exec.Command(program, "serve", "--no-open", "--data-dir", filepath.Join(dir, "data"))
	cmd.Stderr = &log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	stopReal = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	}
	lines := bufio.NewScanner(stdout)
	for !strings.Contains(lines.Text(), "http://") {
		if !lines.Scan() {
			return fmt.Errorf("%s did not start: %s", program, log.String())
		}
	}
	go func() { // nobody else reads, and a full pipe would stop it
		for lines.Scan() {
		}
	}()
	realFile = filepath.Join(dir, "kubeconfig")
	output, err := exec.Command(program, "kubeconfig", "--data-dir", filepath.Join(dir, "data"), "-o", realFile).CombinedOutput()
	if err != nil {
		return fmt.Errorf("get the kubeconfig: %w: %s", err, output)
	}
	return nil
}

// ready waits for the cluster: its gateway starts it on the first request, and answers 503 meanwhile.
func ready(config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	for {
		_, err := client.Resource(namespaces).Get(ctx, "kube-system", metav1.GetOptions{})
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cluster is not ready: %w", err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

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
	config := realCluster(t)
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
	o := Options{Learner: "test", Config: config, Run: l.shell, Logger: slog.New(slog.DiscardHandler)}
	for _, fn := range change {
		fn(&o)
	}
	l.Session = NewSession(o)
	l.states = watchStates(l.Session)
	t.Cleanup(l.Close)
	return l
}

type object = map[string]any

// shell runs a script with the platform's kubectl, in the test's namespace.
func (l *lab) shell(ctx context.Context, _ Identity, script string) (string, error) {
	dir := l.t.TempDir()
	if program := os.Getenv("APILAB_BIN"); program != "" {
		if err := os.Symlink(program, filepath.Join(dir, "kubectl")); err != nil {
			return "", err
		}
	}
	cmd := exec.CommandContext(ctx, "bash", "-euc", strings.ReplaceAll(script, "NS", l.namespace))
	cmd.Env = append(os.Environ(), "KUBECONFIG="+realFile, "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir)
	output, err := cmd.CombinedOutput()
	return string(output), err
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

// withGateway puts a real gateway before the cluster, and returns the learner's access through it.
func withGateway(t *testing.T) (*gateway.Recorder, *rest.Config) {
	t.Helper()
	g, err := gateway.New(gateway.Options{Dir: t.TempDir(), Clusters: oneCluster{config: realCluster(t)}, Port: 0})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	text, err := g.Kubeconfig("test")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	return g.Recorder("test"), config
}

// oneCluster gives the real cluster to the gateway.
type oneCluster struct{ config *rest.Config }

func (c oneCluster) Get(string) (cluster.Cluster, bool)                     { return c, true }
func (c oneCluster) Claim(context.Context, string) (cluster.Cluster, error) { return c, nil }
func (c oneCluster) Status(id string) cluster.Status {
	return cluster.Status{ID: id, State: cluster.Ready}
}
func (c oneCluster) ID() string                                   { return "test" }
func (c oneCluster) Config() *rest.Config                         { return c.config }
func (c oneCluster) LearnerConfig() *rest.Config                  { return c.config }
func (c oneCluster) Capabilities() cluster.Capabilities           { return cluster.Capabilities{} }
func (c oneCluster) Health(func(cluster.Health)) (stop func())    { return func() {} }
func (c oneCluster) Usage(context.Context) (cluster.Usage, error) { return cluster.Usage{}, nil }
func (c oneCluster) Stop(context.Context) error                   { return nil }
