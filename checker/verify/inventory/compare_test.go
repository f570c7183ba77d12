package inventory

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// listed is an inventory of objects of one resource.
func listed(resource schema.GroupVersionResource, objects ...map[string]any) Inventory {
	all := Inventory{}
	for _, object := range objects {
		key, read := read(resource, &unstructured.Unstructured{Object: object})
		all[key] = read
	}
	return all
}

func object(name, uid string, more map[string]any) map[string]any {
	o := map[string]any{"metadata": map[string]any{"name": name, "namespace": "kube-system", "uid": uid, "resourceVersion": fmt.Sprint(len(more))}}
	for key, value := range more {
		o[key] = value
	}
	return o
}

func TestCompare(t *testing.T) {
	t.Parallel()
	maps, leases := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	data := func(v string) map[string]any { return map[string]any{"data": map[string]any{"k": v, "same": "s"}} }
	for _, tt := range []struct {
		name          string
		before, after Inventory
		want          []string
	}{
		{"the same", listed(maps, object("a", "1", data("v"))), listed(maps, object("a", "1", data("v"))), nil},
		{"another version", listed(maps, object("a", "1", nil)), listed(maps, object("a", "1", map[string]any{"status": "new"})), nil},
		{"content", listed(maps, object("a", "1", data("v"))), listed(maps, object("a", "1", data("w"))), []string{"configmaps kube-system/a is not what it was (data.k)"}},
		{"another UID", listed(maps, object("a", "1", nil)), listed(maps, object("a", "2", nil)), []string{"configmaps kube-system/a was made anew"}},
		{"come and gone", listed(maps, object("a", "1", nil)), listed(maps, object("b", "1", nil)),
			[]string{"configmaps kube-system/a is gone", "configmaps kube-system/b is there"}},
		{"signs of life", listed(leases, object("a", "1", nil)), listed(leases, object("a", "2", data("v")), object("b", "1", nil)), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, change := range Compare(tt.before, tt.after) {
				got = append(got, change.String())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
