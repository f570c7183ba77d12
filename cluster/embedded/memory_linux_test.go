package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/embedded"
	"github.com/apilab/apilab/cluster/limits"
)

// TestMemoryOfOneLearner lets a learner ask for more memory than is theirs until the kernel ends their cluster. They read why, another learner's
// goes on, and a reset helps.
func TestMemoryOfOneLearner(t *testing.T) {
	held := limits.Open(limits.Options{Memory: 192 << 20})
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
	exhausting, stop := context.WithCancel(within(t, patience))
	defer stop()
	go exhaust(exhausting, kubernetes.NewForConfigOrDie(full.LearnerConfig()))
	select {
	case reason := <-reasons:
		if want := embedded.ErrMemory.Error() + " (192 MiB)"; !strings.Contains(reason, want) {
			t.Errorf("the learner reads %q, not %q", reason, want)
		}
	case <-exhausting.Done():
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

// exhaust makes large objects, and then asks for all of them many times at once, in a form that the API server writes in
// memory first.
func exhaust(ctx context.Context, kube kubernetes.Interface) {
	maps := kube.CoreV1().ConfigMaps("default")
	for n := range 12 {
		_, err := maps.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("large-", n)},
			Data:       map[string]string{"text": strings.Repeat("a", 1_000_000)},
		}, metav1.CreateOptions{})
		if err != nil {
			break // it is full
		}
	}
	for range 64 {
		go func() {
			for ctx.Err() == nil {
				answer, err := kube.CoreV1().RESTClient().Get().Namespace("default").Resource("configmaps").
					SetHeader("Accept", "application/yaml").Stream(ctx)
				if err == nil {
					_, _ = io.Copy(io.Discard, answer)
					answer.Close()
				}
			}
		}()
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
