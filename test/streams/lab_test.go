package streams

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/gateway"
	"github.com/apilab/apilab/shell"
)

const learner = "local"

// image has a shell and busybox's programs. Without a network it has to be on the nodes already.
var image = cmp.Or(os.Getenv("APILAB_TEST_IMAGE"), os.Getenv("KINDLAB_BUSYBOX_IMAGE"), "busybox:1.37")

// A lab is a kind cluster with a gateway in front of it and a home for a learner.
type lab struct {
	*gateway.Gateway
	options shell.Options
	host    string // kubeconfig of a kubectl outside of the shell
}

// one stands in for the manager: a single cluster that is always ready.
type one struct {
	cluster.Cluster
	config *rest.Config
}

func (o *one) Get(id string) (cluster.Cluster, bool)                  { return o, id == learner }
func (o *one) Claim(context.Context, string) (cluster.Cluster, error) { return o, nil }
func (o *one) Status(string) cluster.Status                           { return cluster.Status{State: cluster.Ready} }
func (o *one) Use(string) (release func())                            { return func() {} }
func (o *one) ID() string                                             { return learner }
func (o *one) LearnerConfig() *rest.Config                            { return o.config }

func newLab(t *testing.T) *lab {
	t.Helper()
	dir := t.TempDir()
	admin := filepath.Join(dir, "admin")
	create := []string{"create", "cluster", "--name", "apilab-test-streams", "--kubeconfig", admin, "--wait", "3m"}
	if node := os.Getenv("KINDLAB_NODE_IMAGE"); node != "" {
		create = append(create, "--image", node)
	}
	command(t, "kind", create...)
	t.Cleanup(func() {
		command(t, "kind", "delete", "cluster", "--name", "apilab-test-streams", "--kubeconfig", admin)
	})
	config, err := clientcmd.BuildConfigFromFlags("", admin)
	if err != nil {
		t.Fatal(err)
	}
	config.Impersonate = rest.ImpersonationConfig{UserName: "learner", Groups: []string{"apilab:learners", "system:authenticated"}}
	g, err := gateway.New(gateway.Options{Dir: filepath.Join(dir, "gateway"), Clusters: &one{config: config}, Port: gateway.AnyPort})
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
	kubeconfig, err := g.Kubeconfig(learner)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{Gateway: g, host: filepath.Join(dir, "host")}
	if err := os.WriteFile(l.host, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	l.options = shell.Options{Home: filepath.Join(dir, "home"), Ports: filepath.Join(dir, "ports"), Kubeconfig: kubeconfig, GatewayAddr: g.Addr()}
	l.as(t, admin, "create", "clusterrolebinding", "learners", "--clusterrole=cluster-admin", "--group=apilab:learners")
	return l
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// as runs a kubectl that no shell confines, with a kubeconfig, and returns what it printed.
func (l *lab) as(t *testing.T, kubeconfig string, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = append([]string{"kubectl"}, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// script runs a script in the learner's shell without a terminal, and returns what it printed.
func (l *lab) script(t *testing.T, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	exit, err := shell.Run(ctx, l.options, text, &out, &out)
	if err != nil || exit != 0 {
		t.Fatalf("exit %d, %v of\n%s\n%s", exit, err, text, out.String())
	}
	return out.String()
}

// recorded waits for a request record of a subresource that a condition holds for.
func (l *lab) recorded(t *testing.T, subresource string, holds func(gateway.Record) bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		var seen []gateway.Record
		for _, r := range l.Recorder(learner).Records() {
			if r.Subresource == subresource {
				seen = append(seen, r)
				if holds(r) {
					return
				}
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("no such record of %s among %+v", subresource, seen)
		}
	}
}
