package checker

import (
	"context"
	"runtime"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// crd is a CRD of widgets in a group of the test's own.
func crd(group string, maximum int64) object {
	return object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": object{"name": "widgets." + group},
		"spec": object{
			"group": group, "scope": "Namespaced",
			"names": object{"plural": "widgets", "singular": "widget", "kind": "Widget"},
			"versions": []any{object{
				"name": "v1", "served": true, "storage": true,
				"schema": object{"openAPIV3Schema": object{"type": "object", "properties": object{"spec": object{
					"type": "object", "properties": object{"size": object{"type": "integer", "maximum": maximum}},
				}}}},
			}},
		},
	}
}

func (l *lab) createCRD(group string, maximum int64) {
	l.t.Helper()
	l.create(crds, "", crd(group, maximum))
	l.t.Cleanup(func() {
		_ = l.client.Resource(crds).Delete(context.Background(), "widgets."+group, metav1.DeleteOptions{})
	})
}

func TestProbeOfSchema(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	group := l.namespace + ".example.com"
	id := l.open(`
  - id: valid
    says: Sizes are valid
    probe:
      after: [{resource: customresourcedefinitions.apiextensions.k8s.io, name: widgets.NS.example.com}]
      steps:
        - create: {apiVersion: NS.example.com/v1, kind: Widget, metadata: {name: small, namespace: NS}, spec: {size: 5}}
          dryRun: true
        - create: {apiVersion: NS.example.com/v1, kind: Widget, metadata: {name: large, namespace: NS}, spec: {size: 11}}
          dryRun: true
          refused: true
    expect: result[1].reason == 'Invalid' && result[1].message.contains('less than or equal to 10')
  - id: broken
    says: Broken
    probe:
      after: [{resource: customresourcedefinitions.apiextensions.k8s.io, name: widgets.NS.example.com}]
      steps:
        - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: NS}}
          dryRun: true
    expect: result[0].message > result[0].object
`)
	l.want(id, "valid", Failing, "there is no CustomResourceDefinition widgets.NS.example.com yet")
	l.createCRD(group, 100)
	l.await(id, "broken", Broken)
	// It is tried until the new API is served, and then says what the schema lets through.
	for {
		if c := l.want(id, "valid", Failing); strings.Contains(c.Why, "step 2 of 2, create Widget large in "+l.namespace+` with {"spec":{"size":11}} (dry run): the API server took it (201 Created); it has to refuse it`) {
			break
		}
	}
	o, err := l.client.Resource(crds).Get(t.Context(), "widgets."+group, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o.Object["spec"] = crd(group, 10)["spec"]
	if _, err := l.client.Resource(crds).Update(t.Context(), o, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if by := l.await(id, "valid", Passing).By; by == nil || by.Text != "all 2 steps went as they should" {
		t.Errorf("by %+v", by)
	}
}

// A probe that writes for real leaves nothing behind, and no other check sees what it made.
// The API server takes a definition into use after it has stored it; nothing tells when.
func TestProbeAfterADefinitionIsTakenAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	id := l.open(`
  - id: taken
    says: The name is taken
    probe:
      after: [{resource: customresourcedefinitions.apiextensions.k8s.io, name: widgets.NS.example.com}]
      steps:
        - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: taken, namespace: NS}}
          dryRun: true
          refused: true
`)
	l.createCRD(l.namespace+".example.com", 10)
	for !strings.Contains(l.await(id, "taken", Failing).Why, "it has to refuse it") {
	}
	l.createConfigMap("taken", nil)
	l.await(id, "taken", Passing)
}

func TestProbeCleansUp(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.createConfigMap("mine", object{"k": "v"})
	id := l.open(`
  - id: tried
    says: Tried
    probe:
      after: [{resource: configmaps, namespace: NS, name: mine}]
      steps:
        - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: made, namespace: NS}, data: {a: b}}
        - patch: {resource: configmaps, namespace: NS, name: mine, body: {data: {k: w, n: x}, metadata: {labels: {l: m}}}}
        - wait: {resource: configmaps, namespace: NS, name: mine, expect: object.data.k == 'w', within: 5s}
        - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: applied, namespace: NS}, data: {a: b}}
        - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: made, namespace: NS}}
          refused: true
    expect: result[4].reason == 'AlreadyExists' && result[2].object.data.n == 'x'
  - id: seen
    says: Nothing of it was seen
    mode: once
    objects: {resource: configmaps, namespace: NS}
    expect: objects.exists(o, o.metadata.name in ['made', 'applied'])
`)
	l.await(id, "tried", Passing)
	l.want(id, "seen", Failing)
	list, err := l.on(configmaps, l.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list.Items {
		switch o.GetName() {
		case "made", "applied":
			t.Errorf("%s was left behind", o.GetName())
		case "mine":
			data, _, _ := unstructured.NestedStringMap(o.Object, "data")
			if len(data) != 1 || data["k"] != "v" || len(o.GetLabels()) != 0 {
				t.Errorf("mine was left as %v, labels %v", data, o.GetLabels())
			}
		}
	}
}

func TestProbeWaitsInVain(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.createConfigMap("mine", object{"k": "v"})
	id := l.open(`
  - id: tried
    says: Tried
    probe:
      after: [{resource: configmaps, namespace: NS, name: mine}]
      steps:
        - wait: {resource: configmaps, namespace: NS, name: mine, expect: object.data.k == 'w', within: 3s}
`)
	c := l.want(id, "tried", Failing)
	if !strings.HasPrefix(c.Why, `the step wait for configmaps mine in `+l.namespace+`: after 3s, data.k is "v"; expected "w"`) {
		t.Errorf("why %q", c.Why)
	}
	l.updateConfigMap("mine", func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, "w", "data", "k") })
	l.await(id, "tried", Passing)
}

// What comes of a probe whose exercise was closed or reset meanwhile is nobody's any more.
func TestProbeOutlivesItsExercise(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.createConfigMap("mine", object{"k": "v"})
	id := l.open(`
  - id: tried
    says: Tried
    probe:
      after: [{resource: configmaps, namespace: NS, name: mine}]
      steps:
        - wait: {resource: configmaps, namespace: NS, name: mine, expect: object.data.k == 'w', within: 30s}
`)
	for l.check(id, "tried").Why != "being tried now" {
		runtime.Gosched()
	}
	if err := l.Reset(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for l.check(id, "tried").Why != "being tried now" {
		runtime.Gosched()
	}
	if err := l.CloseExercise(id); err != nil {
		t.Fatal(err)
	}
	other := l.open(`
  - id: there
    says: There
    object: {resource: configmaps, namespace: NS, name: mine}
    expect: object.data.k == 'v'
`)
	l.await(other, "there", Passing)
	l.settle()
}

// A probe that changes what it comes after, and fails, does not run for ever on its own account.
func TestProbeThatChasesItselfEnds(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.createConfigMap("mine", object{"k": "v"})
	id := l.open(`
  - id: tried
    says: Tried
    probe:
      after: [{resource: configmaps, namespace: NS, name: mine}]
      steps:
        - patch: {resource: configmaps, namespace: NS, name: mine, body: {data: {k: w}}}
        - wait: {resource: configmaps, namespace: NS, name: mine, expect: object.data.k == 'x', within: 10ms}
`)
	l.want(id, "tried", Failing)
	last, err := l.on(configmaps, l.namespace).Get(t.Context(), "mine", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l.settle()
	if now, err := l.on(configmaps, l.namespace).Get(t.Context(), "mine", metav1.GetOptions{}); err != nil || now.GetResourceVersion() != last.GetResourceVersion() {
		t.Errorf("it still runs: %v", err)
	}
	// Asked for again, it runs again.
	if err := l.Answer(t.Context(), id, "tried", ""); err != nil {
		t.Fatal(err)
	}
	l.want(id, "tried", Failing)
	if now, err := l.on(configmaps, l.namespace).Get(t.Context(), "mine", metav1.GetOptions{}); err != nil || now.GetResourceVersion() == last.GetResourceVersion() {
		t.Errorf("it did not run: %v", err)
	}
}

// What does not hold of the answers is told with the steps that they are answers to.
func TestProbeNamesTheStep(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.createConfigMap("mine", object{"k": "v"})
	id := l.open(`
  - id: reason
    says: It is refused for the right reason
    probe:
      after: [{resource: configmaps, namespace: NS, name: mine}]
      steps:
        - patch: {resource: configmaps, namespace: NS, name: mine, body: {data: {k: w}}}
          dryRun: true
        - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: mine, namespace: NS, labels: {a: b}}}
          refused: true
    expect: result[1].reason == 'Invalid'
  - id: same
    says: Both are the same
    probe:
      after: [{resource: configmaps, namespace: NS, name: mine}]
      steps:
        - patch: {resource: configmaps, namespace: NS, name: mine, body: {data: {k: w}}}
          dryRun: true
        - patch: {resource: configmaps, namespace: NS, name: mine, body: {data: {k: x}}}
          dryRun: true
    expect: result[0].object.data.k == result[1].object.data.k
`)
	l.want(id, "reason", Failing, `step 2 of 2, create ConfigMap mine in NS with {"metadata":{"labels":{"a":"b"}}}, was answered 409 AlreadyExists: reason is "AlreadyExists"; expected "Invalid"`)
	l.want(id, "same", Failing, `step 1 of 2, patch configmaps mine in NS with {"data":{"k":"w"}} (dry run), was answered 200 OK; `+
		`step 2 of 2, patch configmaps mine in NS with {"data":{"k":"x"}} (dry run), was answered 200 OK: step 1's object.data.k is "w", but step 2's object.data.k is "x"`)
}

func TestCompact(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]any{
		`{"a":"<&>"}`: map[string]any{"a": "<&>"},
		`"` + strings.Repeat("ü", maxSent-1) + "…": strings.Repeat("ü", 2*maxSent),
	} {
		if got := compact(value); got != want {
			t.Errorf("got %s; want %s", got, want)
		}
	}
}

func TestProbeOfUnknownKindFails(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.createConfigMap("mine", nil)
	id := l.open(`
  - id: tried
    says: Tried
    probe:
      after: [{resource: configmaps, namespace: NS}]
      steps: [{create: {apiVersion: NS.example.com/v1, kind: Widget, metadata: {name: x}}, dryRun: true}]
`)
	l.want(id, "tried", Failing, `the step create Widget x (dry run): the API server refused it (404 NotFound); it has to take it: the API server knows no kind "Widget" in NS.example.com/v1`)
}

var widgets = func(group string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
}
