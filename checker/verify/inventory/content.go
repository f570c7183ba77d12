package inventory

import (
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// read takes of an object what an inventory keeps.
func read(resource schema.GroupVersionResource, o *unstructured.Unstructured) (Key, Object) {
	key := Key{resource.GroupResource(), o.GetNamespace(), o.GetName()}
	object := Object{
		UID: o.GetUID(), Owned: metav1.GetControllerOf(o) != nil,
		version: resource.Version, deleting: o.GetDeletionTimestamp() != nil, finalizers: o.GetFinalizers(),
	}
	if !passes(key) {
		object.Content = content(key, o.Object)
	}
	return key, object
}

// passes reports whether an object comes and goes by itself: events, and the leases by which components of the cluster
// say that they are alive.
func passes(k Key) bool {
	switch k.Resource {
	case schema.GroupResource{Resource: "events"}:
		return true
	case schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}:
		return k.Namespace == "kube-system" || k.Namespace == "kube-node-lease"
	}
	return false
}

// content is an object without its status and what every write changes. Of a node's status there remains what it has to
// give, which a learner may have changed.
func content(k Key, object map[string]any) map[string]any {
	kept := maps.Clone(object)
	delete(kept, "status")
	if metadata, ok := kept["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		for _, field := range []string{"resourceVersion", "generation", "managedFields", "uid", "creationTimestamp"} {
			delete(metadata, field)
		}
		kept["metadata"] = metadata
	}
	switch k.Resource {
	case schema.GroupResource{Resource: "nodes"}:
		if spec, ok := kept["spec"].(map[string]any); ok {
			kept["spec"] = withoutConditionTaints(spec)
		}
		for _, field := range []string{"capacity", "allocatable"} {
			if value, ok, _ := unstructured.NestedMap(object, "status", field); ok {
				_ = unstructured.SetNestedMap(kept, value, "status", field)
			}
		}
	case schema.GroupResource{Resource: "endpoints"}:
		delete(kept, "subsets")
	case schema.GroupResource{Group: "discovery.k8s.io", Resource: "endpointslices"}:
		delete(kept, "endpoints")
	}
	return kept
}

// withoutConditionTaints is a node's spec without the taints that the cluster itself puts on a node by its conditions, such as
// one that does not answer for a moment.
func withoutConditionTaints(spec map[string]any) map[string]any {
	taints, _ := spec["taints"].([]any)
	var kept []any
	for _, taint := range taints {
		fields, _ := taint.(map[string]any)
		if key, _ := fields["key"].(string); !strings.HasPrefix(key, "node.kubernetes.io/") {
			kept = append(kept, taint)
		}
	}
	spec = maps.Clone(spec)
	if delete(spec, "taints"); len(kept) > 0 {
		spec["taints"] = kept
	}
	return spec
}
