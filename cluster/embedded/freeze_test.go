package embedded_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/embedded"
)

// TestFreeze lets a cluster sleep for longer than a silent one may live.
func TestFreeze(t *testing.T) {
	t.Parallel()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := embedded.New(embedded.Options{Dir: filepath.Join(t.TempDir(), "clusters"), Executable: executable, ProbeEvery: 6 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := p.Create(within(t, patience), cluster.Spec{ID: "sleeper"}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{cluster: c, kube: kubernetes.NewForConfigOrDie(c.LearnerConfig())}
	deployment(t, l, "default")
	pods, err := l.kube.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	process := plane(t, "sleeper")

	sleeper := c.(cluster.Freezer)
	if err := sleeper.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	cpu := func() time.Duration {
		used, err := c.Usage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return used.CPU
	}
	time.Sleep(time.Second) // until it is at rest
	before := cpu()
	time.Sleep(65 * time.Second)
	if after := cpu(); after != before {
		t.Errorf("asleep, it took %s of CPU time", after-before)
	}

	began := time.Now()
	if err := sleeper.Thaw(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	if err := leaveNote(within(t, patience), c, "awake"); err != nil {
		t.Fatal(err)
	}
	t.Logf("usable after %s", time.Since(began))
	if err := sleeper.Thaw(t.Context()); err != nil {
		t.Errorf("thawed twice: %v", err)
	}
	if now := plane(t, "sleeper"); now != process {
		t.Error("it was taken for dead")
	}
	// What the controllers and the kubelets do, they do, and the nodes and pods of before are there, and untouched.
	if err := l.kube.CoreV1().Pods("default").Delete(t.Context(), pods.Items[0].Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "another pod", func(ctx context.Context) bool {
		d, err := l.kube.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 1
	})
	t.Logf("another pod after %s", time.Since(began))
	events, err := l.kube.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events.Items {
		if e.Reason == "NodeNotReady" || e.Reason == "TaintManagerEviction" {
			t.Errorf("%s: %s", e.Reason, e.Message)
		}
	}
	nodes, err := l.kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes.Items {
		if len(n.Spec.Taints) > 0 || n.Status.Conditions[len(n.Status.Conditions)-1].Status != corev1.ConditionTrue {
			t.Errorf("node %s: %v, %+v", n.Name, n.Spec.Taints, n.Status.Conditions)
		}
	}
	if err := sleeper.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(within(t, patience)); err != nil {
		t.Errorf("stopped in its sleep: %v", err)
	}
	if err := sleeper.Freeze(t.Context()); err == nil {
		t.Error("one that is stopped was frozen")
	}
}
