package checker

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.createConfigMap("old", object{"k": "1"})
	id := l.open(`
  - id: recreated
    says: Recreated
    history: {resource: configmaps, namespace: NS}
    expect: versions.exists(a, versions.exists(b, a.metadata.name == b.metadata.name && a.metadata.uid != b.metadata.uid))
  - id: twice
    says: Changed twice
    history: {resource: configmaps, namespace: NS, name: old}
    expect: events.filter(e, e.type == 'MODIFIED').size() >= 2
  - id: deleted
    says: Deleted with its data
    history: {resource: configmaps, namespace: NS, name: old}
    expect: deletions.exists(d, d.data.k == '3')
  - id: broken
    says: Broken
    history: {resource: configmaps, namespace: NS, name: old}
    expect: events.size() > 0 && versions[0].data.k > 1
`)
	// What was there at the opening is a version, and no event.
	l.want(id, "twice", Failing, "there are no changes of ConfigMap old in NS yet; expected at least 2")
	l.want(id, "deleted", Failing, "there are no deletions of ConfigMap old in NS yet")
	set := func(v string) {
		l.updateConfigMap("old", func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, v, "data", "k") })
	}
	set("2")
	l.want(id, "twice", Failing)
	l.want(id, "broken", Broken)
	set("3")
	l.want(id, "twice", Passing)
	l.want(id, "recreated", Failing)
	l.deleteConfigMap("old")
	l.want(id, "deleted", Passing)
	l.createConfigMap("old", nil)
	if by := l.want(id, "recreated", Passing).By; by == nil || by.Name != "old" || by.ResourceVersion == "" {
		t.Errorf("by %+v", by)
	}
}

// What a setup does is not the learner's doing, though the watch that sees it may have been running before.
func TestHistoryBeginsAfterSetup(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	const checks = `
checks:
  - id: made
    says: Made
    history: {resource: configmaps, namespace: NS}
    expect: events.size() > 0
`
	l.open(`
  - id: other
    says: Other
    objects: {resource: configmaps, namespace: NS}
    expect: objects.size() == 100
`)
	if err := l.CloseExercise("track/test"); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		id := l.openWith("setup: kubectl create configmap c$RANDOM -n NS; kubectl create configmap d$RANDOM -n NS"+checks, Saved{})
		l.want(id, "made", Failing)
		if err := l.CloseExercise(id); err != nil {
			t.Fatal(err)
		}
	}
}
