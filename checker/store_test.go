package checker

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	kwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/apilab/apilab/checker/watch"
)

func seen(name, uid, version string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"kind": "Map"}}
	o.SetName(name)
	o.SetNamespace("ns")
	o.SetUID(types.UID(uid))
	o.SetResourceVersion(version)
	return o
}

func list(version string, objects ...*unstructured.Unstructured) watch.Update {
	return watch.Update{State: watch.Synced, Listed: true, List: objects, Version: version}
}

func event(kind kwatch.EventType, o *unstructured.Unstructured) watch.Update {
	return watch.Update{State: watch.Synced, Event: kind, Object: o, Version: o.GetResourceVersion()}
}

// A store never goes back in time, whatever a watch repeats, and finds what happened while nobody watched.
func TestStore(t *testing.T) {
	t.Parallel()
	probed := seen("probed", "p", "9")
	probed.SetAnnotations(map[string]string{probeMark: "true"})
	for _, tt := range []struct {
		name    string
		updates []watch.Update
		want    string // the last update's changes
		version string
	}{
		{"first list", []watch.Update{list("5", seen("a", "1", "3"), seen("b", "2", "4"))}, "ADDED a@3, ADDED b@4", "5"},
		{"event", []watch.Update{list("5", seen("a", "1", "3")), event(kwatch.Modified, seen("a", "1", "6"))}, "MODIFIED a@6 after 3", "6"},
		{"replayed event", []watch.Update{list("5", seen("a", "1", "3")), event(kwatch.Modified, seen("a", "1", "3"))}, "", "5"},
		{"event of the past", []watch.Update{list("50", seen("a", "1", "30")), event(kwatch.Modified, seen("a", "1", "4"))}, "", "50"},
		{"deletion", []watch.Update{list("5", seen("a", "1", "3")), event(kwatch.Deleted, seen("a", "1", "7"))}, "DELETED a@7", "7"},
		{"deletion of what is not there", []watch.Update{list("5"), event(kwatch.Deleted, seen("a", "1", "7"))}, "", "7"},
		{"recreation whose deletion was missed", []watch.Update{list("5", seen("a", "1", "3")), event(kwatch.Added, seen("a", "2", "8"))}, "DELETED a@3, ADDED a@8", "8"},
		{"list again, nothing new", []watch.Update{list("5", seen("a", "1", "3")), list("9", seen("a", "1", "3"))}, "", "9"},
		{"list again, in the order of versions", []watch.Update{
			list("5", seen("a", "1", "3"), seen("b", "2", "4"), seen("c", "3", "5")),
			list("20", seen("a", "1", "12"), seen("d", "5", "7"), seen("c", "4", "15")),
		}, "DELETED b@4, DELETED c@5, ADDED d@7, MODIFIED a@12 after 3, ADDED c@15", "20"},
		{"resource gone", []watch.Update{list("5", seen("a", "1", "3")), {State: watch.Unknown}}, "DELETED a@3", "5"},
		{"connection lost", []watch.Update{list("5", seen("a", "1", "3")), {State: watch.Lost}}, "", "5"},
		{"object of a probe", []watch.Update{list("5"), event(kwatch.Added, probed)}, "", "9"},
		{"bookmark", []watch.Update{list("5"), {State: watch.Synced, Version: "30"}}, "", "30"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st := &store{objects: map[string]*unstructured.Unstructured{}}
			var changes []change
			for _, u := range tt.updates {
				changes = st.apply(u)
			}
			var got []string
			for _, ch := range changes {
				s := fmt.Sprintf("%s %s@%s", ch.kind, ch.object().GetName(), ch.object().GetResourceVersion())
				if ch.old != nil && ch.new != nil {
					s += " after " + ch.old.GetResourceVersion()
				}
				got = append(got, s)
			}
			if s := strings.Join(got, ", "); s != tt.want || st.version != tt.version {
				t.Errorf("got %q at %s; want %q at %s", s, st.version, tt.want, tt.version)
			}
			if tt.name == "connection lost" && (st.state != watch.Synced || len(st.list(labels.Everything(), "")) != 1) {
				t.Error("what was seen last is forgotten")
			}
		})
	}
}

func TestStoreIsReachedByVersionOrByContent(t *testing.T) {
	t.Parallel()
	st := &store{objects: map[string]*unstructured.Unstructured{}}
	want := func(w *waiter, reached bool) {
		t.Helper()
		if st.reached(w) != reached {
			t.Errorf("reached(%+v) = %v at %s", w, !reached, st.version)
		}
	}
	want(&waiter{first: true}, false)
	st.apply(list("5", seen("a", "1", "3")))
	want(&waiter{first: true}, true)
	want(&waiter{version: "5"}, true)
	// Others wrote since, but not here: a quiet watch has seen all there is.
	want(&waiter{version: "9", objects: map[types.UID]string{"1": "3"}}, true)
	want(&waiter{version: "9", objects: map[types.UID]string{"1": "8"}}, false)
	want(&waiter{version: "9", objects: map[types.UID]string{}}, false)
	want(&waiter{version: "9", objects: map[types.UID]string{"1": "3", "2": "7"}}, false)
	st.apply(event(kwatch.Modified, seen("a", "1", "12")))
	want(&waiter{version: "9", objects: map[types.UID]string{"1": "8"}}, true)
	st.apply(watch.Update{State: watch.Unknown})
	want(&waiter{version: "99"}, true)
}

func TestNamedObjectInSeveralNamespaces(t *testing.T) {
	t.Parallel()
	st := &store{objects: map[string]*unstructured.Unstructured{}}
	other := seen("a", "2", "4")
	other.SetNamespace("another")
	st.apply(list("5", seen("a", "1", "3"), other, seen("b", "3", "3")))
	if o := st.named("ns", "a"); o.GetUID() != "1" {
		t.Errorf("%v", o)
	}
	if o := st.named("", "a"); o.GetUID() != "2" {
		t.Errorf("%v", o)
	}
	if o := st.named("", "c"); o != nil {
		t.Errorf("%v", o)
	}
}

func TestDifferenceTakesBack(t *testing.T) {
	t.Parallel()
	before := object{"spec": object{"a": int64(1), "list": []any{"x"}, "same": object{"k": "v"}}, "metadata": object{"labels": object{"l": "m"}, "resourceVersion": "1"}}
	after := object{"spec": object{"a": int64(2), "new": "n", "list": []any{"y"}, "same": object{"k": "v"}}, "metadata": object{"resourceVersion": "2"}, "status": object{"s": "t"}}
	patch, changed := difference(after, before)
	want := object{"spec": object{"a": int64(1), "new": nil, "list": []any{"x"}}, "metadata": object{"labels": object{"l": "m"}}}
	if got := strip(patch, false); !changed || !sameJSON(got, want) {
		t.Errorf("got %v; want %v", got, want)
	}
	if _, changed := difference(before, before); changed {
		t.Error("a thing differs from itself")
	}
}

func TestPlural(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"Pod": "Pods", "Ingress": "Ingresses", "NetworkPolicy": "NetworkPolicies", "Endpoints": "Endpoints",
		"ConfigMap": "ConfigMaps", "Gateway": "Gateways", "widgets": "widgets", "StorageClass": "StorageClasses",
	} {
		if got := plural(kind); got != want {
			t.Errorf("plural(%s) = %s", kind, got)
		}
	}
}
