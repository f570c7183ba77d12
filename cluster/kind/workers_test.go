package kind_test

import (
	"archive/tar"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/kind"
)

// archive makes a file with an image of one file.
func archive(t *testing.T, engine kind.Engine, image string) string {
	t.Helper()
	dir := t.TempDir()
	root, err := os.Create(filepath.Join(dir, "root.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	files := tar.NewWriter(root)
	if err := files.AddFS(fstest.MapFS{"hello": {Data: []byte("world")}}); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(dir, "image.tar")
	engineSays(t, engine, "import", root.Name(), image)
	engineSays(t, engine, "save", "--output", saved, image)
	engineSays(t, engine, "rmi", image)
	return saved
}

// TestWorkers makes a cluster of two nodes, lets it sleep, and loads an image onto both.
func TestWorkers(t *testing.T) {
	engine := needsEngine(t)
	leavesNothing(t, engine)
	const image = "localhost/apilab-test:1"
	p := newProvider(t, engine, dataDir(t), func(o *kind.Options) { o.Load = []string{archive(t, engine, image)} })
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

	for _, n := range nodes.Items {
		if has := engineSays(t, engine, "exec", n.Name, "ctr", "--namespace=k8s.io", "images", "ls", "--quiet"); !slices.Contains(has, image) {
			t.Errorf("%s has no %s: %v", n.Name, image, has)
		}
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
