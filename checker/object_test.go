package checker

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestObject(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	id := l.open(`
  - id: a
    says: A
    object: {resource: configmaps, namespace: NS, name: a}
    expect: object.data.k == 'v' && old == null
    hints: [{when: object != null && object.data.k == 'w', say: Not w.}]
  - id: changed
    says: Changed
    mode: once
    object: {resource: configmaps, namespace: NS, name: a}
    expect: old != null && object != null && old.data.k != object.data.k
  - id: broken
    says: Broken
    object: {resource: configmaps, namespace: NS, name: a}
    expect: object.data.k > 1
`)
	l.want(id, "a", Failing, "there is no ConfigMap a in NS yet")
	l.want(id, "changed", Failing, "ConfigMap a in NS has not changed yet")
	l.want(id, "broken", Failing, "there is no ConfigMap a in NS yet")
	made := l.createConfigMap("a", object{"k": "v"})
	passed := l.want(id, "a", Passing)
	if by := passed.By; by == nil || by.ResourceVersion != made.GetResourceVersion() || by.Name != "a" || by.Resource != "configmaps" {
		t.Errorf("by %+v", passed.By)
	}
	l.want(id, "broken", Broken, `object.data.k > 1 cannot be evaluated: no such overload`)
	l.updateConfigMap("a", func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, "w", "data", "k") })
	l.want(id, "a", Failing, "Not w.")
	l.want(id, "changed", Passing)
	l.deleteConfigMap("a")
	l.want(id, "a", Failing, "there is no ConfigMap a in NS yet")
	l.want(id, "changed", Passing)
	if states := l.states.of("a"); !slices.Equal(states, []CheckState{Waiting, Failing, Passing, Failing}) {
		t.Errorf("told %v", states)
	}
}

func TestObjectsWithOthers(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	id := l.open(`
  - id: three
    says: Three
    objects: {resource: configmaps, namespace: NS, selector: app=x}
    expect: objects.size() == 2
  - id: joined
    says: Joined
    objects:
      resource: configmaps
      namespace: NS
      selector: app=x
      with: {secrets: {resource: secrets, namespace: NS}}
    expect: objects.all(o, secrets.exists(s, s.metadata.name == o.metadata.name))
  - id: broken
    says: Broken
    objects: {resource: configmaps, namespace: NS, selector: app=x}
    expect: objects.all(o, o.data)
`)
	l.want(id, "three", Failing, "there are no ConfigMaps in NS with app=x yet; expected 2")
	l.want(id, "joined", Passing)
	for _, name := range []string{"a", "b"} {
		o := configMap(name, object{"k": "v"})
		o["metadata"].(object)["labels"] = object{"app": "x"}
		l.create(configmaps, l.namespace, o)
	}
	l.createConfigMap("other", nil)
	l.want(id, "three", Passing)
	l.want(id, "joined", Failing, "there are no Secrets in NS yet")
	l.want(id, "broken", Broken)
	l.deleteConfigMap("a")
	l.want(id, "three", Failing, "there is 1 ConfigMap in NS with app=x; expected 2")
}
