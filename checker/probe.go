package checker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/apilab/apilab/checker/explain"
	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/exercises/expr"
)

// probeManager is the field manager of what a probe writes.
const probeManager = "apilab-probe"

// defaultWait bounds a wait step that says nothing else.
const defaultWait = 10 * time.Second

// A probeOutcome is what came of a probe's steps.
type probeOutcome struct {
	results []any  // of the steps that were taken: {ok, code, reason, message, object}
	missed  string // the step that did not go as it should, which was the last one
	err     error  // the steps could not be taken at all
}

// A prober takes the steps of one run, and remembers how to take them back.
type prober struct {
	client *watch.Client
	undo   []func(context.Context) error
}

// runProbe takes the steps in order until one does not go as it should, and takes back what they did.
func runProbe(ctx context.Context, client *watch.Client, probe *exercises.Probe) *probeOutcome {
	p := &prober{client: client}
	defer p.cleanUp(ctx)
	outcome := &probeOutcome{}
	for i := range probe.Steps {
		step := &probe.Steps[i]
		object, err := p.take(ctx, step)
		if err != nil && !answered(err) {
			outcome.err = fmt.Errorf("step %d, %s, could not be taken: %w", i+1, describe(step), err)
			return outcome
		}
		result, missed := judgeStep(step, object, err)
		outcome.results = append(outcome.results, result)
		if missed != "" {
			outcome.missed = fmt.Sprintf("step %d, %s: %s", i+1, describe(step), missed)
			return outcome
		}
	}
	return outcome
}

// answered reports whether an error is the API server's answer, or a wait that was in vain.
func answered(err error) bool {
	return errors.As(err, new(apierrors.APIStatus)) || errors.As(err, new(*waitError)) || errors.As(err, new(*watch.UnknownResourceError)) || errors.As(err, new(*unknownKindError))
}

type unknownKindError struct{ error }

// judgeStep returns the result of a step as expressions see it, and what was wrong with it, if anything was.
func judgeStep(step *exercises.Step, object *unstructured.Unstructured, err error) (result map[string]any, missed string) {
	code, reason, message := int64(http.StatusOK), "", ""
	if step.Create != nil {
		code = http.StatusCreated
	}
	if err != nil {
		code, reason, message = http.StatusNotFound, string(metav1.StatusReasonNotFound), err.Error()
		var status apierrors.APIStatus
		var waited *waitError
		switch {
		case errors.As(err, &status):
			code, reason, message = int64(status.Status().Code), string(status.Status().Reason), status.Status().Message
		case errors.As(err, &waited):
			code, reason = http.StatusGatewayTimeout, string(metav1.StatusReasonTimeout)
			object = waited.last
		}
	}
	switch {
	case err == nil && step.Refused:
		missed = "the API server took it; it has to refuse it"
	case err != nil && !step.Refused && step.Wait != nil:
		missed = message
	case err != nil && !step.Refused:
		missed = "the API server refused it: " + message
	}
	return map[string]any{
		"ok": missed == "", "code": code, "reason": reason, "message": message, "object": value(object),
	}, missed
}

// describe names a step: "create Widget probe".
func describe(step *exercises.Step) string {
	name := func(m map[string]any) string {
		u := unstructured.Unstructured{Object: m}
		name := u.GetName()
		if name == "" {
			name = u.GetGenerateName() + "…"
		}
		return u.GetKind() + " " + name
	}
	var what string
	switch {
	case step.Create != nil:
		what = name(step.Create)
	case step.Apply != nil:
		what = name(step.Apply)
	case step.Patch != nil:
		what = step.Patch.Resource + " " + step.Patch.Name
	case step.Delete != nil:
		what = step.Delete.Resource + " " + step.Delete.Name
	case step.Wait != nil:
		what = "for " + step.Wait.Resource + " " + step.Wait.Name
	}
	return step.Verb() + " " + what
}

func (p *prober) take(ctx context.Context, step *exercises.Step) (*unstructured.Unstructured, error) {
	var dryRun []string
	if step.DryRun {
		dryRun = []string{metav1.DryRunAll}
	}
	switch {
	case step.Create != nil:
		return p.create(ctx, step.Create, dryRun)
	case step.Apply != nil:
		return p.apply(ctx, step.Apply, dryRun)
	case step.Patch != nil:
		return p.patch(ctx, step.Patch, dryRun)
	case step.Delete != nil:
		objects, err := p.at(ctx, *step.Delete)
		if err != nil {
			return nil, err
		}
		return nil, objects.Delete(ctx, step.Delete.Name, metav1.DeleteOptions{DryRun: dryRun})
	default:
		return p.wait(ctx, step.Wait)
	}
}

// at returns the way to the objects among which the reference's is.
func (p *prober) at(ctx context.Context, ref exercises.ObjectRef) (dynamic.ResourceInterface, error) {
	resource, err := p.client.Resources.Resolve(ctx, ref.Resource)
	if err != nil {
		return nil, err
	}
	return p.client.On(resource, ref.Namespace), nil
}

// manifest returns a copy of a manifest and the way to where it belongs.
func (p *prober) manifest(ctx context.Context, m map[string]any) (*unstructured.Unstructured, dynamic.ResourceInterface, error) {
	object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(m)}
	resource, err := p.client.Resources.OfKind(ctx, object.GetAPIVersion(), object.GetKind())
	if err != nil {
		return nil, nil, &unknownKindError{err}
	}
	if resource.Namespaced && object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
	return object, p.client.On(resource, object.GetNamespace()), nil
}

func mark(object *unstructured.Unstructured) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[probeMark] = "true"
	object.SetAnnotations(annotations)
}

func (p *prober) create(ctx context.Context, m map[string]any, dryRun []string) (*unstructured.Unstructured, error) {
	object, objects, err := p.manifest(ctx, m)
	if err != nil {
		return nil, err
	}
	if dryRun == nil {
		mark(object)
	}
	made, err := objects.Create(ctx, object, metav1.CreateOptions{FieldManager: probeManager, DryRun: dryRun})
	if err == nil && dryRun == nil {
		p.deleteLater(objects, made)
	}
	return made, err
}

func (p *prober) apply(ctx context.Context, m map[string]any, dryRun []string) (*unstructured.Unstructured, error) {
	object, objects, err := p.manifest(ctx, m)
	if err != nil {
		return nil, err
	}
	before, err := objects.Get(ctx, object.GetName(), metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	isNew := err != nil
	if isNew && dryRun == nil {
		mark(object)
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	force := true
	made, err := objects.Patch(ctx, object.GetName(), types.ApplyPatchType, data,
		metav1.PatchOptions{FieldManager: probeManager, Force: &force, DryRun: dryRun})
	switch {
	case err != nil || dryRun != nil:
	case isNew:
		p.deleteLater(objects, made)
	default:
		p.restoreLater(objects, before, made)
	}
	return made, err
}

var patchTypes = map[string]types.PatchType{
	"": types.MergePatchType, "merge": types.MergePatchType, "json": types.JSONPatchType, "strategic": types.StrategicMergePatchType,
}

func (p *prober) patch(ctx context.Context, step *exercises.PatchStep, dryRun []string) (*unstructured.Unstructured, error) {
	objects, err := p.at(ctx, step.ObjectRef)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(step.Body)
	if err != nil {
		return nil, fmt.Errorf("encode patch: %w", err)
	}
	before, err := objects.Get(ctx, step.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	var sub []string
	if step.Subresource != "" {
		sub = []string{step.Subresource}
	}
	after, err := objects.Patch(ctx, step.Name, patchTypes[step.Type], data, metav1.PatchOptions{FieldManager: probeManager, DryRun: dryRun}, sub...)
	if err == nil && dryRun == nil {
		p.restoreLater(objects, before, after, sub...)
	}
	return after, err
}

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

// cleanUp takes the steps back, the last one first, also when the run was cut short.
func (p *prober) cleanUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	for _, undo := range slices.Backward(p.undo) {
		if err := undo(ctx); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			p.client.Logger.Warn("probe not cleaned up", "error", err)
		}
	}
}

func (p *prober) deleteLater(objects dynamic.ResourceInterface, made *unstructured.Unstructured) {
	uid, background := made.GetUID(), metav1.DeletePropagationBackground
	p.undo = append(p.undo, func(ctx context.Context) error {
		return objects.Delete(ctx, made.GetName(), metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background,
		})
	})
}

// restoreLater sets the fields that a step changed back to what they were, and no others.
func (p *prober) restoreLater(objects dynamic.ResourceInterface, before, after *unstructured.Unstructured, sub ...string) {
	back, ok := difference(after.Object, before.Object)
	if !ok {
		return
	}
	back = strip(back, len(sub) > 0 && sub[0] == "status")
	if len(back) == 0 {
		return
	}
	metadata, _ := back["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		back["metadata"] = metadata
	}
	metadata["uid"] = string(before.GetUID()) // another object of the name is left alone
	p.undo = append(p.undo, func(ctx context.Context) error {
		data, err := json.Marshal(back)
		if err != nil {
			return fmt.Errorf("encode patch: %w", err)
		}
		_, err = objects.Patch(ctx, before.GetName(), types.MergePatchType, data, metav1.PatchOptions{FieldManager: probeManager}, sub...)
		return err
	})
}

// difference returns the merge patch (RFC 7386) that makes to of from.
func difference(from, to map[string]any) (map[string]any, bool) {
	patch := map[string]any{}
	for key := range from {
		if _, ok := to[key]; !ok {
			patch[key] = nil
		}
	}
	for key, want := range to {
		have, ok := from[key]
		if haveMap, isMap := have.(map[string]any); ok && isMap {
			if wantMap, isMap := want.(map[string]any); isMap {
				if inner, changed := difference(haveMap, wantMap); changed {
					patch[key] = inner
				}
				continue
			}
		}
		if !ok || !sameJSON(have, want) {
			patch[key] = want
		}
	}
	return patch, len(patch) > 0
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// strip leaves out what the API server sets itself, and the part that the endpoint does not write.
func strip(patch map[string]any, status bool) map[string]any {
	if status {
		if s, ok := patch["status"]; ok {
			return map[string]any{"status": s}
		}
		return nil
	}
	delete(patch, "status")
	if metadata, ok := patch["metadata"].(map[string]any); ok {
		for key := range metadata {
			if !strings.Contains(" labels annotations finalizers ownerReferences ", " "+key+" ") {
				delete(metadata, key)
			}
		}
		if len(metadata) == 0 {
			delete(patch, "metadata")
		}
	}
	return patch
}
