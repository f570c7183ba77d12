package kind_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/kind"
)

// TestLife is the life of one cluster, as making one takes half a minute: all that follows needs one that runs.
func TestLife(t *testing.T) {
	engine := needsEngine(t)
	leavesNothing(t, engine)
	dir, ports := dataDir(t), t.TempDir()
	spec := cluster.Spec{ID: "life", Ports: ports}
	p := newProvider(t, engine, dir)
	c, err := p.Create(within(t, patience), spec, say(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Delete(context.Background(), "life"); err != nil {
			t.Error(err)
		}
	})

	t.Run("identities", func(t *testing.T) { testIdentities(t, c) })
	t.Run("history", func(t *testing.T) { testHistory(t, c) })
	t.Run("usage", func(t *testing.T) { testUsage(t, c) })
	t.Run("webhooks", func(t *testing.T) { testWebhook(t, c, ports) })
	t.Run("taken", func(t *testing.T) {
		other := newProvider(t, engine, dataDir(t))
		if _, err := other.Create(within(t, patience), spec, say(t)); !errors.Is(err, kind.ErrTaken) {
			t.Errorf("another server's create: %v", err)
		}
		if err := other.Delete(within(t, patience), "life"); err != nil {
			t.Errorf("another server's delete: %v", err)
		}
	})
	t.Run("heal", func(t *testing.T) {
		health := follow(t, c)
		engineSays(t, engine, "stop", "--time", "5", "apilab-life-control-plane")
		health.until(t, "not ready", func(h cluster.Health) bool { return !h.Ready && strings.Contains(h.Reason, "does not run") })
		health.until(t, "ready again", func(h cluster.Health) bool { return h.Ready })
		testIdentities(t, c)
	})
	t.Run("stop and adopt", func(t *testing.T) {
		if err := c.Stop(within(t, patience)); err != nil {
			t.Fatal(err)
		}
		if ids, err := p.List(t.Context()); err != nil || len(ids) != 1 {
			t.Fatalf("list: %v, %v", ids, err)
		}
		c, err = p.Adopt(within(t, patience), spec, say(t))
		if err != nil {
			t.Fatal(err)
		}
		testIdentities(t, c)
		testWebhook(t, c, ports)
	})
	t.Run("removed by hand", func(t *testing.T) {
		health := follow(t, c)
		engineSays(t, engine, "rm", "--force", "--volumes", "apilab-life-control-plane")
		health.until(t, "fatal", func(h cluster.Health) bool { return h.Fatal && strings.Contains(h.Reason, "reset the cluster") })
		if _, err := p.Adopt(within(t, patience), spec, say(t)); !errors.Is(err, kind.ErrGone) {
			t.Errorf("adopt: %v", err)
		}
	})
}

func testIdentities(t *testing.T, c cluster.Cluster) {
	t.Helper()
	if caps := c.Capabilities(); caps.Backend != "kind" || !caps.RealPods || !caps.Logs || !strings.HasPrefix(caps.Version, "v1.") {
		t.Errorf("capabilities %+v", caps)
	}
	for user, config := range map[string]*kubernetes.Clientset{
		"apilab":  kubernetes.NewForConfigOrDie(c.Config()),
		"learner": kubernetes.NewForConfigOrDie(c.LearnerConfig()),
	} {
		review, err := config.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil || review.Status.UserInfo.Username != user {
			t.Errorf("%s is %v, %v", user, review, err)
		}
		if _, err := config.CoreV1().Secrets(metav1.NamespaceSystem).List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("%s may not list secrets: %v", user, err)
		}
	}
}

func testHistory(t *testing.T, c cluster.Cluster) {
	kube := kubernetes.NewForConfigOrDie(c.LearnerConfig())
	w, err := kube.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			t.Errorf("a watch from version 1: %v", err)
		}
		return
	}
	defer w.Stop()
	event := <-w.ResultChan()
	if status, ok := event.Object.(*metav1.Status); !ok || status.Code != http.StatusGone {
		t.Errorf("a watch from version 1 begins with %+v", event)
	}
}

func testUsage(t *testing.T, c cluster.Cluster) {
	used, err := c.Usage(t.Context())
	if err != nil || used.PrivateBytes < 100<<20 || used.CPU < time.Second {
		t.Errorf("usage %+v, %v", used, err)
	}
	t.Logf("%d MB working set", used.PrivateBytes>>20)
}

// testWebhook lets the API server call what the learner runs on localhost.
func testWebhook(t *testing.T, c cluster.Cluster, ports string) {
	t.Helper()
	listener, err := net.Listen("unix", filepath.Join(ports, "8443.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	hook := newWebhook(t)
	go func() { _ = hook.server.ServeTLS(listener, "", "") }()
	defer hook.server.Close()

	kube := kubernetes.NewForConfigOrDie(c.LearnerConfig())
	hooks := kube.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := hooks.Create(t.Context(), hook.configuration(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	defer hooks.Delete(context.WithoutCancel(t.Context()), hook.configuration().Name, metav1.DeleteOptions{})
	ctx := within(t, time.Minute)
	for {
		_, err := kube.CoreV1().ConfigMaps("default").Create(ctx, configMap(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && strings.Contains(err.Error(), "not on a Monday") {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("the webhook did not refuse: %v", err)
		}
		time.Sleep(200 * time.Millisecond) // until the API server has seen the configuration
	}
	listener.Close()
	os.Remove(filepath.Join(ports, "8443.sock"))
	hook.server.Close()
	for {
		_, err = kube.CoreV1().ConfigMaps("default").Create(ctx, configMap(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && strings.Contains(err.Error(), "nothing of yours listens on localhost:8443") {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("nobody listens, and the API server says: %v", err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// A recorder of health.
type recorder struct{ seen chan cluster.Health }

func follow(t *testing.T, c cluster.Cluster) recorder {
	r := recorder{make(chan cluster.Health, 1000)}
	t.Cleanup(c.Health(func(h cluster.Health) { r.seen <- h }))
	return r
}

func (r recorder) until(t *testing.T, what string, is func(cluster.Health) bool) {
	t.Helper()
	ctx := within(t, patience)
	for {
		select {
		case h := <-r.seen:
			t.Logf("health %+v", h)
			if is(h) {
				return
			}
		case <-ctx.Done():
			t.Fatalf("the cluster's health never was %s", what)
		}
	}
}
