package kind_test

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
)

// TestWorkers makes a cluster of two nodes, lets it sleep, and loads an image onto both.
func TestWorkers(t *testing.T) {
	engine := needsEngine(t)
	leavesNothing(t, engine)
	p := newProvider(t, engine, dataDir(t))
	c, err := p.Create(within(t, patience), cluster.Spec{ID: "workers", Nodes: 2}, say(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Delete(context.Background(), "workers"); err != nil {
			t.Error(err)
		}
	})
	kube := kubernetes.NewForConfigOrDie(c.LearnerConfig())
	zones := map[string]bool{}
	nodes, err := kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 2 {
		t.Fatalf("nodes: %v, %v", nodes, err)
	}
	for _, n := range nodes.Items {
		zones[n.Labels[corev1.LabelTopologyZone]] = true
	}
	if !zones["zone-a"] || !zones["zone-b"] {
		t.Errorf("zones %v", zones)
	}

	t.Run("freeze and thaw", func(t *testing.T) {
		f := c.(cluster.Freezer)
		before, err := c.Usage(t.Context())
		if err == nil {
			err = f.Freeze(within(t, patience))
		}
		if err != nil {
			t.Fatal(err)
		}
		frozen, err := c.Usage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		after, err := c.Usage(t.Context())
		if err != nil || after.CPU-frozen.CPU > 100*time.Millisecond {
			t.Errorf("asleep it took %s (%s before), %v", after.CPU-frozen.CPU, frozen.CPU-before.CPU, err)
		}
		begin := time.Now()
		if err := f.Thaw(within(t, patience)); err != nil {
			t.Fatal(err)
		}
		t.Logf("thawed in %s", time.Since(begin))
		if _, err := kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("logs", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "logs")
		if err := c.(cluster.Logs).CollectLogs(within(t, patience), dir); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "apilab-workers-worker", "kubelet.log")); err != nil {
			t.Error(err)
		}
	})
}
