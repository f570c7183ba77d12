package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/apilab/apilab/cluster"
)

func TestNotReadySaysWhy(t *testing.T) {
	t.Parallel()
	starting := []cluster.Phase{{Says: "etcd is up", Done: true}, {Says: "API server answers"}}
	tests := []struct {
		status cluster.Status
		want   string
	}{
		{cluster.Status{State: cluster.Absent}, "your cluster is not running; start it in the page"},
		{cluster.Status{State: cluster.Queued}, "your cluster waits for its turn to start; try again in a moment"},
		{cluster.Status{State: cluster.Queued, Position: 3}, "your cluster waits for its turn to start as number 3; try again in a moment"},
		{cluster.Status{State: cluster.Queued, Reason: "no memory"}, "your cluster waits for its turn to start (no memory); try again in a moment"},
		{cluster.Status{State: cluster.Frozen}, "your cluster is waking up; try again in a moment"},
		{cluster.Status{State: cluster.Creating, Phases: starting}, "your cluster is still starting (API server answers); try again in a few seconds"},
		{cluster.Status{State: cluster.Starting}, "your cluster is still starting; try again in a few seconds"},
		{cluster.Status{State: cluster.Healing, Reason: "it was killed\nlog line\n"}, "your cluster's control plane stopped and is being restarted with its data (it was killed); try again in a few seconds"},
		{cluster.Status{State: cluster.Failed, Reason: "disk full"}, "your cluster could not be started (disk full); retry or reset it in the page"},
		{cluster.Status{State: cluster.Deleting}, "your cluster is being reset; try again in a few seconds"},
		{cluster.Status{State: cluster.Stopped}, "your cluster is not running; start it in the page"},
		{cluster.Status{State: cluster.Ready}, "your cluster was not ready in time; try again"},
	}
	for _, tt := range tests {
		if got := notReady(tt.status).Error(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.status.State, got, tt.want)
		}
	}
}

func TestClusterThatDoesNotComeIsUnavailable(t *testing.T) {
	t.Parallel()
	known := &clusters{
		status: cluster.Status{State: cluster.Healing, Reason: "it was killed"},
		claim:  func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	}
	b := serve(t, Options{Dir: t.TempDir(), Clusters: known, Wait: 10 * time.Millisecond})
	response, body := b.do(t, b.request(t, "GET", "/api/v1/pods", nil))
	s := statusOf(t, body)
	if response.StatusCode != http.StatusServiceUnavailable || s.Reason != metav1.StatusReasonServiceUnavailable || !strings.Contains(s.Message, "it was killed") {
		t.Errorf("%d %+v", response.StatusCode, s)
	}
	if response.Header.Get("Retry-After") != "" {
		t.Error("kubectl would retry in silence")
	}
	r := b.records(t, 1)[0]
	if want := (Status{503, "ServiceUnavailable", s.Message}); r.Status != want || !r.Done {
		t.Errorf("record %+v", r)
	}
}

func TestFailedClusterIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	known := &clusters{
		status: cluster.Status{State: cluster.Failed, Reason: "disk full"},
		claim:  func(context.Context) error { t.Error("it was claimed"); return errors.New("failed") },
	}
	b := serve(t, Options{Dir: t.TempDir(), Clusters: known})
	if _, body := b.do(t, b.request(t, "GET", "/api/v1/pods", nil)); !strings.Contains(body, "disk full") {
		t.Errorf("body %s", body)
	}
}

func TestRequestWaitsForItsCluster(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	config := configOf(b.server)
	known := &clusters{}
	known.claim = func(context.Context) error { known.set(learner, config); return nil }
	waiting := serve(t, Options{Dir: t.TempDir(), Clusters: known})
	if _, body := waiting.do(t, waiting.request(t, "POST", "/api", strings.NewReader("here"))); body != "here" {
		t.Errorf("body %q", body)
	}
}

// The process of an API server dies before anyone notices: its port refuses connections, then it is back.
func TestWriteWaitsWhileTheAPIServerIsDown(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		_, _ = io.Copy(w, r.Body)
	})
	config := configOf(b.server)
	var dials atomic.Int32
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if dials.Add(1) <= 2 {
			return nil, syscall.ECONNREFUSED
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	b.clusters.set(learner, config)
	if _, body := b.do(t, b.request(t, "POST", "/api/v1/namespaces", strings.NewReader("once"))); body != "once" {
		t.Errorf("body %q", body)
	}
	if requests.Load() != 1 {
		t.Errorf("the API server saw it %d times", requests.Load())
	}
}

func TestConnectionThatBreaks(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			panic(http.ErrAbortHandler) // the stream is reset without an answer
		}
		_, _ = io.WriteString(w, "again")
	})
	if response, body := b.do(t, b.request(t, "GET", "/api/v1/pods", nil)); body != "again" {
		t.Errorf("a read is repeated: %d %s", response.StatusCode, body)
	}
	requests.Store(0)
	response, body := b.do(t, b.request(t, "POST", "/api/v1/pods", strings.NewReader("{}")))
	if s := statusOf(t, body); response.StatusCode != http.StatusServiceUnavailable || s.Message != errDropped.Error() {
		t.Errorf("%d %+v", response.StatusCode, s)
	}
	if requests.Load() != 1 {
		t.Errorf("a write was sent %d times", requests.Load())
	}
}

func TestResetClusterIsANewUpstream(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Header.Get("Authorization")) })
	b.do(t, b.request(t, "GET", "/version", nil))
	config := configOf(b.server)
	config.BearerToken = "new"
	b.clusters.set(learner, config)
	if _, body := b.do(t, b.request(t, "GET", "/version", nil)); body != "Bearer new" {
		t.Errorf("the API server saw %s", body)
	}
}
