package controlplane

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"
)

// A resizeState is what a kubelet says of a pod's resize.
type resizeState struct {
	inProgress bool
	deferred   string // why it cannot be begun yet; empty if it can
}

// observe takes a change of the spec in: a new image restarts its container; a new size is begun, if the node has room.
func (s *podSimulator) observe(ctx context.Context, pod *corev1.Pod, now metav1.Time) (resizeState, error) {
	wanted := false
	eachRunning(pod, func(c *corev1.Container, cs *corev1.ContainerStatus) {
		wanted = wanted || cs.Image == c.Image && !equality.Semantic.DeepEqual(cs.Resources, &c.Resources)
	})
	each(pod, func(c *corev1.Container, cs *corev1.ContainerStatus) {
		switch {
		case cs.Image != c.Image && cs.State.Running != nil:
			terminate(cs, now, 0, "Completed")
			cs.LastTerminationState = cs.State
			cs.RestartCount++
			cs.State = wait("ContainerCreating", "")
			s.event(pod, corev1.EventTypeNormal, "Killing", fmt.Sprintf("Container %s definition changed, will be restarted", c.Name))
		case cs.Image != c.Image && cs.State.Waiting != nil && reasonOf(cs) != "PodInitializing":
			cs.Image = c.Image
			cs.State = wait("ContainerCreating", "")
		}
	})
	if !wanted {
		return resizeState{}, nil
	}
	lack, err := s.addresses.lack(ctx, pod)
	if err != nil {
		return resizeState{}, err
	}
	if lack != "" {
		s.event(pod, corev1.EventTypeWarning, "ResizeDeferred", "Pod resize Deferred: "+lack)
		return resizeState{deferred: lack}, nil
	}
	s.event(pod, corev1.EventTypeNormal, "ResizeStarted", "Pod resize started")
	return resizeState{inProgress: true}, nil
}

// resize acts on new resources, restarting the containers whose policy wants it.
func (s *podSimulator) resize(pod *corev1.Pod, now metav1.Time) {
	eachRunning(pod, func(c *corev1.Container, cs *corev1.ContainerStatus) {
		if equality.Semantic.DeepEqual(cs.Resources, &c.Resources) {
			return
		}
		restart := slices.ContainsFunc(c.ResizePolicy, func(p corev1.ContainerResizePolicy) bool {
			changed := !quantity(c, p.ResourceName).Equal(quantityOf(cs.Resources, p.ResourceName))
			return changed && p.RestartPolicy == corev1.RestartContainer
		})
		if restart {
			terminate(cs, now, 0, "Completed")
			cs.LastTerminationState = cs.State
			cs.RestartCount++
			s.run(pod, c, cs, now)
		}
		cs.Resources, cs.AllocatedResources = c.Resources.DeepCopy(), c.Resources.Requests.DeepCopy()
	})
	s.event(pod, corev1.EventTypeNormal, "ResizeCompleted", "Pod resize completed")
}

// lack says what the pod's node has too little of for the pod's requests, beside those of the node's other pods, in the
// words of the kubelet; nothing if there is enough of all. A resize that lacks something is looked at again when the pod
// is changed; a kubelet tries again by itself.
func (a *addresses) lack(ctx context.Context, pod *corev1.Pod) (string, error) {
	node, err := a.kube.CoreV1().Nodes().Get(ctx, pod.Spec.NodeName, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	pods, err := a.kube.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node.Name})
	if err != nil {
		return "", err
	}
	wanted := resource.PodRequests(pod, resource.PodResourcesOptions{})
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		request, capacity := wanted[name], node.Status.Allocatable[name]
		used := capacity.DeepCopy()
		used.Sub(capacity)
		for i := range pods.Items {
			other := &pods.Items[i]
			if other.UID != pod.UID && other.Status.Phase != corev1.PodSucceeded && other.Status.Phase != corev1.PodFailed {
				used.Add(resource.PodRequests(other, resource.PodResourcesOptions{UseStatusResources: true})[name])
			}
		}
		need := request.DeepCopy()
		need.Add(used)
		if request.IsZero() || capacity.IsZero() || need.Cmp(capacity) <= 0 {
			continue
		}
		amount := func(q interface{ MilliValue() int64 }) int64 {
			if name == corev1.ResourceCPU {
				return q.MilliValue()
			}
			return q.MilliValue() / 1000
		}
		return fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", name, amount(&request), amount(&used), amount(&capacity)), nil
	}
	return "", nil
}
