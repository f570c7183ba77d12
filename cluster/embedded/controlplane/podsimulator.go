package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

// A podSimulator tells what a kubelet would make of a pod's status at each step of its life. It keeps no state but the
// addresses that it gave out; the stages decide when a step is due.
type podSimulator struct {
	clock     clock.PassiveClock
	addresses *addresses
	recorder  record.EventRecorder
}

// newPodSimulator returns a simulator that records events with event, which may be nil.
func newPodSimulator(clock clock.PassiveClock, addresses *addresses, event record.EventRecorder) *podSimulator {
	return &podSimulator{clock: clock, addresses: addresses, recorder: event}
}

func (s *podSimulator) event(pod *corev1.Pod, kind, reason, message string) {
	if s.recorder != nil {
		s.recorder.Event(pod, kind, reason, message)
	}
}

// render is the function PodStatus of the stages' templates: a strategic merge patch of the status, in JSON.
func (s *podSimulator) render(step string, object any) (string, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return "", err
	}
	pod := &corev1.Pod{}
	if err := json.Unmarshal(raw, pod); err != nil {
		return "", fmt.Errorf("decode pod: %w", err)
	}
	patch, err := s.step(step, pod)
	if err != nil {
		return "", err
	}
	out, err := json.Marshal(patch)
	return string(out), err
}

// step changes pod.Status as the step does and returns the part of it that a kubelet owns.
func (s *podSimulator) step(step string, pod *corev1.Pod) (map[string]any, error) {
	now := metav1.NewTime(s.clock.Now().UTC().Truncate(time.Second))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	node, err := s.addresses.node(ctx, pod.Spec.NodeName)
	if err != nil {
		return nil, fmt.Errorf("look up node %s: %w", pod.Spec.NodeName, err)
	}
	status := &pod.Status
	resize := resizeState{inProgress: isTrue(pod, corev1.PodResizeInProgress), deferred: messageOf(pod, corev1.PodResizePending)}
	switch step {
	case "accept":
		status.StartTime = &now
		status.InitContainerStatuses = waiting(pod.Spec.InitContainers, "PodInitializing")
		reason := "ContainerCreating"
		if len(pod.Spec.InitContainers) > 0 {
			reason = "PodInitializing"
		}
		status.ContainerStatuses = waiting(pod.Spec.Containers, reason)
	case "init":
		s.advanceInit(pod, now)
	case "start":
		ip, err := s.addresses.pod(ctx, pod)
		if err != nil {
			return nil, err
		}
		status.PodIP, status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
		s.startContainers(pod, now)
	case "image-back-off":
		each(pod, func(c *corev1.Container, cs *corev1.ContainerStatus) {
			if reasonOf(cs) == "ErrImagePull" {
				cs.State = wait("ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q", c.Image))
				s.event(pod, corev1.EventTypeWarning, "BackOff", cs.State.Waiting.Message)
			}
		})
	case "ready":
		eachRunning(pod, func(_ *corev1.Container, cs *corev1.ContainerStatus) {
			cs.Ready, cs.Started = true, ptr.To(true)
		})
	case "finish":
		s.finish(pod, now)
	case "back-off":
		s.backOff(pod)
	case "restart":
		each(pod, func(c *corev1.Container, cs *corev1.ContainerStatus) {
			if reasonOf(cs) == "CrashLoopBackOff" {
				cs.RestartCount++
				s.run(pod, c, cs, now)
			}
		})
	case "observe":
		if resize, err = s.observe(ctx, pod, now); err != nil {
			return nil, err
		}
	case "resize":
		s.resize(pod, now)
		resize.inProgress = false
	case "stop-sidecars":
		s.stopSidecars(pod, now)
	case "stop":
		s.stop(pod, now)
	default:
		return nil, fmt.Errorf("unknown step %q", step)
	}
	status.ObservedGeneration = pod.Generation
	return patch(pod, node.ip, now, resize), nil
}

// patch sums the containers up into phase and conditions.
func patch(pod *corev1.Pod, hostIP string, now metav1.Time, resize resizeState) map[string]any {
	status := &pod.Status
	status.Phase = phase(pod)
	out := map[string]any{
		"phase":              status.Phase,
		"observedGeneration": status.ObservedGeneration,
		"startTime":          status.StartTime,
		"containerStatuses":  status.ContainerStatuses,
		"conditions":         conditions(pod, now, resize),
	}
	if len(status.InitContainerStatuses) > 0 {
		out["initContainerStatuses"] = status.InitContainerStatuses
	}
	if hostIP != "" {
		out["hostIP"], out["hostIPs"] = hostIP, []corev1.HostIP{{IP: hostIP}}
	}
	if status.PodIP != "" {
		out["podIP"], out["podIPs"] = status.PodIP, status.PodIPs
	}
	return out
}

// each visits the containers with their status.
func each(pod *corev1.Pod, visit func(*corev1.Container, *corev1.ContainerStatus)) {
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		for j := range pod.Status.ContainerStatuses {
			if cs := &pod.Status.ContainerStatuses[j]; cs.Name == c.Name {
				visit(c, cs)
			}
		}
	}
}

func waiting(containers []corev1.Container, reason string) []corev1.ContainerStatus {
	out := make([]corev1.ContainerStatus, 0, len(containers))
	for _, c := range containers {
		started := false
		out = append(out, corev1.ContainerStatus{Name: c.Name, Image: c.Image, State: wait(reason, ""), Started: &started})
	}
	return out
}

func wait(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func reasonOf(cs *corev1.ContainerStatus) string {
	if cs.State.Waiting == nil {
		return ""
	}
	return cs.State.Waiting.Reason
}

// startContainers starts those that have not run, if their image can be pulled.
func (s *podSimulator) startContainers(pod *corev1.Pod, now metav1.Time) {
	each(pod, func(c *corev1.Container, cs *corev1.ContainerStatus) {
		if cs.State.Waiting == nil {
			return
		}
		s.event(pod, corev1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", c.Image))
		if !pullable(pod, c.Image) {
			cs.State = wait("ErrImagePull", fmt.Sprintf("failed to pull and unpack image %q: not found (simulated)", c.Image))
			s.event(pod, corev1.EventTypeWarning, "Failed", fmt.Sprintf("Failed to pull image %q: not found (simulated)", c.Image))
			return
		}
		s.event(pod, corev1.EventTypeNormal, "Pulled", fmt.Sprintf("Successfully pulled image %q (simulated)", c.Image))
		s.run(pod, c, cs, now)
	})
}

// unpullable are image names that plainly are examples of a mistake.
var unpullable = regexp.MustCompile(`non-?exist|not-?exist|doesnt-?exist|no-?such|not-?found|missing|invalid|typo`)

func pullable(pod *corev1.Pod, image string) bool {
	return pod.Annotations[AnnotationSimulate] != SimulateImagePull && !unpullable.MatchString(image)
}

func (s *podSimulator) run(pod *corev1.Pod, c *corev1.Container, cs *corev1.ContainerStatus, now metav1.Time) {
	probed := c.ReadinessProbe != nil || c.StartupProbe != nil
	started := c.StartupProbe == nil
	cs.Image, cs.ImageID = c.Image, "simulated://"+c.Image
	cs.ContainerID = fmt.Sprintf("simulated://%s/%s/%d", pod.UID, c.Name, cs.RestartCount)
	cs.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
	cs.Ready = !probed && pod.Annotations[AnnotationSimulate] != SimulateUnready
	cs.Started = &started
	cs.Resources, cs.AllocatedResources = c.Resources.DeepCopy(), c.Resources.Requests.DeepCopy()
	s.event(pod, corev1.EventTypeNormal, "Created", "Container created: "+c.Name)
	s.event(pod, corev1.EventTypeNormal, "Started", "Container started: "+c.Name)
}

func terminate(cs *corev1.ContainerStatus, now metav1.Time, code int32, reason string) {
	ended := &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: now, StartedAt: now, ContainerID: cs.ContainerID}
	if cs.State.Running != nil {
		ended.StartedAt = cs.State.Running.StartedAt
	}
	started := false
	cs.State = corev1.ContainerState{Terminated: ended}
	cs.Ready, cs.Started = false, &started
}

var exitCode = regexp.MustCompile(`(?:^|[ ;&])(?:exit ([1-9][0-9]*)|false)$`)

// finish ends the running containers, as their command, image or annotation says.
func (s *podSimulator) finish(pod *corev1.Pod, now metav1.Time) {
	asked := pod.Annotations[AnnotationSimulate]
	each(pod, func(c *corev1.Container, cs *corev1.ContainerStatus) {
		if cs.State.Running == nil {
			return
		}
		command := strings.Join(append(append([]string{}, c.Command...), c.Args...), " ")
		code, reason := int32(0), "Completed"
		if m := exitCode.FindStringSubmatch(command); m != nil {
			code, reason = 1, "Error"
			if m[1] != "" {
				fmt.Sscan(m[1], &code)
			}
		}
		switch {
		case asked == SimulateOOM:
			code, reason = 137, "OOMKilled"
		case asked == SimulateCrash, strings.Contains(c.Image, "crash"):
			code, reason = 1, "Error"
		}
		if code == 0 && pod.Spec.RestartPolicy == corev1.RestartPolicyAlways {
			return // another container of the pod is the one that ends
		}
		terminate(cs, now, code, reason)
	})
}

// backOff puts the ended containers that are to be started again to wait.
func (s *podSimulator) backOff(pod *corev1.Pod) {
	each(pod, func(c *corev1.Container, cs *corev1.ContainerStatus) {
		ended := cs.State.Terminated
		if ended == nil || pod.Spec.RestartPolicy == corev1.RestartPolicyNever || pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && ended.ExitCode == 0 {
			return
		}
		cs.LastTerminationState = corev1.ContainerState{Terminated: ended}
		cs.State = wait("CrashLoopBackOff", fmt.Sprintf("back-off restarting failed container=%s pod=%s_%s(%s)", c.Name, pod.Name, pod.Namespace, pod.UID))
		s.event(pod, corev1.EventTypeWarning, "BackOff", fmt.Sprintf("Back-off restarting failed container %s in pod %s", c.Name, pod.Name))
	})
}

// stop ends the containers of a pod that is deleted; its sidecars when no other container is left.
func (s *podSimulator) stop(pod *corev1.Pod, now metav1.Time) {
	killed := now.Time.After(pod.DeletionTimestamp.Add(-time.Second)) && pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds > 1
	stopped := false
	each(pod, func(c *corev1.Container, cs *corev1.ContainerStatus) {
		if cs.State.Terminated != nil {
			return
		}
		stopped = true
		s.event(pod, corev1.EventTypeNormal, "Killing", "Stopping container "+c.Name)
		if killed {
			terminate(cs, now, 137, "Error")
		} else {
			terminate(cs, now, 0, "Completed")
		}
	})
	if !stopped || killed {
		s.stopSidecars(pod, now)
	}
}
