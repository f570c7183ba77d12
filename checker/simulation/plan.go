package simulation

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/exercises/expr"
)

// An action brings one thing to what its stage says of it.
type action struct {
	what string // that differs, for a message
	do   func(ctx context.Context) error
}

// applied is what the controller applied last, so that an API server that writes it down in another way ("1000m" as "1") is
// not asked for it for ever.
type applied struct {
	manifest [sha256.Size]byte
	uid      types.UID
	version  string // in which the object is as the manifest says, however it looks
}

// plan compares what a stage says with what is there, and returns what is to be done, in order. Its error is the author's.
func (r *runner) plan(p *primary, object *unstructured.Unstructured, stage *exercises.Stage, vars expr.Vars) ([]action, error) {
	var todo []action
	add := func(more []action, err error, part string) error {
		todo = append(todo, more...)
		if err != nil {
			return fmt.Errorf("the stage %q: %s%w", stage.Name, part, err)
		}
		return nil
	}
	if f := stage.Finalizers; f != nil {
		todo = append(todo, r.planFinalizers(object, missing(object, f.Add), nil)...)
	}
	for i := range stage.Apply {
		more, err := r.planApply(p, object, &stage.Apply[i], vars)
		if err := add(more, err, fmt.Sprintf("apply[%d]", i)); err != nil {
			return nil, err
		}
	}
	for i := range stage.Delete {
		more, err := r.planDelete(object, &stage.Delete[i], vars)
		if err := add(more, err, fmt.Sprintf("delete[%d]", i)); err != nil {
			return nil, err
		}
	}
	more, err := r.planPatch(object, stage.PatchTemplate(), vars)
	if err := add(more, err, "patch"); err != nil {
		return nil, err
	}
	more, err = r.planStatus(object, stage.StatusTemplate(), vars)
	if err := add(more, err, "status"); err != nil {
		return nil, err
	}
	if f := stage.Finalizers; f != nil {
		todo = append(todo, r.planFinalizers(object, nil, present(object, f.Remove))...)
	}
	return todo, nil
}

func missing(object *unstructured.Unstructured, finalizers []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool { return slices.Contains(object.GetFinalizers(), f) })
}

func present(object *unstructured.Unstructured, finalizers []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool { return !slices.Contains(object.GetFinalizers(), f) })
}

func (r *runner) planFinalizers(object *unstructured.Unstructured, add, remove []string) []action {
	if len(add)+len(remove) == 0 {
		return nil
	}
	return []action{{"metadata.finalizers", func(ctx context.Context) error { return r.setFinalizers(ctx, object, add, remove) }}}
}

func (r *runner) planApply(p *primary, object *unstructured.Unstructured, act *exercises.ApplyAct, vars expr.Vars) ([]action, error) {
	elements := []any{nil}
	if x := act.Elements(); x != nil {
		value, err := x.Value(vars)
		if err != nil {
			return nil, fmt.Errorf(".each: %w", err)
		}
		list, ok := value.([]any)
		if !ok {
			return nil, fmt.Errorf(".each is no list: %v", value)
		}
		elements = list
	}
	var todo []action
	for _, element := range elements {
		scope := expr.Vars{}
		for name, value := range vars {
			scope[name] = value
		}
		scope["each"] = element
		ok, err := holds(act.Condition(), scope)
		if err != nil {
			return nil, fmt.Errorf(".when: %w", err)
		}
		if !ok {
			continue
		}
		a, err := r.planManifest(p, object, act, scope)
		if err != nil {
			return nil, err
		}
		if a != nil {
			todo = append(todo, *a)
		}
	}
	return todo, nil
}

// planManifest returns how to apply one object, nil if that is as it should be.
func (r *runner) planManifest(p *primary, owner *unstructured.Unstructured, act *exercises.ApplyAct, vars expr.Vars) (*action, error) {
	want, err := render(act.Manifests(), vars)
	if err != nil {
		return nil, fmt.Errorf(".manifest%w", err)
	}
	what := fmt.Sprintf("%s %s", want.GetKind(), want.GetName())
	if want.GetKind() == "" || want.GetAPIVersion() == "" || want.GetName() == "" {
		return nil, fmt.Errorf(".manifest has no apiVersion, kind or metadata.name: %q", what)
	}
	resource, err := r.client.Resources.OfKind(r.ctx, want.GetAPIVersion(), want.GetKind())
	if err != nil {
		gv, _ := schema.ParseGroupVersion(want.GetAPIVersion())
		if !strings.Contains(gv.Group, ".") {
			return nil, fmt.Errorf(".manifest: %w", err)
		}
		return &action{what, func(context.Context) error { return err }}, nil // its CRD may come
	}
	if !resource.Namespaced {
		want.SetNamespace("")
	} else if want.GetNamespace() == "" {
		want.SetNamespace(owner.GetNamespace())
	}
	if act.Owned() {
		if owner.GetNamespace() != "" && owner.GetNamespace() != want.GetNamespace() {
			return nil, fmt.Errorf(".manifest: %s %s cannot own %s, which is not in its namespace: say `owner: false`", owner.GetKind(), owner.GetName(), what)
		}
		want.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())})
	}
	c := r.cacheOf(resource, want.GetNamespace())
	if c == nil {
		return nil, fmt.Errorf(".manifest: the controller does not see %s: name %s in owns or with", what, resource.GVR.GroupResource())
	}
	manifest, err := json.Marshal(want)
	if err != nil {
		return nil, fmt.Errorf(".manifest: %w", err)
	}
	key := resource.GVR.GroupResource().String() + "/" + keyOf(want)
	if !p.outdated(key, manifest, want, c.objects[keyOf(want)]) {
		return nil, nil
	}
	return &action{what, func(ctx context.Context) error {
		made, err := r.client.On(resource, want.GetNamespace()).Patch(ctx, want.GetName(), types.ApplyPatchType, manifest, metav1.PatchOptions{FieldManager: r.Name, Force: new(true)})
		if err != nil {
			return fmt.Errorf("apply %s: %w", what, err)
		}
		c.wrote(made)
		p.applied[key] = applied{sha256.Sum256(manifest), made.GetUID(), made.GetResourceVersion()}
		return nil
	}}, nil
}

// outdated reports whether a manifest is to be applied, live being what there is.
func (p *primary) outdated(key string, manifest []byte, want, live *unstructured.Unstructured) bool {
	if live == nil {
		return true
	}
	if live.GetDeletionTimestamp() != nil {
		return false // it is going: the next one comes after it
	}
	sum := sha256.Sum256(manifest)
	last, known := p.applied[key]
	if !known || last.uid != live.GetUID() {
		if !within(want.Object, live.Object) {
			return true
		}
		p.applied[key] = applied{sum, live.GetUID(), live.GetResourceVersion()} // of a former run of this controller
		return false
	}
	if last.manifest != sum {
		return true // also what it does not say any more has to go
	}
	return last.version != live.GetResourceVersion() && !within(want.Object, live.Object)
}

// render evaluates the layers of a manifest, without the fields that are null.
func render(layers []*expr.Template, vars expr.Vars) (*unstructured.Unstructured, error) {
	whole := map[string]any{}
	for _, layer := range layers {
		value, err := layer.Render(vars)
		if err != nil {
			return nil, err
		}
		object, ok := value.(map[string]any)
		if !ok {
			return nil, fmt.Errorf(" is %v, which is no object", value)
		}
		whole = over(whole, object)
	}
	return &unstructured.Unstructured{Object: withoutNulls(whole).(map[string]any)}, nil
}

func (r *runner) planDelete(object *unstructured.Unstructured, act *exercises.DeleteAct, vars expr.Vars) ([]action, error) {
	i := slices.IndexFunc(r.sets, func(s set) bool { return s.name == act.From })
	var todo []action
	for _, member := range r.sets[i].members(object) {
		scope := expr.Vars{}
		for name, value := range vars {
			scope[name] = value
		}
		scope["each"] = member.Object
		ok, err := holds(act.Condition(), scope)
		if err != nil {
			return nil, fmt.Errorf(".when: %w", err)
		}
		if ok && member.GetDeletionTimestamp() == nil {
			todo = append(todo, action{member.GetKind() + " " + member.GetName(), func(ctx context.Context) error {
				return r.remove(ctx, r.sets[i].cache, member)
			}})
		}
	}
	return todo, nil
}

func (r *runner) planPatch(object *unstructured.Unstructured, template *expr.Template, vars expr.Vars) ([]action, error) {
	if template == nil {
		return nil, nil
	}
	value, err := template.Render(vars)
	if err != nil {
		return nil, err
	}
	patch := value.(map[string]any)
	path, differs := difference(object.Object, merge(object.Object, patch), "")
	if !differs {
		return nil, nil
	}
	return []action{{path, func(ctx context.Context) error { return r.patch(ctx, object, patch, path) }}}, nil
}

func (r *runner) planStatus(object *unstructured.Unstructured, template *expr.Template, vars expr.Vars) ([]action, error) {
	if template == nil {
		return nil, nil
	}
	value, err := template.Render(vars)
	if err != nil {
		return nil, err
	}
	status := value.(map[string]any)
	current, _, _ := unstructured.NestedMap(object.Object, "status")
	if conditions, ok := status["conditions"].([]any); ok {
		have, _ := current["conditions"].([]any)
		if status["conditions"], err = mergeConditions(have, conditions); err != nil {
			return nil, err
		}
	}
	path, differs := difference(map[string]any{"status": nonNil(current)}, map[string]any{"status": merge(current, status)}, "")
	if !differs {
		return nil, nil
	}
	return []action{{path, func(ctx context.Context) error { return r.patchStatus(ctx, object, status, path) }}}, nil
}

func nonNil(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
