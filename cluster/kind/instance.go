package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/learner"
	"github.com/apilab/apilab/cluster/observe"
)

// An instance is a cluster whose nodes run, or are being healed. It implements cluster.Cluster and what a cluster may have
// beside: Images, Logs and Freezer.
type instance struct {
	p      *Provider
	id     string
	folder folder
	spec   cluster.Spec
	health observe.Value[cluster.Health]

	life   context.Context // ends when the instance shall
	cancel context.CancelFunc
	parts  sync.WaitGroup // what runs in the background
	frozen atomic.Bool    // nobody takes its silence for a death

	mu      sync.Mutex
	d       description
	kube    kubernetes.Interface
	version string // the server's
	egress  *egress
	unkeep  context.CancelFunc // ends the keeping of the learner's rights
}

var (
	_ cluster.Cluster = (*instance)(nil)
	_ cluster.Images  = (*instance)(nil)
	_ cluster.Logs    = (*instance)(nil)
)

func newInstance(p *Provider, f folder, spec cluster.Spec, d description) *instance {
	i := &instance{p: p, id: spec.ID, folder: f, spec: spec, d: d}
	i.life, i.cancel = context.WithCancel(p.life)
	return i
}

// Adopt implements cluster.Provider.
func (p *Provider) Adopt(ctx context.Context, spec cluster.Spec, progress func(cluster.Phase)) (cluster.Cluster, error) {
	f, err := p.folder(spec.ID)
	if err != nil {
		return nil, err
	}
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	adopted, err := p.adopt(ctx, f, spec, newJournal(progress))
	if err != nil {
		return nil, fmt.Errorf("start cluster %s: %w", spec.ID, err)
	}
	return adopted, nil
}

func (p *Provider) adopt(ctx context.Context, f folder, spec cluster.Spec, j *journal) (*instance, error) {
	d, err := f.read()
	if err != nil {
		return nil, err
	}
	i := newInstance(p, f, spec, d)
	if err := p.take(i); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.o.StartTimeout, fmt.Errorf("not ready after %s", p.o.StartTimeout))
	defer cancel()
	defer context.AfterFunc(i.life, cancel)() // Close ends a start, too
	if err = i.openEgress(); err == nil {
		if err = i.connect(d); err == nil {
			err = i.start(ctx, j)
		}
	}
	if err != nil {
		i.abandon()
		return nil, err
	}
	j.done()
	i.begin()
	return i, nil
}

// start starts the nodes that do not run, and waits until the cluster is ready.
func (i *instance) start(ctx context.Context, j *journal) error {
	j.begin(stepStart)
	engine := i.description().Engine
	nodes, err := i.nodes(ctx)
	if err != nil {
		return err
	}
	var since time.Time
	for _, n := range nodes {
		verb := "start"
		switch {
		case n.State.Paused:
			verb = "unpause"
		case n.State.Running:
			continue
		}
		since = time.Now()
		if _, err := engine.run(ctx, slow, verb, n.ID); err != nil {
			return err
		}
	}
	j.begin(stepServer)
	return i.wait(ctx, j, since)
}

// nodes returns the cluster's nodes, all of them, or an error that says which is gone.
func (i *instance) nodes(ctx context.Context) ([]node, error) {
	d := i.description()
	there, err := d.Engine.nodes(ctx, clusterName(i.id))
	if err != nil {
		return nil, err
	}
	var nodes []node
	for _, name := range nodeNames(i.id, d.Nodes) {
		found := false
		for _, n := range there {
			if n.Name == name && n.ours(i.folder) {
				nodes, found = append(nodes, n), true
			}
		}
		if !found {
			return nil, fmt.Errorf("the node %s is not there any more: %w", name, ErrGone)
		}
	}
	return nodes, nil
}

// connect makes the clients of an API server whose address is known.
func (i *instance) connect(d description) error {
	kube, err := kubernetes.NewForConfig(d.config(d.Platform))
	if err != nil {
		return fmt.Errorf("read the cluster's access: %w", err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.d, i.kube = d, kube
	return nil
}

// wait waits until a learner may begin. since is when a node was last started; zero if that was long ago.
func (i *instance) wait(ctx context.Context, j *journal, since time.Time) error {
	kube, d := i.client(), i.description()
	if !d.Ready {
		if err := until(ctx, "the API server has not started anew", func(ctx context.Context) error { return hasPast(ctx, kube) }); err != nil {
			return err
		}
	}
	if err := serverReady(ctx, kube); err != nil {
		return err
	}
	if !d.Ready {
		j.begin(stepBootstrap)
		if err := bootstrapped(ctx, kube); err != nil {
			return err
		}
	}
	if err := until(ctx, "give the learner their rights", func(ctx context.Context) error {
		return learner.Ensure(ctx, kube.RbacV1())
	}); err != nil {
		return err
	}
	if !d.Ready || !since.IsZero() { // else the nodes ran, and what they are like is the learner's business
		j.begin(stepNodes)
		if err := nodesReady(ctx, kube, nodeNames(i.id, d.Nodes), since); err != nil {
			return err
		}
	}
	version, err := kube.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.version = version.GitVersion
	return nil
}

// begin says that the cluster is ready, and keeps it so.
func (i *instance) begin() {
	i.health.Set(cluster.Health{Ready: true})
	i.parts.Go(i.watch)
	i.keepLearner(true)
}

// keepLearner begins to keep the learner's rights, or ends it while the API server is known not to answer: it would say
// so in the log, again and again.
func (i *instance) keepLearner(keep bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.unkeep != nil {
		i.unkeep()
		i.unkeep = nil
	}
	if keep && i.life.Err() == nil {
		ctx, unkeep := context.WithCancel(i.life)
		kube := i.kube
		i.unkeep = unkeep
		i.parts.Go(func() { learner.Keep(ctx, kube.RbacV1(), restoring, i.p.o.Logger) })
	}
}

func (i *instance) openEgress() error {
	e, err := startEgress(i.folder.egress(), i.spec.Ports)
	if err != nil {
		return fmt.Errorf("listen for the API server's connections to webhooks: %w", err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.egress = e
	return nil
}

// abandon ends all that we do for the cluster. Its nodes stay as they are.
func (i *instance) abandon() {
	i.cancel()
	i.parts.Wait()
	i.closeEgress()
	i.p.forget(i)
}

func (i *instance) closeEgress() {
	i.mu.Lock()
	e := i.egress
	i.egress = nil
	i.mu.Unlock()
	if e != nil {
		e.close()
	}
}

func (i *instance) description() description {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.d
}

func (i *instance) set(d description) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.d = d
}

func (i *instance) client() kubernetes.Interface {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.kube
}

// ID implements cluster.Cluster, as the methods below do.
func (i *instance) ID() string { return i.id }

func (i *instance) Config() *rest.Config {
	d := i.description()
	return d.config(d.Platform)
}

func (i *instance) LearnerConfig() *rest.Config {
	d := i.description()
	return d.config(d.Learner)
}

func (i *instance) Capabilities() cluster.Capabilities {
	i.mu.Lock()
	defer i.mu.Unlock()
	return cluster.Capabilities{Backend: "kind", Version: i.version, Nodes: i.d.Nodes, RealPods: true, Logs: true}
}

func (i *instance) Health(tell func(cluster.Health)) (stop func()) { return i.health.Follow(tell) }

func (i *instance) Stop(ctx context.Context) error {
	i.abandon()
	i.health.Set(cluster.Health{Reason: "the cluster was stopped"})
	if err := i.halt(ctx); !errors.Is(err, ErrGone) { // else there is nothing to stop; the next start says so
		return err
	}
	return nil
}

// stopSeconds is how long a node may take to end in good order.
const stopSeconds = "10"

// halt stops the nodes.
func (i *instance) halt(ctx context.Context) error {
	nodes, err := i.nodes(ctx)
	if err != nil {
		return err
	}
	engine := i.description().Engine
	for _, n := range nodes {
		if n.State.Paused {
			if _, err := engine.run(ctx, slow, "unpause", n.ID); err != nil {
				return err
			}
		}
	}
	_, err = engine.run(ctx, slow, append([]string{"stop", "-t", stopSeconds}, ids(nodes)...)...)
	return err
}

// Platform implements cluster.Images. Nodes are containers of this machine.
func (i *instance) Platform(context.Context) (string, error) { return "linux/" + runtime.GOARCH, nil }

// LoadImages implements cluster.Images.
func (i *instance) LoadImages(ctx context.Context, archive string) error {
	f, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("load images: %w", err)
	}
	f.Close()
	if err := i.p.shop.do(ctx, job{Engine: i.description().Engine, Name: clusterName(i.id), Load: archive}, func([2]string) {}); err != nil {
		return fmt.Errorf("load the images of %s: %w", archive, err)
	}
	return nil
}

// CollectLogs implements cluster.Logs, as `kind export logs` does.
func (i *instance) CollectLogs(ctx context.Context, dir string) error {
	return i.p.shop.do(ctx, job{Engine: i.description().Engine, Name: clusterName(i.id), Collect: dir}, func([2]string) {})
}
