package watch

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The two ways for a resource to come into being.
var (
	crdScope = Scope{Resource: "customresourcedefinitions.apiextensions.k8s.io"}
	apiScope = Scope{Resource: "apiservices.apiregistration.k8s.io"}
)

// Await returns when the resource is served, or with ctx's error. While anybody waits, CRDs and APIServices are watched.
func (r *Resources) Await(ctx context.Context, name string) error {
	r.startWaiting()
	defer r.stopWaiting()
	for {
		r.mu.Lock()
		_, ok := r.known[name]
		changed := r.changed
		r.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (r *Resources) startWaiting() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting++; r.waiting > 1 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	client := &Client{Dynamic: r.dynamic, Resources: r, Logger: r.logger}
	for _, scope := range []Scope{crdScope, apiScope} {
		// A server without the API of newcomers has none: waiting for that one would never end.
		if _, ok := r.known[scope.Resource]; !ok {
			continue
		}
		r.done.Go(func() { client.Follow(ctx, scope, func(u Update) { r.newcomers(ctx, u) }) })
	}
}

func (r *Resources) stopWaiting() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting--; r.waiting == 0 {
		r.stop()
	}
}

// Close waits until nothing runs any more; nobody may be waiting.
func (r *Resources) Close() { r.done.Wait() }

func (r *Resources) newcomers(ctx context.Context, update Update) {
	objects := update.List
	if update.Object != nil && update.Event != "DELETED" {
		objects = append(objects, update.Object)
	}
	for _, object := range objects {
		if update.Scope == crdScope {
			r.learnCRD(object)
		} else {
			r.learnAPI(ctx, object)
		}
	}
}

// learnCRD reads the resource out of the CRD itself: discovery follows a moment later.
func (r *Resources) learnCRD(crd *unstructured.Unstructured) {
	if !condition(crd, "Established") {
		return
	}
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope")
	plural, _, _ := unstructured.NestedString(crd.Object, "status", "acceptedNames", "plural")
	kind, _, _ := unstructured.NestedString(crd.Object, "status", "acceptedNames", "kind")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	resource := metav1.APIResource{Name: plural, Kind: kind, Namespaced: scope == "Namespaced"}
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		if served, _ := version["served"].(bool); served && name != "" && plural != "" {
			stored, _ := version["storage"].(bool)
			r.add(schema.GroupVersion{Group: group, Version: name}, []metav1.APIResource{resource}, stored)
		}
	}
}

// learnAPI asks an aggregated API for what it serves, once it can be asked.
func (r *Resources) learnAPI(ctx context.Context, api *unstructured.Unstructured) {
	service, _, _ := unstructured.NestedMap(api.Object, "spec", "service")
	if service == nil || !condition(api, "Available") {
		return // without a service it is the API server's own: built in, or of a CRD
	}
	group, _, _ := unstructured.NestedString(api.Object, "spec", "group")
	version, _, _ := unstructured.NestedString(api.Object, "spec", "version")
	gv := schema.GroupVersion{Group: group, Version: version}
	list, err := r.discovery.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
	if err != nil {
		r.logger.Debug("aggregated API does not answer", "api", gv.String(), "error", err)
		return
	}
	r.add(gv, list.APIResources, false)
}

func condition(object *unstructured.Unstructured, name string) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == name {
			return c["status"] == "True"
		}
	}
	return false
}
