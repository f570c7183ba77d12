package controlplane

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// phase is what the containers amount to, as in the kubelet's getPhase.
func phase(pod *corev1.Pod) corev1.PodPhase {
	var started, running, failed, restarting, sidecars int
	eachInit(pod, func(_ *corev1.Container, cs *corev1.ContainerStatus) {
		if cs.State.Running != nil {
			sidecars++
		}
	})
	for _, cs := range pod.Status.ContainerStatuses {
		switch {
		case cs.State.Running != nil:
			running++
			started++
		case cs.State.Terminated != nil:
			started++
			again := pod.DeletionTimestamp == nil && (pod.Spec.RestartPolicy == corev1.RestartPolicyAlways ||
				pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && cs.State.Terminated.ExitCode != 0)
			if again {
				restarting++
			} else if cs.State.Terminated.ExitCode != 0 {
				failed++
			}
		case cs.LastTerminationState.Terminated != nil:
			started++
			restarting++
		}
	}
	switch {
	case started < len(pod.Spec.Containers):
		return corev1.PodPending
	case running > 0 || restarting > 0 || sidecars > 0:
		return corev1.PodRunning
	case failed > 0:
		return corev1.PodFailed
	default:
		return corev1.PodSucceeded
	}
}

// conditions are those that a kubelet owns; each keeps its transition time while its status stays.
func conditions(pod *corev1.Pod, now metav1.Time, resize resizeState) []any {
	var unready, uninitialised []string
	eachInit(pod, func(c *corev1.Container, cs *corev1.ContainerStatus) {
		if isSidecar(c) && !cs.Ready {
			unready = append(unready, c.Name)
		}
		if !isInitialized(c, cs) {
			uninitialised = append(uninitialised, c.Name)
		}
	})
	for _, cs := range pod.Status.ContainerStatuses {
		if !cs.Ready {
			unready = append(unready, cs.Name)
		}
		if cs.State.Running != nil || cs.State.Terminated != nil || cs.LastTerminationState.Terminated != nil {
			uninitialised = nil // what has started once has been initialised, whatever became of its sidecars
		}
	}
	done := pod.Status.Phase == corev1.PodSucceeded
	out := []any{
		condition(pod, now, corev1.PodReadyToStartContainers, pod.Status.PodIP != "" && !done && pod.Status.Phase != corev1.PodFailed, "", ""),
		condition(pod, now, corev1.PodInitialized, len(uninitialised) == 0, "ContainersNotInitialized", "containers with incomplete status: ["+strings.Join(uninitialised, " ")+"]"),
	}
	reason, message := "ContainersNotReady", "containers with unready status: ["+strings.Join(unready, " ")+"]"
	if done {
		reason, message = "PodCompleted", ""
	}
	ready := len(unready) == 0 && pod.Status.Phase == corev1.PodRunning
	out = append(out, condition(pod, now, corev1.ContainersReady, ready, reason, message))
	for _, gate := range pod.Spec.ReadinessGates {
		if ready && !isTrue(pod, gate.ConditionType) {
			ready, reason, message = false, "ReadinessGatesNotReady", fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate.ConditionType)
		}
	}
	out = append(out, condition(pod, now, corev1.PodReady, ready, reason, message))

	switch {
	case resize.inProgress:
		out = append(out, condition(pod, now, corev1.PodResizeInProgress, true, "", ""))
	case isTrue(pod, corev1.PodResizeInProgress):
		out = append(out, absent(corev1.PodResizeInProgress))
	}
	switch {
	case resize.deferred != "":
		pending := condition(pod, now, corev1.PodResizePending, true, "", "")
		pending["reason"], pending["message"] = corev1.PodReasonDeferred, resize.deferred
		out = append(out, pending)
	case hasCondition(pod, corev1.PodResizePending):
		out = append(out, absent(corev1.PodResizePending))
	}
	return out
}

// condition sets reason and message only where the status is not the good one. Its result is for a strategic merge patch,
// where a field that is left out stays: what the old condition gave as its reason is taken back by name.
func condition(pod *corev1.Pod, now metav1.Time, kind corev1.PodConditionType, ok bool, reason, message string) map[string]any {
	c := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, ObservedGeneration: pod.Generation, LastTransitionTime: now, Reason: reason, Message: message}
	if ok {
		c.Status, c.Reason, c.Message = corev1.ConditionTrue, "", ""
	}
	for _, old := range pod.Status.Conditions {
		if old.Type == kind && old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
	}
	patch := map[string]any{
		"type": c.Type, "status": c.Status, "observedGeneration": c.ObservedGeneration, "lastTransitionTime": c.LastTransitionTime,
	}
	for field, value := range map[string]string{"reason": c.Reason, "message": c.Message} {
		if value != "" {
			patch[field] = value
		} else if hasCondition(pod, kind) {
			patch[field] = nil
		}
	}
	return patch
}

func hasCondition(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
}

// absent removes a condition by a strategic merge patch.
func absent(kind corev1.PodConditionType) map[string]any {
	return map[string]any{"type": kind, "$patch": "delete"}
}

func isTrue(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func messageOf(pod *corev1.Pod, kind corev1.PodConditionType) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c.Message
		}
	}
	return ""
}

func quantity(c *corev1.Container, name corev1.ResourceName) resource.Quantity {
	return quantityOf(&c.Resources, name)
}

// quantityOf is what matters of a resource to its container: the limit, else the request.
func quantityOf(r *corev1.ResourceRequirements, name corev1.ResourceName) resource.Quantity {
	if r == nil {
		return resource.Quantity{}
	}
	if q, ok := r.Limits[name]; ok {
		return q
	}
	return r.Requests[name]
}
