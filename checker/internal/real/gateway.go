package real

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/gateway"
)

// A Gateway is a real one before the API server, for the learner "test".
type Gateway struct {
	Recorder   *gateway.Recorder
	Config     *rest.Config // the learner's access
	Kubeconfig string       // file of the same
}

// NewGateway serves one until the test ends.
func NewGateway(t *testing.T) Gateway {
	t.Helper()
	g, err := gateway.New(gateway.Options{Dir: t.TempDir(), Clusters: oneCluster{config: Cluster(t)}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	text, err := g.Kubeconfig("test")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	return Gateway{Recorder: g.Recorder("test"), Config: config, Kubeconfig: file}
}

// oneCluster gives the real cluster to the gateway.
type oneCluster struct{ config *rest.Config }

func (c oneCluster) Get(string) (cluster.Cluster, bool)                     { return c, true }
func (c oneCluster) Claim(context.Context, string) (cluster.Cluster, error) { return c, nil }
func (c oneCluster) Status(id string) cluster.Status {
	return cluster.Status{ID: id, State: cluster.Ready}
}
func (c oneCluster) Use(string) (release func())                  { return func() {} }
func (c oneCluster) ID() string                                   { return "test" }
func (c oneCluster) Config() *rest.Config                         { return c.config }
func (c oneCluster) LearnerConfig() *rest.Config                  { return c.config }
func (c oneCluster) Capabilities() cluster.Capabilities           { return cluster.Capabilities{} }
func (c oneCluster) Health(func(cluster.Health)) (stop func())    { return func() {} }
func (c oneCluster) Usage(context.Context) (cluster.Usage, error) { return cluster.Usage{}, nil }
func (c oneCluster) Stop(context.Context) error                   { return nil }
