package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises/expr"
)

// maxRequests bounds the requests of one act together.
const maxRequests = 20 * time.Second

// act does what is to be done, up to the first thing that fails.
func (r *runner) act(p *primary, object *unstructured.Unstructured, stage int, todo []action, vars expr.Vars) error {
	ctx, cancel := context.WithTimeout(r.ctx, maxRequests)
	defer cancel()
	for _, a := range todo {
		if err := a.do(ctx); err != nil {
			return err
		}
	}
	if event := r.Stages[stage].Event; event != nil {
		return r.record(ctx, p, object, event, vars)
	}
	return nil
}

// of returns the way to where the primary objects of the object's namespace are, and their cache.
func (r *runner) of(object *unstructured.Unstructured) (dynamic.ResourceInterface, *cache) {
	c := r.cache(watch.Scope{Resource: r.For, Namespace: r.Namespace})
	return r.client.On(c.resource, object.GetNamespace()), c
}

// current returns the newest version known of a primary object.
func (r *runner) current(object *unstructured.Unstructured) *unstructured.Unstructured {
	_, c := r.of(object)
	if now := c.objects[keyOf(object)]; now != nil && now.GetUID() == object.GetUID() {
		return now
	}
	return object
}

// setFinalizers is locked to the version that it was decided on: a list is written whole.
func (r *runner) setFinalizers(ctx context.Context, object *unstructured.Unstructured, add, remove []string) error {
	now := r.current(object)
	finalizers := slices.DeleteFunc(slices.Clone(now.GetFinalizers()), func(f string) bool { return slices.Contains(remove, f) })
	finalizers = append(finalizers, add...)
	return r.write(ctx, object, map[string]any{"metadata": map[string]any{
		"finalizers": finalizers, "resourceVersion": now.GetResourceVersion(),
	}}, "metadata.finalizers")
}

func (r *runner) patch(ctx context.Context, object *unstructured.Unstructured, patch map[string]any, path string) error {
	return r.write(ctx, object, merge(patch, nil), path)
}

func (r *runner) patchStatus(ctx context.Context, object *unstructured.Unstructured, status map[string]any, path string) error {
	patch := map[string]any{"status": status}
	if r.statusless[r.For] {
		return r.write(ctx, object, patch, path)
	}
	err := r.write(ctx, object, patch, path, "status")
	if !apierrors.IsNotFound(err) {
		return err
	}
	// Either the object is gone, or its resource has no such subresource.
	if err := r.write(ctx, object, patch, path); err != nil {
		return err
	}
	r.statusless[r.For] = true
	return nil
}

// write merges a patch into the primary object, this one and not another of its name. A write that changes nothing was
// meant to: the API server drops what no schema has.
func (r *runner) write(ctx context.Context, object *unstructured.Unstructured, patch map[string]any, path string, sub ...string) error {
	before := r.current(object)
	metadata, _ := patch["metadata"].(map[string]any)
	metadata = merge(metadata, map[string]any{"uid": string(object.GetUID())})
	patch["metadata"] = metadata
	data, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encode the patch of %s: %w", path, err)
	}
	objects, c := r.of(object)
	after, err := objects.Patch(ctx, object.GetName(), types.MergePatchType, data, metav1.PatchOptions{FieldManager: r.Name}, sub...)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	c.wrote(after)
	if after.GetDeletionTimestamp() != nil && len(after.GetFinalizers()) == 0 {
		delete(c.objects, keyOf(after)) // it went with its last finalizer
		c.sorted = nil
		return nil
	}
	if after.GetResourceVersion() == before.GetResourceVersion() {
		delete(r.statusless, r.For)
		return mistake("the API server does not keep %s: has the schema of the CRD such a field?", path)
	}
	return nil
}

func (r *runner) remove(ctx context.Context, c *cache, object *unstructured.Unstructured) error {
	uid, background := object.GetUID(), metav1.DeletePropagationBackground
	err := r.client.On(c.resource, object.GetNamespace()).Delete(ctx, object.GetName(), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background,
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	c.deleted(object)
	return nil
}
