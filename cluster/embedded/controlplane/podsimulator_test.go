package controlplane

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
)

// A podLife plays the stages on a pod, as KWOK does, without a cluster and without waiting.
type podLife struct {
	t      *testing.T
	pod    *corev1.Pod
	stages lifecycle.Lifecycle
	sim    *podSimulator
	clock  *clocktesting.FakePassiveClock
}

func newLife(t *testing.T, pod *corev1.Pod) *podLife {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{PodCIDR: "10.244.0.0/30"},
		Status: corev1.NodeStatus{Addresses: nodeAddresses("n", "172.18.0.11")}}
	all, err := lifecycle.NewLifecycle(stages()[stage{}.build("Pod").Spec.ResourceRef])
	if err != nil {
		t.Fatal(err)
	}
	pod.Name, pod.Namespace, pod.Generation, pod.Spec.NodeName = "p", "default", 1, "n"
	if pod.Spec.RestartPolicy == "" {
		pod.Spec.RestartPolicy = corev1.RestartPolicyAlways
	}
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return &podLife{t: t, pod: pod, stages: all, clock: clock, sim: newPodSimulator(clock, newAddresses(fake.NewClientset(node)), nil)}
}

// due returns the stage that is due and after how long; it fails if there is more than one.
func (l *podLife) due() (name string, after time.Duration) {
	l.t.Helper()
	event := &lifecycle.Event{Labels: l.pod.Labels, Annotations: l.pod.Annotations, Data: l.pod}
	all, err := l.stages.ListAllPossible(l.t.Context(), event)
	if err != nil {
		l.t.Fatal(err)
	}
	if len(all) > 1 {
		l.t.Fatalf("%s and %s are due together", all[0].Name(), all[1].Name())
	}
	if len(all) == 0 {
		return "", 0
	}
	after, _, err = all[0].Delay(l.t.Context(), event, l.clock.Now())
	if err != nil {
		l.t.Fatal(err)
	}
	return all[0].Name(), after
}

// step plays the stage that is due.
func (l *podLife) step() (name string, after time.Duration) {
	l.t.Helper()
	name, after = l.due()
	if name == "" || name == "gone" {
		return name, after
	}
	l.clock.SetTime(l.clock.Now().Add(after))
	step := name
	if name == "image-retry" {
		step = "start"
	}
	patch, err := l.sim.render(step, l.pod)
	if err != nil {
		l.t.Fatal(err)
	}
	old, err := json.Marshal(l.pod)
	if err != nil {
		l.t.Fatal(err)
	}
	merged, err := strategicpatch.StrategicMergePatch(old, fmt.Appendf(nil, `{"status":%s}`, patch), &corev1.Pod{})
	if err != nil {
		l.t.Fatal(err)
	}
	next := &corev1.Pod{}
	if err := json.Unmarshal(merged, next); err != nil {
		l.t.Fatal(err)
	}
	l.pod = next
	return name, after
}

// play steps until nothing is due, or a stage of that name has been played.
func (l *podLife) play(last string) (names []string) {
	l.t.Helper()
	for range 30 {
		name, _ := l.step()
		if name == "" {
			return names
		}
		names = append(names, name)
		if name == last {
			return names
		}
	}
	l.t.Fatalf("no end: %q", names)
	return nil
}

func (l *podLife) container() corev1.ContainerStatus { return l.pod.Status.ContainerStatuses[0] }

func simple(command ...string) *corev1.Pod {
	return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx", Command: command}}}}
}

func withSidecar(pod *corev1.Pod, startup *corev1.Probe) *corev1.Pod {
	pod.Spec.InitContainers = []corev1.Container{{Name: "beside", Image: "proxy", Command: []string{"sleep", "3600"}, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways), StartupProbe: startup}}
	return pod
}

func TestLives(t *testing.T) {
	t.Parallel()
	once := func(pod *corev1.Pod, policy corev1.RestartPolicy) *corev1.Pod {
		pod.Spec.RestartPolicy = policy
		return pod
	}
	asked := func(what string) *corev1.Pod {
		pod := simple()
		pod.Annotations = map[string]string{AnnotationSimulate: what}
		return pod
	}
	probed := simple()
	probed.Spec.Containers[0].ReadinessProbe = &corev1.Probe{InitialDelaySeconds: 5}
	unready := asked(SimulateUnready)
	unready.Spec.Containers[0].ReadinessProbe = &corev1.Probe{}
	for _, c := range []struct {
		name  string
		pod   *corev1.Pod
		last  string
		names string
		phase corev1.PodPhase
		code  int32
	}{
		{"a server", simple(), "", "[accept start]", corev1.PodRunning, 0},
		{"with a readiness probe", probed, "", "[accept start ready]", corev1.PodRunning, 0},
		{"never ready", unready, "", "[accept start]", corev1.PodRunning, 0},
		{"sleeps on", simple("sleep", "3600"), "", "[accept start]", corev1.PodRunning, 0},
		{"of a job", once(simple("true"), corev1.RestartPolicyNever), "", "[accept start finish]", corev1.PodSucceeded, 0},
		{"of a job that fails", once(simple("sh", "-c", "exit 7"), corev1.RestartPolicyNever), "", "[accept start finish]", corev1.PodFailed, 7},
		{"retried on failure", once(simple("false"), corev1.RestartPolicyOnFailure), "restart", "[accept start finish back-off restart]", corev1.PodRunning, 0},
		{"succeeds on failure's policy", once(simple("true"), corev1.RestartPolicyOnFailure), "", "[accept start finish]", corev1.PodSucceeded, 0},
		{"crashes", asked(SimulateCrash), "restart", "[accept start finish back-off restart]", corev1.PodRunning, 0},
		{"crashes by its command", simple("sh", "-c", "echo no; exit 1"), "finish", "[accept start finish]", corev1.PodRunning, 1},
		{"out of memory", asked(SimulateOOM), "finish", "[accept start finish]", corev1.PodRunning, 137},
		{"with a sidecar", withSidecar(simple(), nil), "", "[accept init start]", corev1.PodRunning, 0},
		{"with a probed sidecar", withSidecar(simple(), &corev1.Probe{}), "", "[accept init init start ready]", corev1.PodRunning, 0},
		{"of a job with a sidecar", withSidecar(once(simple("true"), corev1.RestartPolicyNever), nil), "", "[accept init start finish stop-sidecars]", corev1.PodSucceeded, 0},
		{"of a job with a sidecar that fails", withSidecar(once(simple("exit 3"), corev1.RestartPolicyNever), nil), "", "[accept init start finish stop-sidecars]", corev1.PodFailed, 3},
		{"image not found", asked(SimulateImagePull), "image-retry", "[accept start image-back-off image-retry]", corev1.PodPending, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLife(t, c.pod)
			if got := fmt.Sprint(l.play(c.last)); got != c.names {
				t.Errorf("stages %s, want %s", got, c.names)
			}
			if l.pod.Status.Phase != c.phase {
				t.Errorf("phase %s, want %s", l.pod.Status.Phase, c.phase)
			}
			if ended := l.container().State.Terminated; ended != nil && ended.ExitCode != c.code || ended == nil && c.code != 0 {
				t.Errorf("ended %+v, want code %d", ended, c.code)
			}
		})
	}
}

func TestTiming(t *testing.T) {
	t.Parallel()
	at := func(stage string, pod *corev1.Pod) time.Duration {
		t.Helper()
		l := newLife(t, pod)
		for range 10 {
			if name, after := l.step(); name == stage {
				return after
			}
		}
		t.Fatalf("%s did not come", stage)
		return 0
	}
	probed := simple()
	probed.Spec.Containers[0].ReadinessProbe = &corev1.Probe{InitialDelaySeconds: 5}
	if got := at("ready", probed); got != 5*time.Second {
		t.Errorf("ready after %s", got)
	}
	long := simple("sh", "-c", "sleep 12; echo done")
	long.Spec.RestartPolicy = corev1.RestartPolicyNever
	if got := at("finish", long); got != 12*time.Second {
		t.Errorf("finished after %s", got)
	}

	crashing := newLife(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{AnnotationSimulate: SimulateCrash}}, Spec: simple().Spec})
	var pauses []time.Duration
	for len(pauses) < 7 {
		if name, after := crashing.step(); name == "restart" {
			pauses = append(pauses, after)
		}
	}
	if got := fmt.Sprint(pauses); got != "[10s 20s 40s 1m20s 2m40s 5m0s 5m0s]" {
		t.Errorf("pauses of a crash loop: %s", got)
	}
	if n := crashing.container().RestartCount; n != 7 {
		t.Errorf("%d restarts", n)
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	grace := int64(30)
	for _, c := range []struct {
		name    string
		pod     *corev1.Pod
		preStop int64
		after   time.Duration
		code    int32
	}{
		{name: "a program that handles SIGTERM", pod: simple(), after: time.Second},
		{name: "with a preStop hook", pod: simple(), preStop: 4, after: 5 * time.Second},
		{name: "sleep does not", pod: simple("sleep", "3600"), after: 30 * time.Second, code: 137},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.preStop > 0 {
				c.pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: c.preStop}}}
			}
			l := newLife(t, c.pod)
			l.play("")
			deadline := metav1.NewTime(l.clock.Now().Add(30 * time.Second))
			l.pod.DeletionTimestamp, l.pod.DeletionGracePeriodSeconds = &deadline, &grace
			l.pod.Finalizers = []string{"example.com/hold"}
			if name, after := l.step(); name != "stop" || (after-c.after).Abs() > time.Second {
				t.Errorf("%s after %s, want stop after %s", name, after, c.after)
			}
			if ended := l.container().State.Terminated; ended == nil || ended.ExitCode != c.code {
				t.Errorf("ended %+v, want code %d", ended, c.code)
			}
			if name, _ := l.due(); name != "" {
				t.Errorf("%s is due while a finalizer holds the pod", name)
			}
			l.pod.Finalizers = nil
			if name, _ := l.due(); name != "gone" {
				t.Errorf("%q is due at last", name)
			}
		})
	}
}

func TestSpecChanges(t *testing.T) {
	t.Parallel()
	l := newLife(t, simple())
	l.play("")
	l.pod.Generation++
	l.pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
	if name, _ := l.step(); name != "observe" || !isTrue(l.pod, corev1.PodResizeInProgress) || l.container().Resources.Requests != nil {
		t.Errorf("%s: %+v", name, l.pod.Status)
	}
	if name, _ := l.step(); name != "resize" || isTrue(l.pod, corev1.PodResizeInProgress) || l.container().Resources.Requests.Cpu().Value() != 2 || l.container().RestartCount != 0 {
		t.Errorf("%s: %+v", name, l.pod.Status)
	}

	l.pod.Generation++
	l.pod.Spec.Containers[0].ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.RestartContainer}}
	l.pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	l.play("resize")
	if l.container().RestartCount != 1 {
		t.Errorf("a resize that asks for a restart: %+v", l.container())
	}

	l.pod.Generation++
	l.pod.Spec.Containers[0].Image = "nginx:2"
	if got := fmt.Sprint(l.play("")); got != "[observe start]" || l.container().Image != "nginx:2" || l.container().RestartCount != 2 {
		t.Errorf("a new image: %s, %+v", got, l.container())
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	l := newLife(t, simple())
	l.play("")
	if l.pod.Status.PodIP != "10.244.0.1" || l.pod.Status.HostIP != "172.18.0.11" {
		t.Errorf("addresses %s, %s", l.pod.Status.PodIP, l.pod.Status.HostIP)
	}
	// 10.244.0.0/30 has two addresses for pods. The fake server has no pods, so they count as free again when used up.
	for _, want := range []string{"10.244.0.2", "10.244.0.1"} {
		got, err := l.sim.addresses.pod(t.Context(), &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}})
		if err != nil || got != want {
			t.Errorf("next address %s, %v, want %s", got, err, want)
		}
	}
	host := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n", HostNetwork: true}}
	if got, err := l.sim.addresses.pod(t.Context(), host); err != nil || got != "172.18.0.11" {
		t.Errorf("of a pod on its host's network: %s, %v", got, err)
	}
}
