package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/embedded/kubeversion"
	"github.com/apilab/apilab/cluster/embedded/pki"
	"github.com/apilab/apilab/cluster/embedded/process"
	"github.com/apilab/apilab/cluster/embedded/wire"
	"github.com/apilab/apilab/cluster/limits"
	"github.com/apilab/apilab/cluster/observe"
)

// An instance is a running cluster: a control-plane process and, when it dies, the next one. It implements cluster.Cluster.
type instance struct {
	o        Options
	dir      folder
	config   wire.Config
	share    *limits.Share    // that each of its processes is held to
	listener *net.TCPListener // lent to each process; never accepted from here
	admin    *rest.Config
	learner  *rest.Config
	health   observe.Value[cluster.Health]
	forget   func(*instance)

	life   context.Context // ends when the instance shall stop
	cancel context.CancelFunc
	done   chan struct{} // closed when no process runs and none will

	mu  sync.Mutex
	run *run // the newest
}

// newInstance prepares a cluster's access; nothing runs yet. forget is called when it has ended for good.
func newInstance(o Options, dir folder, config wire.Config, share *limits.Share, forget func(*instance)) (*instance, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a port on the loopback interface: %w", err)
	}
	config.StoreBytes = o.storeBytes(share.Memory())
	i := &instance{o: o, dir: dir, config: config, share: share, listener: listener.(*net.TCPListener), forget: forget, done: make(chan struct{})}
	i.life, i.cancel = context.WithCancel(context.Background())
	if i.admin, err = i.access(pki.Admin); err == nil {
		i.learner, err = i.access(pki.Learner)
	}
	if err != nil {
		listener.Close()
		return nil, fmt.Errorf("read the cluster's certificates: %w", err)
	}
	return i, nil
}

func (i *instance) access(name string) (*rest.Config, error) {
	ca, _, err := i.dir.pki().Read(pki.CA)
	if err != nil {
		return nil, err
	}
	cert, key, err := i.dir.pki().Read(name)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            "https://" + i.listener.Addr().String(),
		TLSClientConfig: rest.TLSClientConfig{CAData: ca, CertData: cert, KeyData: key},
		QPS:             -1, // the API server's priority and fairness is limit enough
	}, nil
}

// begin starts the first process and, once the cluster is ready, keeps it running until end.
func (i *instance) begin(ctx context.Context, progress func(cluster.Phase)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(i.life, cancel)() // Stop ends a start, too
	started, err := i.attempt(ctx, progress)
	if err != nil {
		i.abandon()
		return err
	}
	i.config.Fresh, i.config.Bootstrapped = false, true // the next processes find a cluster that has lived
	i.health.Set(cluster.Health{Ready: true})
	go i.supervise(started)
	return nil
}

// abandon ends an instance of which no process runs.
func (i *instance) abandon() {
	i.cancel()
	i.listener.Close()
	close(i.done)
}

// attempt starts a process and waits until the cluster is ready. A process that fails to get there is ended.
func (i *instance) attempt(ctx context.Context, progress func(cluster.Phase)) (*run, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, i.o.StartTimeout, fmt.Errorf("not ready after %s", i.o.StartTimeout))
	defer cancel()
	socket, err := i.listener.File()
	if err != nil {
		return nil, fmt.Errorf("lend the listening socket: %w", err)
	}
	r, err := startRun(i.o, i.config, i.share, socket)
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	i.run = r
	i.mu.Unlock()
	if err := r.follow(ctx, progress); err != nil {
		return nil, err
	}
	return r, nil
}

// ID implements cluster.Cluster, as the methods below do.
func (i *instance) ID() string { return i.config.ID }

func (i *instance) Config() *rest.Config { return rest.CopyConfig(i.admin) }

func (i *instance) LearnerConfig() *rest.Config { return rest.CopyConfig(i.learner) }

func (i *instance) Capabilities() cluster.Capabilities {
	return cluster.Capabilities{Backend: "embedded", Version: kubeversion.Version, Nodes: len(i.config.Nodes)}
}

func (i *instance) Health(tell func(cluster.Health)) (stop func()) { return i.health.Follow(tell) }

func (i *instance) Usage(context.Context) (cluster.Usage, error) {
	i.mu.Lock()
	pid := i.run.process.Pid()
	i.mu.Unlock()
	used, err := process.UsageOf(pid)
	if err != nil {
		return cluster.Usage{}, fmt.Errorf("read the usage of process %d: %w", pid, err)
	}
	disk, err := i.dir.size()
	if err != nil {
		return cluster.Usage{}, fmt.Errorf("read the size of the cluster's data: %w", err)
	}
	return cluster.Usage{PrivateBytes: used.Anonymous, PSSBytes: used.Proportional, CPU: used.CPU, DiskBytes: disk}, nil
}

func (i *instance) Stop(ctx context.Context) error {
	i.cancel()
	select {
	case <-i.done:
		return nil
	case <-ctx.Done():
		i.kill()
		<-i.done
		return nil
	}
}

// destroy ends the process at once, for a cluster whose data is not wanted any more.
func (i *instance) destroy() {
	i.cancel()
	i.kill()
	<-i.done
}

func (i *instance) kill() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.run != nil {
		i.run.process.Kill()
	}
}

var errStopped = errors.New("the cluster was stopped")
