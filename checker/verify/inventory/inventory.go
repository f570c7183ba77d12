// Package inventory lists what is in a cluster, tells two such lists apart, and clears a cluster of what was not there at
// first. It knows nothing of exercises and of how clusters are made.
package inventory

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// A Key names an object. Resources that are served in several versions count once.
type Key struct {
	Resource        schema.GroupResource
	Namespace, Name string
}

// String is the key as a learner would write it, such as "deployments.apps shop/web".
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Resource.String() + " " + k.Name
	}
	return k.Resource.String() + " " + k.Namespace + "/" + k.Name
}

// An Inventory is all that could be listed, but for what the API server makes up when it is asked.
type Inventory map[Key]Object

// An Object is one of an inventory.
type Object struct {
	UID     types.UID
	Owned   bool           // a controller made it for another object
	Content map[string]any // without status and what every write changes

	version    string // of its resource
	deleting   bool
	finalizers []string
}

// A Cluster is one that is looked into, with all rights.
type Cluster struct {
	objects   dynamic.Interface
	resources *discovery.DiscoveryClient
	close     func()
}

// Connect prepares the access to a cluster; nothing is asked of it yet.
func Connect(config *rest.Config) (*Cluster, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.UserAgent = "apilab-inventory"
	config.WarningHandler = rest.NoWarnings{} // everything is listed, old kinds too
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	objects, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	resources, err := discovery.NewDiscoveryClientForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return &Cluster{objects, resources, client.CloseIdleConnections}, nil
}

// Close ends the connections.
func (c *Cluster) Close() { c.close() }

// lists is how many resources are listed at a time.
const lists = 8

// unlisted is the name under which a resource is in an inventory that the API server fails to list, for want of a
// conversion for instance: what is in it cannot be seen.
const unlisted = "(what cannot be listed)"

// Take lists everything.
func (c *Cluster) Take(ctx context.Context) (Inventory, error) {
	served, err := c.resources.ServerPreferredResourcesWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("find out what the cluster serves: %w", err)
	}
	var mu sync.Mutex
	found := Inventory{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lists)
	for _, list := range served {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("find out what the cluster serves: %w", err)
		}
		for _, r := range list.APIResources {
			resource := version.WithResource(r.Name)
			if !slices.Contains(r.Verbs, "list") || madeUp[resource.GroupResource()] {
				continue
			}
			group.Go(func() error {
				objects, err := c.list(ctx, resource)
				mu.Lock()
				defer mu.Unlock()
				if failed(err) {
					found[Key{resource.GroupResource(), "", unlisted}] = Object{version: resource.Version}
				} else if err != nil {
					return fmt.Errorf("list %s: %w", resource.GroupResource(), err)
				}
				for i := range objects {
					key, object := read(resource, &objects[i])
					found[key] = object
				}
				return nil
			})
		}
	}
	return found, group.Wait()
}

// madeUp are resources that show what others hold, or what nobody made.
var madeUp = map[schema.GroupResource]bool{
	{Resource: "componentstatuses"}:              true,
	{Group: "events.k8s.io", Resource: "events"}: true,
}

func (c *Cluster) list(ctx context.Context, resource schema.GroupVersionResource) ([]unstructured.Unstructured, error) {
	var all []unstructured.Unstructured
	options := metav1.ListOptions{Limit: 500}
	for {
		page, err := c.objects.Resource(resource).List(ctx, options)
		switch {
		case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err): // its definition went meanwhile
			return nil, nil
		case err != nil:
			return nil, err
		}
		all = append(all, page.Items...)
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return all, nil
		}
	}
}

// failed reports whether the API server could not answer, as opposed to who could not ask it.
func failed(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusInternalServerError
}

func (c *Cluster) on(key Key, object Object) dynamic.ResourceInterface {
	resource := c.objects.Resource(key.Resource.WithVersion(object.version))
	if key.Namespace == "" {
		return resource
	}
	return resource.Namespace(key.Namespace)
}

// A new cluster's controllers have done their work when nothing has changed for settledFor; that is waited for as long as
// settleFor.
const (
	settledFor = time.Second
	settleFor  = time.Minute
)

// Settled lists everything as soon as the cluster rests.
func (c *Cluster) Settled(ctx context.Context) (Inventory, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, settleFor, fmt.Errorf("the cluster does not rest within %s", settleFor))
	defer cancel()
	var before Inventory
	for {
		now, err := c.Take(ctx)
		if err == nil && before != nil && len(Compare(before, now)) == 0 {
			return now, nil
		}
		if err == nil {
			before = now
		}
		select {
		case <-time.After(settledFor):
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), err)
		}
	}
}
