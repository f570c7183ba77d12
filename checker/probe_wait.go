package checker

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	kwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/apilab/apilab/checker/explain"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/exercises/expr"
)

// defaultWait bounds a wait step that says nothing else.
const defaultWait = 10 * time.Second

// A waitError is a wait that ended without what was waited for.
type waitError struct {
	message string
	last    *unstructured.Unstructured
}

func (e *waitError) Error() string { return e.message }

// wait watches the object until the expectation holds of it.
func (p *prober) wait(ctx context.Context, step *exercises.WaitStep) (*unstructured.Unstructured, error) {
	within := step.Within
	if within == 0 {
		within = defaultWait
	}
	deadline, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	objects, err := p.at(ctx, step.ObjectRef)
	if err != nil {
		return nil, err
	}
	w := &waiting{step: step, objects: objects}
	for {
		done, err := w.follow(deadline)
		switch {
		case done:
			return w.last, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case deadline.Err() != nil:
			return nil, &waitError{fmt.Sprintf("after %s, %s", within, w.why()), w.last}
		case err != nil && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err):
			return nil, err
		}
	}
}

type waiting struct {
	step    *exercises.WaitStep
	objects dynamic.ResourceInterface
	last    *unstructured.Unstructured
}

// follow lists the object and watches it from there; it reports true when the expectation holds.
func (w *waiting) follow(ctx context.Context) (bool, error) {
	selector := fields.OneTermEqualSelector("metadata.name", w.step.Name).String()
	list, err := w.objects.List(ctx, metav1.ListOptions{FieldSelector: selector})
	if err != nil {
		return false, err
	}
	w.last = nil
	if len(list.Items) > 0 {
		w.last = &list.Items[0]
	}
	if w.holds() {
		return true, nil
	}
	stream, err := w.objects.Watch(ctx, metav1.ListOptions{FieldSelector: selector, ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		return false, err
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		if event.Type == kwatch.Error {
			return false, apierrors.FromObject(event.Object)
		}
		w.last, _ = event.Object.(*unstructured.Unstructured)
		if event.Type == kwatch.Deleted {
			w.last = nil
		}
		if w.holds() {
			return true, nil
		}
	}
	return false, nil
}

// why says what of the expectation does not hold.
func (w *waiting) why() string {
	subject := explain.Subject{Object: w.step.Resource + " " + w.step.Name}
	return explain.Why(w.step.Expression(), w.vars(), subject).Text
}

func (w *waiting) vars() expr.Vars { return expr.Vars{"object": value(w.last)} }

func (w *waiting) holds() bool {
	ok, err := w.step.Expression().Eval(w.vars())
	return ok && err == nil
}
