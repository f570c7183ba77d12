package kind

import (
	"context"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// poll is how often a start looks whether the next step can be taken. A request is cheap beside what the node does meanwhile.
const poll = 300 * time.Millisecond

// until waits until a condition holds. What kept it from holding is in the error if ctx ends first.
func until(ctx context.Context, what string, holds func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if err := holds(ctx); err != nil {
			last = err
			return false, nil
		}
		return true, nil
	})
	if err == nil {
		return nil
	}
	if last == nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%s: %w (%w)", what, last, context.Cause(ctx))
}

// serverReady waits until the API server says so, with its default roles.
func serverReady(ctx context.Context, kube kubernetes.Interface) error {
	return until(ctx, "the API server is not ready", func(ctx context.Context) error {
		return kube.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

// bootstrapped waits for what the controllers make for everybody, so that the first Pod of a learner is not refused.
func bootstrapped(ctx context.Context, kube kubernetes.Interface) error {
	return until(ctx, "the default objects are not there", func(ctx context.Context) error {
		if _, err := kube.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return err
		}
		_, err := kube.CoreV1().ConfigMaps(metav1.NamespaceDefault).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err
	})
}

// nodesReady waits until nodes are Ready and their kubelets have been heard of since a moment: one that was stopped is Ready
// on paper for a while. Nodes that the learner made are not waited for.
func nodesReady(ctx context.Context, kube kubernetes.Interface, names []string, since time.Time) error {
	return until(ctx, "the nodes are not Ready", func(ctx context.Context) error {
		for _, name := range names {
			node, err := kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if err := nodeReady(ctx, kube, node, since); err != nil {
				return err
			}
		}
		return nil
	})
}

func nodeReady(ctx context.Context, kube kubernetes.Interface, node *corev1.Node, since time.Time) error {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return fmt.Errorf("node %s: %s", node.Name, c.Message)
		}
	}
	lease, err := kube.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, node.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if lease.Spec.RenewTime == nil || lease.Spec.RenewTime.Time.Before(since) {
		return fmt.Errorf("node %s has not been heard of", node.Name)
	}
	return nil
}

// age gives a new cluster a past: its API server has all events since the first in memory, and would replay them to a watch
// from version 1. One that starts on a store that has lived does not, as on any other cluster. It is killed, as one that is
// asked to end waits a minute for its watches; the node's kubelet starts it again at once.
func (i *instance) age(ctx context.Context) error {
	_, err := i.description().Engine.run(ctx, quick, "exec", nodeNames(i.id, 1)[0], "pkill", "-KILL", "-x", "kube-apiserver")
	if err != nil {
		return fmt.Errorf("start the API server anew: %w", err)
	}
	return nil
}

// hasPast tells whether a watch from the first version of all is answered 410 Gone, as on a cluster that has lived.
func hasPast(ctx context.Context, kube kubernetes.Interface) error {
	var code int
	timeout := int64(1)
	w, err := kube.CoreV1().ConfigMaps(metav1.NamespaceDefault).Watch(ctx, metav1.ListOptions{ResourceVersion: "1", TimeoutSeconds: &timeout})
	if err != nil {
		return err
	}
	defer w.Stop()
	if status, ok := (<-w.ResultChan()).Object.(*metav1.Status); ok {
		code = int(status.Code)
	}
	if code != http.StatusGone {
		return fmt.Errorf("a watch from version 1 is answered %d", code)
	}
	return nil
}
