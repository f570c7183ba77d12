package controlplane

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
)

func requesting(name, cpu string, phase corev1.PodPhase) *corev1.Pod {
	pod := simple()
	pod.Name, pod.Namespace, pod.UID, pod.Spec.NodeName, pod.Status.Phase = name, "default", types.UID(name), "n", phase
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	return pod
}

func TestLack(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")}}}
	room := newAddresses(fake.NewClientset(node, requesting("other", "5", corev1.PodRunning), requesting("over", "7", corev1.PodSucceeded), requesting("self", "200m", corev1.PodRunning)))
	for cpu, want := range map[string]string{
		"3":     "",
		"3500m": "Node didn't have enough resource: cpu, requested: 3500, used: 5000, capacity: 8000",
	} {
		got, err := room.lack(t.Context(), requesting("self", cpu, corev1.PodRunning))
		if err != nil || got != want {
			t.Errorf("for %s: %q, %v; want %q", cpu, got, err, want)
		}
	}
}

func TestDeferredResize(t *testing.T) {
	t.Parallel()
	l := newLife(t, simple())
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")}}}
	l.sim.addresses.kube = fake.NewClientset(node, requesting("other", "5", corev1.PodRunning))
	l.play("")
	ask := func(cpu string) {
		l.pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
		l.pod.Generation++
		l.play("")
	}
	ask("4")
	if !isTrue(l.pod, corev1.PodResizePending) || isTrue(l.pod, corev1.PodResizeInProgress) || l.container().Resources.Requests != nil {
		t.Errorf("a resize that does not fit: %+v", l.pod.Status)
	}
	ask("2")
	if hasCondition(l.pod, corev1.PodResizePending) || l.container().Resources.Requests.Cpu().Value() != 2 {
		t.Errorf("then one that fits: %+v", l.pod.Status)
	}
}
