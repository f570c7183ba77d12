package simulation

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/apilab/apilab/checker/internal/real"
	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
)

func TestMain(m *testing.M) { os.Exit(real.Main(m)) }

// within20s bounds what a test waits for that is about to happen.
const within20s = 20 * time.Second

var (
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	configmaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	crds       = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// A lab is a simulation in a real cluster, with a namespace and a CRD "kettles" of the test's own.
type lab struct {
	*Simulation
	t        *testing.T
	client   dynamic.Interface
	name     string // of the namespace; its group is that before ".example.com"
	kettles  schema.GroupVersionResource
	problems chan string
}

func newLab(t *testing.T) *lab {
	t.Helper()
	config := real.Cluster(t)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	l := &lab{t: t, client: client, name: fmt.Sprintf("s-%x", time.Now().UnixNano()), problems: make(chan string, 100)}
	l.kettles = schema.GroupVersionResource{Group: l.name + ".example.com", Version: "v1", Resource: "kettles"}
	l.Simulation = New(config, watch.NewResources(client, d, logger), logger)
	t.Cleanup(l.resources.Close)
	l.create(namespaces, "", object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": l.name}})
	t.Cleanup(func() {
		_ = client.Resource(crds).Delete(context.Background(), "kettles."+l.kettles.Group, metav1.DeleteOptions{})
		_ = client.Resource(namespaces).Delete(context.Background(), l.name, metav1.DeleteOptions{})
	})
	return l
}

func (l *lab) createCRD() {
	l.t.Helper()
	l.create(crds, "", object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": "kettles." + l.kettles.Group},
		"spec": object{
			"group": l.kettles.Group, "scope": "Namespaced", "names": object{"plural": "kettles", "kind": "Kettle"},
			"versions": []any{object{
				"name": "v1", "served": true, "storage": true, "subresources": object{"status": object{}},
				"schema": object{"openAPIV3Schema": object{"type": "object", "properties": object{
					"spec": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
					"status": object{"type": "object", "properties": object{
						"phase": object{"type": "string"}, "n": object{"type": "integer"}, "at": object{"type": "string"},
						"conditions": object{"type": "array", "items": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
					}},
				}}},
			}},
		},
	})
}

// run starts the controllers of a text, in which NS is the test's namespace, until the test ends.
func (l *lab) run(text string) (stop func()) {
	l.t.Helper()
	text = "title: T\ntask: T\nsolution: 'true'\nwrong: [{name: n, run: 'true', stays: [c]}]\n" +
		"checks: [{id: c, says: C, object: {resource: pods, name: p}, expect: object != null}]\ncontrollers:\n" + text
	e, problems := exercises.Parse("track/test", []byte(strings.ReplaceAll(text, "NS", l.name)))
	if e == nil {
		l.t.Fatalf("%v\n%s", problems, text)
	}
	var stops []func()
	for i := range e.Controllers {
		stop, err := l.Run(&e.Controllers[i], func(problem string) { l.problems <- problem })
		if err != nil {
			l.t.Fatal(err)
		}
		stops = append(stops, stop)
	}
	stop = func() {
		for _, stop := range stops {
			stop()
		}
	}
	l.t.Cleanup(stop)
	return stop
}

func (l *lab) on(gvr schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return l.client.Resource(gvr)
	}
	return l.client.Resource(gvr).Namespace(namespace)
}

func (l *lab) create(gvr schema.GroupVersionResource, namespace string, o object) *unstructured.Unstructured {
	l.t.Helper()
	var made *unstructured.Unstructured
	l.until("it can be made", func() (err error) { // a CRD is served a moment later
		ctx, cancel := context.WithTimeout(l.t.Context(), 5*time.Second)
		defer cancel()
		made, err = l.on(gvr, namespace).Create(ctx, &unstructured.Unstructured{Object: o}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // by an attempt whose answer took too long
			made, err = l.on(gvr, namespace).Get(ctx, (&unstructured.Unstructured{Object: o}).GetName(), metav1.GetOptions{})
		}
		return err
	})
	return made
}

func (l *lab) createKettle(name string, spec object) *unstructured.Unstructured {
	l.t.Helper()
	return l.create(l.kettles, l.name, object{"apiVersion": l.kettles.Group + "/v1", "kind": "Kettle", "metadata": object{"name": name}, "spec": spec})
}

func (l *lab) patch(gvr schema.GroupVersionResource, name, body string) {
	l.t.Helper()
	if _, err := l.on(gvr, l.name).Patch(context.Background(), name, types.MergePatchType, []byte(body), metav1.PatchOptions{FieldManager: "me"}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) remove(gvr schema.GroupVersionResource, namespace, name string) {
	l.t.Helper()
	if err := l.on(gvr, namespace).Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		l.t.Fatal(err)
	}
}

// await watches an object until it is as it should be; fn gets nil while there is none.
func (l *lab) await(gvr schema.GroupVersionResource, name, what string, fn func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), within20s)
	defer cancel()
	var last *unstructured.Unstructured
	for ctx.Err() == nil {
		list, err := l.on(gvr, l.name).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		if err != nil {
			continue
		}
		last = nil
		if len(list.Items) > 0 {
			last = &list.Items[0]
		}
		if fn(last) {
			return last
		}
		stream, err := l.on(gvr, l.name).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: list.GetResourceVersion()})
		if err != nil {
			continue
		}
		for event := range stream.ResultChan() {
			last, _ = event.Object.(*unstructured.Unstructured)
			if event.Type == kwatch.Deleted {
				last = nil
			}
			if fn(last) {
				stream.Stop()
				return last
			}
		}
	}
	l.t.Fatalf("%s: not %s: %v", name, what, last)
	return nil
}

func (l *lab) awaitPhase(name, phase string) *unstructured.Unstructured {
	l.t.Helper()
	return l.await(l.kettles, name, phase, func(o *unstructured.Unstructured) bool {
		return o != nil && field(o, "status", "phase") == phase
	})
}

func (l *lab) awaitProblem(part string) {
	l.t.Helper()
	timeout := time.After(within20s)
	for {
		select {
		case problem := <-l.problems:
			if part == "" && problem == "" || part != "" && strings.Contains(problem, part) {
				return
			}
			l.t.Logf("problem: %s", problem)
		case <-timeout:
			l.t.Fatalf("no problem %q was told", part)
		}
	}
}

// until tries again and again, for what no watch tells.
func (l *lab) until(what string, fn func() error) {
	l.t.Helper()
	deadline := time.Now().Add(within20s)
	for {
		err := fn()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// rest waits until no controller has anything to do.
func (l *lab) rest() {
	l.t.Helper()
	l.until("rest", func() error {
		if l.Busy() {
			return fmt.Errorf("busy")
		}
		return nil
	})
}

func field(o *unstructured.Unstructured, path ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	return v
}

const kettleController = `
  - name: kettle-controller
    says: No water is heated.
    for: kettles.NS.example.com
    namespace: NS
    owns: {maps: configmaps}
    stages:
      - name: emptying
        deleting: true
        delete: [{from: maps}]
        when: maps.size() > 0
        status: {phase: Emptying}
      - name: empty
        deleting: true
        finalizers: {remove: [example.com/water]}
      - name: off
        when: "!object.spec.lit"
        delete: [{from: maps}]
        status: {phase: Cold, n: null}
      - name: lit
        finalizers: {add: [example.com/water]}
        apply:
          - each: lists.range(2)
            manifest:
              apiVersion: v1
              kind: ConfigMap
              metadata: {name: "${object.metadata.name}-${each}", labels: {litres: "${object.spec.?litres.orValue('1')}"}}
              data: {fire: "on", note: "${object.spec.?note}"}
        patch: {metadata: {labels: {lit: "yes"}}}
        status:
          phase: Boiling
          n: "${maps.size()}"
          conditions: [{type: Ready, status: "${maps.size() == 2 ? 'True' : 'False'}", reason: Lit}]
        event: {reason: Lit, message: "${object.metadata.name} is lit"}
`

func TestLifeOfAnObject(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.run(kettleController) // before there is a CRD
	l.createCRD()
	l.createKettle("red", object{"lit": true, "litres": "3"})
	boiling := func(o *unstructured.Unstructured) bool {
		return o != nil && field(o, "status", "phase") == "Boiling" && field(o, "status", "n") == int64(2)
	}
	red := l.await(l.kettles, "red", "boiling", boiling)
	if red.GetLabels()["lit"] != "yes" || len(red.GetFinalizers()) != 1 {
		t.Errorf("metadata %v", red.Object["metadata"])
	}
	child := l.await(configmaps, "red-1", "there", func(o *unstructured.Unstructured) bool { return o != nil })
	managed := child.GetManagedFields()
	if len(managed) != 1 || managed[0].Manager != "kettle-controller" || managed[0].Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("managed by %v", managed)
	}
	if o := child.GetOwnerReferences(); len(o) != 1 || o[0].UID != red.GetUID() || !*o[0].Controller {
		t.Errorf("owned by %v", o)
	}
	if child.GetLabels()["litres"] != "3" || field(child, "data", "note") != nil {
		t.Errorf("%v", child.Object)
	}

	// A manual change of what it says is reverted, of what it does not say stays.
	l.patch(configmaps, "red-1", `{"data":{"fire":"off","mine":"stays"}}`)
	l.await(configmaps, "red-1", "reverted", func(o *unstructured.Unstructured) bool {
		return o != nil && field(o, "data", "fire") == "on" && field(o, "data", "mine") == "stays"
	})
	// What is deleted comes back, with another uid.
	l.remove(configmaps, l.name, "red-1")
	l.await(configmaps, "red-1", "back", func(o *unstructured.Unstructured) bool { return o != nil && o.GetUID() != child.GetUID() })
	// The spec is followed, also where a field is not said any more.
	l.patch(l.kettles, "red", `{"spec":{"litres":"4","note":"hot"}}`)
	l.await(configmaps, "red-0", "followed", func(o *unstructured.Unstructured) bool {
		return o != nil && o.GetLabels()["litres"] == "4" && field(o, "data", "note") == "hot"
	})
	l.patch(l.kettles, "red", `{"spec":{"note":null}}`)
	l.await(configmaps, "red-0", "without the note", func(o *unstructured.Unstructured) bool { return o != nil && field(o, "data", "note") == nil })

	// At rest nothing is written, also by a controller that was started anew.
	l.rest()
	before := l.await(l.kettles, "red", "boiling", boiling)
	l.createKettle("blue", object{"lit": false})
	l.awaitPhase("blue", "Cold")
	l.rest()
	if after := l.await(l.kettles, "red", "boiling", boiling); after.GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("it was written at rest: %v", after.Object)
	}
	list, err := l.on(events, l.name).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=red,reason=Lit"})
	if err != nil || len(list.Items) != 1 || field(&list.Items[0], "message") != "red is lit" || field(&list.Items[0], "source", "component") != "kettle-controller" {
		t.Errorf("events %v, %v", list, err)
	}

	// Its end goes through the stages for that.
	l.remove(l.kettles, l.name, "red")
	l.await(l.kettles, "red", "gone", func(o *unstructured.Unstructured) bool { return o == nil })
	l.await(configmaps, "red-0", "gone", func(o *unstructured.Unstructured) bool { return o == nil })
	select {
	case problem := <-l.problems:
		if problem != "" {
			t.Error(problem)
		}
	default:
	}
}

func TestCRDThatGoesAndComesBack(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.createCRD()
	l.run(kettleController)
	l.createKettle("red", object{"lit": false})
	l.awaitPhase("red", "Cold")
	l.remove(crds, "", "kettles."+l.kettles.Group)
	l.until("the CRD goes", func() error {
		if _, err := l.client.Resource(crds).Get(t.Context(), "kettles."+l.kettles.Group, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("still there: %v", err)
		}
		return nil
	})
	l.createCRD()
	l.createKettle("red", object{"lit": true})
	l.awaitPhase("red", "Boiling")
}

func TestControllersThatStartAnew(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.createCRD()
	stop := l.run(kettleController)
	l.createKettle("red", object{"lit": true})
	l.awaitPhase("red", "Boiling")
	l.rest()
	stop()
	if l.Busy() || len(l.running) != 0 {
		t.Error("it was stopped and runs")
	}
	before := l.await(configmaps, "red-0", "there", func(o *unstructured.Unstructured) bool { return o != nil })
	l.run(kettleController)
	l.run(kettleController)
	if len(l.running) != 1 {
		t.Errorf("%d controllers run of one that is declared twice", len(l.running))
	}
	l.createKettle("blue", object{"lit": true})
	l.awaitPhase("blue", "Boiling")
	l.rest()
	list, err := l.on(events, l.name).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=red,reason=Lit"})
	if err != nil || len(list.Items) != 1 || field(&list.Items[0], "count") != int64(1) {
		t.Errorf("events %v, %v", list, err)
	}
	after := l.await(configmaps, "red-0", "there", func(o *unstructured.Unstructured) bool { return o != nil })
	if after.GetResourceVersion() != before.GetResourceVersion() {
		t.Error("it was written again")
	}
}

func TestDelayAndPods(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.createCRD()
	// The API server writes 1000m as 1: that is no reason to apply for ever.
	l.run(`
  - name: kettle-controller
    says: S
    for: kettles.NS.example.com
    owns: {pods: pods}
    with: {all: {resource: configmaps, namespace: NS, selector: tap=open}}
    stages:
      - {name: dry, when: all.size() == 0, status: {phase: Dry}}
      - name: filling
        when: object.status.phase == 'Dry'
        delay: 600ms
        status: {phase: Filled}
      - name: boiling
        apply:
          - manifest: {apiVersion: v1, kind: Pod, metadata: {name: "${object.metadata.name}"}, spec: {nodeName: none, containers: [{name: c, image: i, resources: {requests: {cpu: 1000m}}}]}}
`)
	l.createKettle("red", object{})
	l.awaitPhase("red", "Dry")
	began := time.Now()
	l.create(configmaps, l.name, object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "tap", "labels": object{"tap": "open"}}})
	l.awaitPhase("red", "Filled")
	if took := time.Since(began); took < 500*time.Millisecond {
		t.Errorf("the delay was %s", took)
	}
	l.await(schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "red", "there", func(o *unstructured.Unstructured) bool { return o != nil })
	l.rest()
}

func TestMistakesAreTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ stage, want string }{
		"when":       {`{name: a, when: object.spec.size > 'x', status: {phase: A}}`, `the stage "a": when: object.spec.size > "x" cannot be evaluated: no such overload`},
		"template":   {`{name: a, status: {phase: "${object.spec.none}"}}`, `the stage "a": status.phase: object.spec.none cannot be evaluated: no such key: none`},
		"pruned":     {`{name: a, status: {nothing: A}}`, `the stage "a": the API server does not keep status.nothing`},
		"restless":   {`{name: a, status: {at: "${string(now.getMilliseconds()) + object.?status.?at.orValue('')}"}}`, `the stage "a" never comes to rest: status.at differs each time`},
		"refused":    {`{name: a, status: {n: text}}`, `status.n: Invalid value`},
		"kind":       {`{name: a, apply: [{manifest: {apiVersion: v1, kind: ConfigMop, metadata: {name: a}}}]}`, `the API server knows no kind "ConfigMop" in v1`},
		"not seen":   {`{name: a, apply: [{manifest: {apiVersion: v1, kind: Secret, metadata: {name: a}}}]}`, `the controller does not see Secret a: name secrets in owns or with`},
		"no owner":   {`{name: a, apply: [{manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}}]}`, `cannot own ConfigMap a, which is not in its namespace`},
		"each":       {`{name: a, apply: [{each: object.spec.size, manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}]}`, `apply[0].each is no list: 3`},
		"conditions": {`{name: a, status: {conditions: [{status: "True"}]}}`, `status.conditions[0] has no type`},
		"event":      {`{name: a, status: {phase: A}, event: {reason: A, message: "${object.spec.none}"}}`, `event.message: object.spec.none cannot be evaluated`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.createCRD()
			l.run(`
  - name: kettle-controller
    says: S
    for: kettles.NS.example.com
    owns: {maps: configmaps}
    stages:
      - {name: fine, when: object.spec.fine}
      - ` + tt.stage)
			l.createKettle("red", object{"size": int64(3)})
			l.awaitProblem(tt.want)
			l.patch(l.kettles, "red", `{"spec":{"fine":true}}`)
			l.awaitProblem("")
		})
	}
}
