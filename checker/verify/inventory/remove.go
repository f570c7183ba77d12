package inventory

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var (
	namespaces  = schema.GroupResource{Resource: "namespaces"}
	definitions = schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
)

// inTheWay are resources by which a learner can have requests fail, the platform's too.
var inTheWay = []schema.GroupVersionResource{
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicybindings"},
	{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
}

// disarm deletes what would stand in the way of all else, and lets no definition ask a webhook to convert.
func (c *Cluster) disarm(ctx context.Context, first Inventory) error {
	var errs []error
	for _, resource := range inTheWay {
		objects, err := c.list(ctx, resource)
		errs = append(errs, err)
		for i := range objects {
			// Those that the API server makes for a definition go with it.
			_, ours := objects[i].GetLabels()["kube-aggregator.kubernetes.io/automanaged"]
			if key, object := read(resource, &objects[i]); !ours && !first.has(key) {
				errs = append(errs, c.delete(ctx, key, object))
			}
		}
	}
	resource := definitions.WithVersion("v1")
	objects, err := c.list(ctx, resource)
	errs = append(errs, err)
	for i := range objects {
		strategy, _, _ := unstructured.NestedString(objects[i].Object, "spec", "conversion", "strategy")
		if key, object := read(resource, &objects[i]); strategy == "Webhook" && !first.has(key) {
			errs = append(errs, c.patch(ctx, key, object, `{"spec":{"conversion":{"strategy":"None","webhook":null}}}`))
		}
	}
	return errors.Join(errs...)
}

func (i Inventory) has(key Key) bool {
	_, has := i[key]
	return has
}

// remove deletes objects at once: finalizers are taken off, Pods have no time to end, and a namespace goes as soon as
// nothing is in it, without the seconds that its controller waits for late writes.
func (c *Cluster) remove(ctx context.Context, objects Inventory) error {
	type part struct {
		resource  schema.GroupVersionResource
		namespace string
	}
	var errs []error
	full := map[string]bool{} // namespaces with something in them
	parts := map[part]bool{}
	for key, object := range objects {
		if key.Resource == namespaces && !object.deleting {
			errs = append(errs, c.delete(ctx, key, object)) // nothing is made in it from now on
		}
	}
	for key, object := range objects {
		if len(object.finalizers) > 0 && key.Resource != definitions {
			errs = append(errs, c.patch(ctx, key, object, `{"metadata":{"finalizers":null}}`))
		}
		switch {
		case key.Resource == namespaces, key.Name == unlisted:
		case objects.has(Key{namespaces, "", key.Namespace}):
			full[key.Namespace] = true
			parts[part{key.Resource.WithVersion(object.version), key.Namespace}] = true
		default:
			errs = append(errs, c.delete(ctx, key, object))
		}
	}
	for p := range parts {
		err := c.objects.Resource(p.resource).Namespace(p.namespace).DeleteCollection(ctx, atOnce(), metav1.ListOptions{})
		errs = append(errs, explain(err, "delete "+p.resource.Resource+" in "+p.namespace))
	}
	for key, object := range objects {
		if key.Resource == namespaces && object.deleting && !full[key.Name] {
			errs = append(errs, c.finalize(ctx, key))
		}
	}
	return errors.Join(errs...)
}

func atOnce() metav1.DeleteOptions {
	now, background := int64(0), metav1.DeletePropagationBackground
	return metav1.DeleteOptions{GracePeriodSeconds: &now, PropagationPolicy: &background}
}

func (c *Cluster) delete(ctx context.Context, key Key, object Object) error {
	return explain(c.on(key, object).Delete(ctx, key.Name, atOnce()), "delete "+key.String())
}

func (c *Cluster) patch(ctx context.Context, key Key, object Object, patch string) error {
	_, err := c.on(key, object).Patch(ctx, key.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return explain(err, "patch "+key.String())
}

// finalize ends a namespace that is being deleted.
func (c *Cluster) finalize(ctx context.Context, key Key) error {
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": key.Name}, "spec": map[string]any{"finalizers": []any{}},
	}}
	_, err := c.objects.Resource(namespaces.WithVersion("v1")).Update(ctx, namespace, metav1.UpdateOptions{}, "finalize")
	return explain(err, "finalize "+key.String())
}

// explain says what failed; that something is gone already is no failure.
func explain(err error, what string) error {
	if err == nil || apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
