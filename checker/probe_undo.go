package checker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

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
