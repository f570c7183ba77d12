package checker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
)

// probeManager is the field manager of what a probe writes.
const probeManager = "apilab-probe"

// A probeOutcome is what came of a probe's steps.
type probeOutcome struct {
	results []any  // of the steps that were taken: {ok, code, reason, message, object, requests}
	missed  string // the step that did not go as it should, which was the last one
	err     error  // the steps could not be taken at all
}

// A prober takes the steps of one run, and remembers how to take them back.
type prober struct {
	client   *watch.Client
	observer observer
	undo     []func(context.Context) error
}

// runProbe takes the steps in order until one does not go as it should, and takes back what they did.
func runProbe(ctx context.Context, client *watch.Client, records Records, probe *exercises.Probe) *probeOutcome {
	p := &prober{client: client, observer: newObserver(records)}
	defer p.cleanUp(ctx)
	outcome := &probeOutcome{}
	for i := range probe.Steps {
		step := &probe.Steps[i]
		object, err := p.take(ctx, step)
		if err != nil && !answered(err) {
			outcome.err = fmt.Errorf("%s, could not be taken: %w", nameStep(probe, i), err)
			return outcome
		}
		result, missed := judgeStep(step, object, err)
		result["requests"] = p.observer.taken()
		outcome.results = append(outcome.results, result)
		if missed != "" {
			outcome.missed = nameStep(probe, i) + ": " + missed
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
		missed = fmt.Sprintf("the API server took it (%s); it has to refuse it", answerWords(code, reason))
	case err != nil && !step.Refused && step.Wait != nil:
		missed = message
	case err != nil && !step.Refused:
		missed = fmt.Sprintf("the API server refused it (%s); it has to take it: %s", answerWords(code, reason), message)
	}
	return map[string]any{
		"ok": missed == "", "code": code, "reason": reason, "message": message, "object": value(object),
	}, missed
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
	case step.Observe != nil:
		return nil, p.observer.observe(ctx, step.Observe.For)
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
