// Package watch follows the objects of one resource in one namespace, or in all, over whatever happens to the
// connection: it lists, watches from there, resumes, lists again after 410, waits for a resource that is not there yet.
// It never polls. It knows nothing of exercises.
package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// A Scope is what one watch covers.
type Scope struct {
	Resource  string // plural, with group where it is not core: "deployments.apps"
	Namespace string // empty: all
}

func (s Scope) String() string {
	if s.Namespace == "" {
		return s.Resource
	}
	return s.Resource + " in " + s.Namespace
}

// A State is how well a scope is followed.
type State int

// The states of a scope.
const (
	Syncing   State = iota // not listed yet
	Synced                 // followed
	Lost                   // the connection failed, it is being made again; what was seen last may be old
	Unknown                // the API server has no such resource now
	Forbidden              // the API server does not let us
)

// An Update is one thing that was seen. Those of a scope come in order, from one goroutine.
type Update struct {
	Scope Scope
	State State
	Err   error // why not Synced

	Resource Resource                     // what Scope.Resource is in this cluster, once it is known
	List     []*unstructured.Unstructured // all objects, when Listed
	Listed   bool
	Event    watch.EventType // Added, Modified, Deleted; "" where there is none
	Object   *unstructured.Unstructured
	Version  string // the newest resourceVersion seen, "" if not known
}

// A Client is the way to one cluster.
type Client struct {
	Dynamic   dynamic.Interface
	Resources *Resources
	Logger    *slog.Logger
}

// Pauses between attempts, and after how long without an end a watch counts as a good one.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
	goodWatch  = 2 * time.Second
	pageSize   = 500
)

// Follow delivers all that happens in the scope until ctx ends. deliver must not block; it owns the objects.
func (c *Client) Follow(ctx context.Context, scope Scope, deliver func(Update)) {
	f := &follower{Client: c, scope: scope, deliver: deliver, pause: firstPause}
	for ctx.Err() == nil {
		if err := f.follow(ctx); err != nil && ctx.Err() == nil {
			f.report(err)
			f.wait(ctx)
		}
	}
}

type follower struct {
	*Client
	scope    Scope
	deliver  func(Update)
	resource Resource
	pause    time.Duration
}

// follow finds the resource, lists it, and watches it until that cannot go on.
func (f *follower) follow(ctx context.Context) error {
	resource, err := f.Resources.Resolve(ctx, f.scope.Resource)
	if err != nil {
		if errors.As(err, new(*UnknownResourceError)) {
			f.deliver(Update{Scope: f.scope, State: Unknown, Err: err})
			// Whoever waits is woken by the CRD or the aggregated API that brings the resource.
			return f.Resources.Await(ctx, f.scope.Resource)
		}
		return fmt.Errorf("find resource %s: %w", f.scope.Resource, err)
	}
	f.resource = resource
	version, err := f.list(ctx)
	for err == nil && ctx.Err() == nil {
		version, err = f.watch(ctx, version)
	}
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		f.Logger.Debug("list again", "scope", f.scope.String(), "because", err)
		return nil
	}
	if apierrors.IsNotFound(err) {
		f.Resources.Forget(f.scope.Resource)
	}
	return err
}

// On returns the way to the objects of a resource in a namespace; in all if that is empty or the resource has none.
func (c *Client) On(resource Resource, namespace string) dynamic.ResourceInterface {
	if namespace == "" || !resource.Namespaced {
		return c.Dynamic.Resource(resource.GVR)
	}
	return c.Dynamic.Resource(resource.GVR).Namespace(namespace)
}

// list delivers all objects as of now (a consistent read, so that nothing goes back in time) and returns the version.
func (f *follower) list(ctx context.Context) (string, error) {
	var objects []*unstructured.Unstructured
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := f.On(f.resource, f.scope.Namespace).List(ctx, options)
		if err != nil {
			return "", fmt.Errorf("list %s: %w", f.scope, err)
		}
		for i := range page.Items {
			objects = append(objects, &page.Items[i])
		}
		if page.GetContinue() == "" {
			f.pause = firstPause
			f.deliver(Update{
				Scope: f.scope, State: Synced, Resource: f.resource,
				List: objects, Listed: true, Version: page.GetResourceVersion(),
			})
			return page.GetResourceVersion(), nil
		}
		options.Continue = page.GetContinue()
	}
}

// watch delivers events from version on until the stream ends, and returns the version that it came to. The error is
// nil when it can be resumed from there at once.
func (f *follower) watch(ctx context.Context, version string) (string, error) {
	began := time.Now()
	stream, err := f.On(f.resource, f.scope.Namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
	if err != nil {
		return version, fmt.Errorf("watch %s: %w", f.scope, err)
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		if event.Type == watch.Error {
			return version, fmt.Errorf("watch %s: %w", f.scope, apierrors.FromObject(event.Object))
		}
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			return version, fmt.Errorf("watch %s: event of unexpected type %T", f.scope, event.Object)
		}
		version = object.GetResourceVersion()
		update := Update{Scope: f.scope, State: Synced, Resource: f.resource, Version: version}
		if event.Type != watch.Bookmark {
			update.Event, update.Object = event.Type, object
		}
		f.deliver(update)
	}
	if time.Since(began) >= goodWatch {
		f.pause = firstPause
		return version, nil
	}
	// An end so soon is a server going down or a proxy that does not like us: do not spin, but keep the place.
	f.wait(ctx)
	return version, nil
}

func (f *follower) report(err error) {
	update := Update{Scope: f.scope, State: Lost, Resource: f.resource, Err: err}
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		update.State = Forbidden
	}
	f.Logger.Debug("watch lost", "scope", f.scope.String(), "error", err)
	f.deliver(update)
}

// wait pauses before the next attempt, longer each time.
func (f *follower) wait(ctx context.Context) {
	timer := time.NewTimer(f.pause/2 + rand.N(f.pause/2))
	defer timer.Stop()
	f.pause = min(2*f.pause, lastPause)
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
