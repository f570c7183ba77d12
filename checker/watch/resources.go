package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/apilab/apilab/exercises/spelling"
)

// A Resource is what an author's "deployments.apps" is in a cluster.
type Resource struct {
	GVR        schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

// UnknownResourceError says that the API server has no such resource.
type UnknownResourceError struct {
	Resource string
	Nearest  string // what it may be a misspelling of; empty if nothing is near
}

func (e *UnknownResourceError) Error() string {
	s := fmt.Sprintf("the API server knows no resource %q", e.Resource)
	if e.Nearest != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return s
}

// Creatable reports whether a learner can bring the resource into being, with a CustomResourceDefinition or an APIService:
// the group of such a one has a dot, Kubernetes' first groups have none.
func (e *UnknownResourceError) Creatable() bool {
	_, group, _ := strings.Cut(e.Resource, ".")
	return strings.Contains(group, ".")
}

// Resources knows what the API server serves. It asks once, and is then told of each CRD and aggregated API that comes
// while somebody waits for one.
type Resources struct {
	dynamic   dynamic.Interface
	discovery discovery.ServerResourcesInterfaceWithContext
	logger    *slog.Logger

	mu      sync.Mutex
	loaded  bool
	known   map[string]Resource // by "plural.group" and "plural.version.group", "plural" of the core
	changed chan struct{}       // closed and replaced when known gains something
	waiting int
	stop    context.CancelFunc // of the watches for newcomers, while waiting > 0
	done    sync.WaitGroup
}

// NewResources returns the knowledge of one cluster.
func NewResources(client dynamic.Interface, d discovery.ServerResourcesInterfaceWithContext, logger *slog.Logger) *Resources {
	return &Resources{dynamic: client, discovery: d, logger: logger, known: map[string]Resource{}, changed: make(chan struct{})}
}

// Resolve returns the resource of that name, asking the API server if that was not done since the last Forget. The
// error is an *UnknownResourceError if there is none.
func (r *Resources) Resolve(ctx context.Context, name string) (Resource, error) {
	r.mu.Lock()
	resource, ok := r.known[name]
	loaded := r.loaded
	r.mu.Unlock()
	if ok {
		return resource, nil
	}
	if !loaded {
		if err := r.load(ctx); err != nil {
			return Resource{}, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if resource, ok := r.known[name]; ok {
		return resource, nil
	}
	unknown := &UnknownResourceError{Resource: name}
	var names []string
	for known, resource := range r.known {
		if known == resource.GVR.GroupResource().String() {
			names = append(names, known)
		}
	}
	unknown.Nearest, _ = spelling.Nearest(name, names)
	return Resource{}, unknown
}

// OfKind returns the resource whose objects have this apiVersion and kind.
func (r *Resources) OfKind(ctx context.Context, apiVersion, kind string) (Resource, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return Resource{}, err
	}
	find := func() (Resource, bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for name, resource := range r.known {
			// Only the fully written names: the short ones are of the preferred version.
			if resource.Kind == kind && resource.GVR.GroupVersion() == gv && name == fullName(resource.GVR) {
				return resource, true
			}
		}
		return Resource{}, false
	}
	if resource, ok := find(); ok {
		return resource, nil
	}
	// What a learner made a moment ago is not known yet: one look, and it is.
	if err := r.load(ctx); err != nil {
		return Resource{}, err
	}
	if resource, ok := find(); ok {
		return resource, nil
	}
	list, err := r.discovery.ServerResourcesForGroupVersionWithContext(ctx, apiVersion)
	if err == nil {
		r.add(gv, list.APIResources, false)
		if resource, ok := find(); ok {
			return resource, nil
		}
	}
	return Resource{}, fmt.Errorf("the API server knows no kind %q in %s", kind, apiVersion)
}

// Forget makes the next Resolve ask the API server again, as the resource turned out not to be served.
func (r *Resources) Forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gone, ok := r.known[name]
	if !ok {
		return
	}
	for known, resource := range r.known {
		if resource.GVR.GroupResource() == gone.GVR.GroupResource() {
			delete(r.known, known)
		}
	}
	r.loaded = false
}

// load asks for all that is served. Groups whose aggregated server does not answer are left out.
func (r *Resources) load(ctx context.Context) error {
	_, lists, err := r.discovery.ServerGroupsAndResourcesWithContext(ctx)
	if err != nil && !errors.As(err, new(*discovery.ErrGroupDiscoveryFailed)) {
		return fmt.Errorf("discover resources: %w", err)
	}
	for _, list := range lists {
		if gv, err := schema.ParseGroupVersion(list.GroupVersion); err == nil {
			r.add(gv, list.APIResources, false)
		}
	}
	r.mu.Lock()
	r.loaded = true
	r.mu.Unlock()
	return nil
}

// add learns the resources of one group and version. The lists of a group come with its preferred version first: the
// short name is the first one's, unless prefer.
func (r *Resources) add(gv schema.GroupVersion, resources []metav1.APIResource, prefer bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	news := false
	for _, served := range resources {
		if strings.Contains(served.Name, "/") {
			continue
		}
		resource := Resource{GVR: gv.WithResource(served.Name), Kind: served.Kind, Namespaced: served.Namespaced}
		short := resource.GVR.GroupResource().String()
		if _, ok := r.known[short]; !ok || prefer {
			news = news || r.known[short] != resource
			r.known[short] = resource
		}
		news = news || r.known[fullName(resource.GVR)] != resource
		r.known[fullName(resource.GVR)] = resource
	}
	if news {
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

// fullName is "plural.version.group", and "plural.version" in the core.
func fullName(gvr schema.GroupVersionResource) string {
	if gvr.Group == "" {
		return gvr.Resource + "." + gvr.Version
	}
	return gvr.Resource + "." + gvr.Version + "." + gvr.Group
}
