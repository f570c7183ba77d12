package simulation

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	kwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/apilab/apilab/checker/watch"
)

// A cache is what is known of a scope: what its watch saw, and what the controller itself wrote since.
type cache struct {
	scope    watch.Scope
	state    watch.State
	resource watch.Resource
	objects  map[string]*unstructured.Unstructured // by namespace/name; never changed in place
	sorted   []*unstructured.Unstructured          // nil when objects changed since
}

func newCache(scope watch.Scope) *cache {
	return &cache{scope: scope, objects: map[string]*unstructured.Unstructured{}}
}

func keyOf(object *unstructured.Unstructured) string {
	return object.GetNamespace() + "/" + object.GetName()
}

// take takes what the watch saw.
func (c *cache) take(u watch.Update) {
	if u.State == watch.Lost {
		return // what was seen last is the best there is
	}
	c.state = u.State
	c.sorted = nil
	if u.Resource != (watch.Resource{}) {
		c.resource = u.Resource
	}
	switch {
	case u.Listed:
		clear(c.objects)
		for _, object := range u.List {
			c.objects[keyOf(object)] = object
		}
	case u.State == watch.Unknown || u.State == watch.Forbidden:
		clear(c.objects)
	case u.Object != nil && u.Event == kwatch.Deleted:
		if have := c.objects[keyOf(u.Object)]; have != nil && (have.GetUID() == u.Object.GetUID() || newer(u.Object, have)) {
			delete(c.objects, keyOf(u.Object))
		}
	case u.Object != nil:
		c.wrote(u.Object)
	}
}

// wrote takes an object as it came from the API server, unless a newer one is known.
func (c *cache) wrote(object *unstructured.Unstructured) {
	if have := c.objects[keyOf(object)]; have == nil || newer(object, have) {
		c.objects[keyOf(object)] = object
		c.sorted = nil
	}
}

// deleted marks an object, which the watch has not seen go yet.
func (c *cache) deleted(object *unstructured.Unstructured) {
	marked := object.DeepCopy()
	now := metav1.Now()
	marked.SetDeletionTimestamp(&now)
	c.objects[keyOf(object)] = marked
	c.sorted = nil
}

func newer(a, b *unstructured.Unstructured) bool {
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err != nil || order > 0
}

// list returns all objects by namespace and name.
func (c *cache) list() []*unstructured.Unstructured {
	if c.sorted == nil {
		c.sorted = make([]*unstructured.Unstructured, 0, len(c.objects))
		for _, object := range c.objects {
			c.sorted = append(c.sorted, object)
		}
		slices.SortFunc(c.sorted, func(a, b *unstructured.Unstructured) int { return strings.Compare(keyOf(a), keyOf(b)) })
	}
	return c.sorted
}
