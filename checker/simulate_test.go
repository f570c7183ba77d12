package checker

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const controlled = `
reset: |
  kubectl delete widgets.NS.example.com --all -n NS --ignore-not-found
  kubectl delete configmaps w -n NS --ignore-not-found
controllers:
  - name: widget-controller
    says: S
    for: widgets.NS.example.com
    owns: {maps: configmaps}
    stages:
      - name: made
        apply: [{manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: w}, data: {size: "${string(9 / (object.spec.size - 3))}"}}}]
checks:
  - id: made
    says: Made
    mode: holds
    objects: {resource: configmaps, namespace: NS}
    expect: objects.exists(o, o.metadata.name == 'w' && o.data.size == '9')
`

func TestSimulatedControllers(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	group := l.namespace + ".example.com"
	id := l.openWith(controlled, Saved{}) // before its CRD is there
	l.want(id, "made", Failing)
	l.createCRD(group, 10)
	widget := object{"apiVersion": group + "/v1", "kind": "Widget", "metadata": object{"name": "w"}, "spec": object{"size": int64(4)}}
	for t.Context().Err() == nil { // until it is served
		if _, err := l.on(widgets(group), l.namespace).Create(t.Context(), &unstructured.Unstructured{Object: widget}, metav1.CreateOptions{}); err == nil {
			break
		}
	}
	l.await(id, "made", Passing)

	// A mistake in an expression breaks the checks, and a reset mends them.
	if err := l.on(widgets(group), l.namespace).Delete(t.Context(), "w", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	widget["spec"] = object{"size": int64(3)}
	l.create(widgets(group), l.namespace, widget)
	broken := l.await(id, "made", Broken)
	if !strings.Contains(broken.Why, `widget-controller, Widget w: the stage "made": apply[0].manifest.data.size: string(9 / (object.spec.size - 3)) cannot be evaluated: division by zero`) {
		t.Errorf("why: %s", broken.Why)
	}
	if err := l.Reset(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	l.await(id, "made", Failing)

	// A closed exercise has no controller.
	if err := l.CloseExercise(id); err != nil {
		t.Fatal(err)
	}
	if l.Simulating() {
		t.Error("it goes on after the exercise was closed")
	}
}
