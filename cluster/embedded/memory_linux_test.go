package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/embedded"
	"github.com/apilab/apilab/cluster/limits"
)

// TestMemoryOfOneLearner lets a learner fill their cluster until the kernel ends it. They read why, another learner's
// goes on, and a reset helps.
func TestMemoryOfOneLearner(t *testing.T) {
	held := limits.Open(limits.Options{Memory: 256 << 20})
	if says, why := held.Says(); !strings.Contains(says, "memory") {
		t.Skipf("memory is not limited here: %v", why)
	}
	dir := t.TempDir()
	t.Cleanup(func() { _ = held.Close() }) // after the clusters have ended, as the provider's was registered later
	p := newProvider(t, dir)
	if err := p.Prepare(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	spec := cluster.Spec{ID: "full", Share: held.Cluster("full")}
	full, err := p.Create(within(t, patience), spec, quiet)
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.Create(within(t, patience), cluster.Spec{ID: "other", Share: held.Cluster("other")}, quiet)
	if err != nil {
		t.Fatal(err)
	}

	reasons := make(chan string, 100)
	defer full.Health(func(h cluster.Health) {
		if !h.Ready {
			reasons <- h.Reason
		}
	})()
	filling, stop := context.WithCancel(within(t, patience))
	defer stop()
	go fill(filling, kubernetes.NewForConfigOrDie(full.LearnerConfig()))
	select {
	case reason := <-reasons:
		if want := embedded.ErrMemory.Error() + " (256 MiB)"; !strings.Contains(reason, want) {
			t.Errorf("the learner reads %q, not %q", reason, want)
		}
	case <-filling.Done():
		t.Fatal("nothing has ended it")
	}
	stop()
	if _, err := kubernetes.NewForConfigOrDie(other.Config()).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("another learner's cluster: %v", err)
	}

	if err := p.Delete(within(t, patience), "full"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Create(within(t, patience), spec, quiet); err != nil {
		t.Errorf("a reset: %v", err)
	}
}

// fill makes large objects for as long as it is let.
func fill(ctx context.Context, kube kubernetes.Interface) {
	for n := 0; ctx.Err() == nil; n++ {
		_, _ = kube.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("large-", n)},
			Data:       map[string]string{"text": strings.Repeat("a", 1_000_000)},
		}, metav1.CreateOptions{})
	}
}

// TestTooLittleMemory tells who starts a cluster that it cannot have what it takes.
func TestTooLittleMemory(t *testing.T) {
	held := limits.Open(limits.Options{Memory: 32 << 20})
	if says, why := held.Says(); !strings.Contains(says, "memory") {
		t.Skipf("memory is not limited here: %v", why)
	}
	t.Cleanup(func() { _ = held.Close() })
	_, err := newProvider(t, t.TempDir()).Create(within(t, patience), cluster.Spec{ID: "small", Share: held.Cluster("small")}, quiet)
	if !errors.Is(err, embedded.ErrMemory) {
		t.Errorf("it fails with %v", err)
	}
}
