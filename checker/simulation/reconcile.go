package simulation

import (
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/apilab/apilab/checker/explain"
	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/exercises/expr"
)

// Bounds, so that no mistake of an author makes a controller run hot.
const (
	maxRate  = 20 // requests a second of one controller, on average
	maxBurst = 40

	maxActs     = 20          // of one stage without rest, until it counts as one that never comes to it
	maxRestless = 60          // acts of any stages without rest, until they are slowed down
	slowPace    = time.Second // of those
	patience    = 3           // failures in a row until they are told
	firstPause  = 200 * time.Millisecond
	lastPause   = 10 * time.Second
)

// reconcile looks at one object and acts if there is something to do and its time has come. It returns after how long to
// look again, 0 if only when something changes.
func (r *runner) reconcile(p *primary, object *unstructured.Unstructured) time.Duration {
	vars := r.vars(object)
	if wait := time.Until(p.due); p.failures > 0 && wait > 0 {
		return wait
	}
	i, err := r.choose(object, vars)
	if err != nil {
		return p.broken(err)
	}
	if i < 0 {
		return p.rest()
	}
	stage := &r.Stages[i]
	todo, err := r.plan(p, object, stage, vars)
	if err != nil {
		return p.broken(err)
	}
	p.entered(i, stage, vars, len(todo) == 0)
	if len(todo) == 0 {
		return p.rest()
	}
	if p.stage != i {
		p.stage, p.acts, p.due = i, 0, time.Now().Add(stage.Delay)
	}
	if wait := time.Until(p.due); wait > 0 {
		return wait
	}
	if err := r.act(p, object, i, todo, vars); err != nil {
		return p.failed(stage, err)
	}
	p.failures, p.problem = 0, ""
	p.acts++
	p.restless++
	pause := time.Millisecond
	if p.acts >= maxActs {
		p.problem = fmt.Sprintf("the stage %q never comes to rest: %s differs each time", stage.Name, todo[0].what)
		pause = lastPause
	} else if p.restless >= maxRestless {
		pause = slowPace
	}
	p.due = time.Now().Add(pause)
	return pause
}

// rest is where all is as it should be.
func (p *primary) rest() time.Duration {
	p.stage, p.acts, p.restless, p.failures, p.problem = -1, 0, 0, 0, ""
	return 0
}

// broken is a mistake of the author's: it stays until something changes.
func (p *primary) broken(err error) time.Duration {
	p.rest()
	p.problem = err.Error()
	return 0
}

// failed is a write that did not go well: it is tried again.
func (p *primary) failed(stage *exercises.Stage, err error) time.Duration {
	p.failures++
	pause := min(firstPause<<min(p.failures-1, 10), lastPause)
	var mistake *mistakeError
	switch {
	case errors.As(err, &mistake):
		p.failures = max(p.failures, patience)
		p.problem = fmt.Sprintf("the stage %q: %v", stage.Name, err)
	case p.failures >= patience && !passes(err):
		p.problem = fmt.Sprintf("the stage %q: %v", stage.Name, err)
	}
	p.due = time.Now().Add(pause)
	return pause
}

// A mistakeError is the author's, and not of the moment.
type mistakeError struct{ message string }

func (e *mistakeError) Error() string { return e.message }

func mistake(format string, args ...any) error { return &mistakeError{fmt.Sprintf(format, args...)} }

// passes reports whether an error is of the moment: somebody else wrote, something is going or not there yet, or the API
// server is away.
func passes(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true
	}
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsInternalError(err) || meta.IsNoMatchError(err) ||
		apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || status.Status().Code >= 500
}

// vars are the values of the variables of the controller's expressions.
func (r *runner) vars(object *unstructured.Unstructured) expr.Vars {
	vars := expr.Vars{"object": object.Object, "each": nil, "now": time.Now().UTC().Truncate(time.Second)}
	for _, s := range r.sets {
		list := []any{}
		for _, member := range s.members(object) {
			list = append(list, member.Object)
		}
		vars[s.name] = list
	}
	return vars
}

func (s *set) members(owner *unstructured.Unstructured) []*unstructured.Unstructured {
	var members []*unstructured.Unstructured
	for _, object := range s.cache.list() {
		switch {
		case s.owned && !owns(owner, object),
			s.object != "" && object.GetName() != s.object,
			!s.selector.Matches(labels.Set(object.GetLabels())):
		default:
			members = append(members, object)
		}
	}
	return members
}

func owns(owner, object *unstructured.Unstructured) bool {
	for _, reference := range object.GetOwnerReferences() {
		if reference.UID == owner.GetUID() {
			return true
		}
	}
	return false
}

// choose returns the index of the first stage that fits, -1 if none does.
func (r *runner) choose(object *unstructured.Unstructured, vars expr.Vars) (int, error) {
	deleting := object.GetDeletionTimestamp() != nil
	for i := range r.Stages {
		stage := &r.Stages[i]
		if stage.Deleting != deleting {
			continue
		}
		ok, err := holds(stage.Condition(), vars)
		if err != nil {
			return -1, fmt.Errorf("the stage %q: when: %w", stage.Name, err)
		}
		if ok {
			return i, nil
		}
	}
	return -1, nil
}

// holds evaluates a condition, which may be nil. What is not there makes it not hold; other errors are the author's.
func holds(x *expr.Expression, vars expr.Vars) (bool, error) {
	if x == nil {
		return true, nil
	}
	ok, err := x.Eval(vars)
	if err == nil {
		return ok, nil
	}
	if reason := explain.Why(x, vars, explain.Subject{}); reason.Broken {
		return false, errors.New(reason.Text)
	}
	return false, nil
}

// cacheOf returns the cache in which the objects of a resource in a namespace are, nil if none is followed.
func (r *runner) cacheOf(resource watch.Resource, namespace string) *cache {
	name := resource.GVR.GroupResource().String()
	full := resource.GVR.Resource + "." + resource.GVR.Version + strings.TrimRight("."+resource.GVR.Group, ".")
	for _, c := range r.caches {
		everywhere := c.scope.Namespace == "" || !resource.Namespaced
		if (c.scope.Resource == name || c.scope.Resource == full) && (everywhere || c.scope.Namespace == namespace) {
			return c
		}
	}
	return nil
}
