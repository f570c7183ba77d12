package controlplane

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// isSidecar tells of an init container whether it is to run on beside the others.
func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// isInitialized tells whether the next container may start: an init container has ended, or a sidecar has started.
func isInitialized(c *corev1.Container, cs *corev1.ContainerStatus) bool {
	if isSidecar(c) {
		return cs.State.Running != nil && ptr.Deref(cs.Started, false)
	}
	return cs.State.Terminated != nil
}

// eachInit visits the init containers with their status.
func eachInit(pod *corev1.Pod, visit func(*corev1.Container, *corev1.ContainerStatus)) {
	for i := range min(len(pod.Spec.InitContainers), len(pod.Status.InitContainerStatuses)) {
		visit(&pod.Spec.InitContainers[i], &pod.Status.InitContainerStatuses[i])
	}
}

// eachRunning visits the sidecars and containers that run, with their status.
func eachRunning(pod *corev1.Pod, visit func(*corev1.Container, *corev1.ContainerStatus)) {
	running := func(c *corev1.Container, cs *corev1.ContainerStatus) {
		if cs.State.Running != nil {
			visit(c, cs)
		}
	}
	eachInit(pod, running)
	each(pod, running)
}

// advanceInit takes the init containers one step further: the first that is not done starts, or ends, or, if it is a
// sidecar that has a startup probe, is found to have started. Behind the last one come the others.
func (s *podSimulator) advanceInit(pod *corev1.Pod, now metav1.Time) {
	stepped := false
	for i := range pod.Spec.InitContainers {
		c, cs := &pod.Spec.InitContainers[i], &pod.Status.InitContainerStatuses[i]
		if isInitialized(c, cs) {
			continue
		}
		if stepped {
			return
		}
		switch {
		case cs.State.Running == nil:
			s.run(pod, c, cs, now)
		case isSidecar(c):
			cs.Started = ptr.To(true)
		default:
			terminate(cs, now, 0, "Completed")
			cs.Ready = true
		}
		if stepped = true; !isInitialized(c, cs) {
			return
		}
	}
	each(pod, func(_ *corev1.Container, cs *corev1.ContainerStatus) { cs.State = wait("ContainerCreating", "") })
}

// stopSidecars ends what still runs of the init containers. (A kubelet ends them one by one, the last first.)
func (s *podSimulator) stopSidecars(pod *corev1.Pod, now metav1.Time) {
	eachInit(pod, func(c *corev1.Container, cs *corev1.ContainerStatus) {
		if cs.State.Running != nil {
			s.event(pod, corev1.EventTypeNormal, "Killing", "Stopping container "+c.Name)
			terminate(cs, now, 0, "Completed")
		}
	})
}
