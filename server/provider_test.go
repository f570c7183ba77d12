package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/cluster"
)

// A provider makes clusters of a small API server that has namespaces: a fake at the seam of a process.
type provider struct {
	t  *testing.T
	mu sync.Mutex
	// hold, while it is not nil, keeps clusters from being made until it is closed.
	hold    chan struct{}
	made    int
	deleted int
	current *fakeCluster
}

func fakeBackends(t *testing.T) []cluster.Backend {
	return []cluster.Backend{{Name: "fake", Provider: &provider{t: t}}}
}

// provider is the one of fakeBackends.
func (o *Options) provider() *provider { return o.Backends[0].Provider.(*provider) }

func (p *provider) Create(ctx context.Context, spec cluster.Spec, progress func(cluster.Phase)) (cluster.Cluster, error) {
	p.mu.Lock()
	hold := p.hold
	p.mu.Unlock()
	progress(cluster.Phase{Name: "etcd", Says: "The store is up", Done: true})
	progress(cluster.Phase{Name: "apiserver", Says: "API server answers"})
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	api := httptest.NewServer(http.HandlerFunc(serveAPI))
	c := &fakeCluster{id: spec.ID, api: api}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	p.current = c
	return c, nil
}

func (p *provider) Adopt(ctx context.Context, spec cluster.Spec, progress func(cluster.Phase)) (cluster.Cluster, error) {
	return p.Create(ctx, spec, progress)
}

func (p *provider) List(context.Context) ([]string, error) { return nil, nil }

func (p *provider) Delete(context.Context, string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deleted++
	if p.current != nil {
		p.current.api.CloseClientConnections()
		p.current.api.Close()
		p.current = nil
	}
	return nil
}

func (p *provider) count() (made, deleted int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.made, p.deleted
}

type fakeCluster struct {
	id  string
	api *httptest.Server

	mu     sync.Mutex
	health []func(cluster.Health)
}

func (c *fakeCluster) ID() string           { return c.id }
func (c *fakeCluster) Config() *rest.Config { return &rest.Config{Host: c.api.URL} }
func (c *fakeCluster) LearnerConfig() *rest.Config {
	return &rest.Config{Host: c.api.URL, BearerToken: "the-learners"}
}
func (c *fakeCluster) Capabilities() cluster.Capabilities {
	return cluster.Capabilities{Backend: "fake", Version: "v1.37.2"}
}

func (c *fakeCluster) Health(fn func(cluster.Health)) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.health = append(c.health, fn)
	return func() {}
}

func (c *fakeCluster) turn(h cluster.Health) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, fn := range c.health {
		fn(h)
	}
}

func (c *fakeCluster) Usage(context.Context) (cluster.Usage, error) {
	return cluster.Usage{PrivateBytes: 80 << 20}, nil
}

func (c *fakeCluster) Stop(context.Context) error {
	c.api.CloseClientConnections()
	c.api.Close()
	return nil
}

// serveAPI answers as much as a check on namespaces needs.
func serveAPI(w http.ResponseWriter, r *http.Request) {
	answer := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	switch path := strings.TrimSuffix(r.URL.Path, "/"); {
	case path == "/api":
		answer(map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
	case path == "/apis":
		answer(map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{}})
	case path == "/api/v1":
		answer(map[string]any{"kind": "APIResourceList", "groupVersion": "v1", "resources": []any{
			map[string]any{"name": "namespaces", "kind": "Namespace", "verbs": []string{"list", "get", "watch"}}}})
	case path == "/api/v1/namespaces" && r.URL.Query().Get("watch") != "":
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case path == "/api/v1/namespaces":
		answer(map[string]any{"kind": "NamespaceList", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": "7"}, "items": []any{}})
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404})
	}
}

var (
	healing = cluster.Health{Reason: "the API server exited"}
	healthy = cluster.Health{Ready: true}
)

func (c *fakeCluster) CollectLogs(_ context.Context, dir string) error {
	node := filepath.Join(dir, "apilab-"+c.id+"-control-plane")
	if err := os.MkdirAll(node, 0o700); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(node, "kubelet.log"), []byte("Starting kubelet <main>\n"), 0o600),
		os.Symlink("/etc/passwd", filepath.Join(node, "passwd")))
}
