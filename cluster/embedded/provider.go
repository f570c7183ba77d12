package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/embedded/controlplane"
	"github.com/apilab/apilab/cluster/embedded/kubeversion"
	"github.com/apilab/apilab/cluster/embedded/pki"
	"github.com/apilab/apilab/cluster/embedded/process"
	"github.com/apilab/apilab/cluster/embedded/wire"
	"github.com/apilab/apilab/cluster/limits"
)

// Options configure a Provider. Dir and Executable are required.
type Options struct {
	Dir        string // where the clusters' folders are; made if need be, mode 0700
	Templates  string // where the stores are that new clusters begin with; "": they begin with nothing
	Executable string // this binary: run with the argument control-plane it calls Main
	Logger     *slog.Logger
	// StartTimeout bounds one start of a control plane; 0 means 3 minutes, for slow and busy machines.
	StartTimeout time.Duration
	// ProbeEvery is how often a control plane is asked for a sign of life; 0 means 30 s. One that is silent three times,
	// each for a third of that, is replaced.
	ProbeEvery time.Duration
	// StoreBytes is what the objects of a cluster may take, with their history as long as there is room; 0 means 256 MiB.
	// A cluster with a share of the memory may have less: it shall be full before it is out of memory.
	StoreBytes int64
}

// What memory a control plane takes: so much by itself, and each object as often as it is held, by the API server's cache
// and the controllers', and as garbage.
const (
	ownMemory = 128 << 20 // bytes
	copies    = 3
)

// storeBytes is what the objects of a cluster may take whose processes may take so much memory; 0: any.
func (o Options) storeBytes(memory int64) int64 {
	if memory == 0 {
		return o.StoreBytes
	}
	return min(o.StoreBytes, (memory-ownMemory)/copies)
}

// A Provider makes embedded clusters. It implements cluster.Provider.
type Provider struct {
	o Options

	life       context.Context // ends with Close
	end        context.CancelFunc
	background sync.WaitGroup
	later      sync.Once
	preparing  sync.Mutex

	mu      sync.Mutex
	running map[string]*instance
}

var _ cluster.Provider = (*Provider)(nil)

// New returns a provider of the clusters in o.Dir. No other provider may use that folder: control planes that still run
// there were left by a server that crashed, and are ended.
func New(o Options) (*Provider, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = 3 * time.Minute
	}
	if o.ProbeEvery == 0 {
		o.ProbeEvery = 30 * time.Second
	}
	if o.StoreBytes == 0 {
		o.StoreBytes = 256 << 20
	}
	var err error
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	if o.Templates != "" {
		if o.Templates, err = filepath.Abs(o.Templates); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the clusters' folder: %w", err)
	}
	p := &Provider{o: o, running: map[string]*instance{}}
	p.life, p.end = context.WithCancel(context.Background())
	if err := p.sweep(); err != nil {
		return nil, err
	}
	return p, nil
}

// Close stops all clusters and whatever else runs, and keeps the data.
func (p *Provider) Close() error {
	p.end()
	p.mu.Lock()
	running := slices.Collect(maps.Values(p.running))
	p.mu.Unlock()
	var stopping sync.WaitGroup
	for _, i := range running {
		stopping.Go(func() { _ = i.Stop(context.Background()) })
	}
	stopping.Wait()
	p.background.Wait()
	return nil
}

// sweep ends the processes and removes the half-made and half-deleted folders that a crashed server left.
func (p *Provider) sweep() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	entries, err := os.ReadDir(p.o.Dir)
	if err != nil {
		return fmt.Errorf("sweep the clusters' folder: %w", err)
	}
	for _, entry := range entries {
		dir := folder(filepath.Join(p.o.Dir, entry.Name()))
		killed, err := process.KillHolder(ctx, dir.lock())
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("end a control plane that a crash left: %w", err)
		}
		if killed != 0 {
			p.o.Logger.Warn("ended a control plane that a crash left", "cluster", entry.Name(), "pid", killed)
		}
		if filepath.Ext(entry.Name()) == trash || !dir.wasReady() {
			if err := os.RemoveAll(string(dir)); err != nil {
				return fmt.Errorf("remove what is left of a cluster: %w", err)
			}
		}
	}
	return p.sweepTemplates(ctx)
}

// trash is the suffix of a folder that is being deleted, or is not yet one.
const trash = ".deleted"

var validID = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`)

func (p *Provider) folder(id string) (folder, error) {
	if !validID.MatchString(id) {
		return "", fmt.Errorf("cluster id %q is not a DNS label of at most 40 characters", id)
	}
	return folder(filepath.Join(p.o.Dir, id)), nil
}

// Create implements cluster.Provider.
func (p *Provider) Create(ctx context.Context, spec cluster.Spec, progress func(cluster.Phase)) (cluster.Cluster, error) {
	dir, err := p.folder(spec.ID)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(string(dir)); err == nil {
		return nil, fmt.Errorf("cluster %s exists already", spec.ID)
	}
	made, err := p.create(ctx, dir, spec, progress)
	if transient(err) && ctx.Err() == nil && p.life.Err() == nil {
		if err = os.RemoveAll(string(dir)); err == nil {
			made, err = p.create(ctx, dir, spec, progress)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create cluster %s: %w", spec.ID, err), os.RemoveAll(string(dir)))
	}
	return made, nil
}

func (p *Provider) create(ctx context.Context, dir folder, spec cluster.Spec, progress func(cluster.Phase)) (*instance, error) {
	if err := dir.make(); err != nil {
		return nil, err
	}
	if err := room(string(dir)); err != nil {
		return nil, err
	}
	if err := dir.pki().Ensure(controlplane.ServiceIP); err != nil {
		return nil, err
	}
	d := description{Created: time.Now().UTC(), Nodes: nodes(spec.Nodes)}
	if err := dir.write(d); err != nil {
		return nil, fmt.Errorf("describe the cluster: %w", err)
	}
	fresh := p.hasTemplate()
	if fresh {
		if err := os.CopyFS(dir.store(), os.DirFS(p.template())); err != nil {
			return nil, fmt.Errorf("copy the template: %w", err)
		}
	}
	made, err := p.start(ctx, dir, wire.Config{ID: spec.ID, Dir: string(dir), Nodes: d.Nodes, Ports: spec.Ports, Fresh: fresh, Bootstrapped: fresh}, spec.Share, progress)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(dir.unready()); err != nil {
		made.destroy()
		return nil, err
	}
	if !fresh {
		p.prepareLater()
	}
	return made, nil
}

// Adopt implements cluster.Provider.
func (p *Provider) Adopt(ctx context.Context, spec cluster.Spec, progress func(cluster.Phase)) (cluster.Cluster, error) {
	dir, err := p.folder(spec.ID)
	if err != nil {
		return nil, err
	}
	adopted, err := p.adopt(ctx, dir, spec, progress)
	if transient(err) && ctx.Err() == nil && p.life.Err() == nil {
		adopted, err = p.adopt(ctx, dir, spec, progress)
	}
	if err != nil {
		return nil, fmt.Errorf("start cluster %s: %w", spec.ID, err)
	}
	return adopted, nil
}

func (p *Provider) adopt(ctx context.Context, dir folder, spec cluster.Spec, progress func(cluster.Phase)) (*instance, error) {
	d, err := dir.read()
	if err != nil {
		return nil, err
	}
	if err := room(string(dir)); err != nil {
		return nil, err
	}
	if err := dir.pki().Ensure(controlplane.ServiceIP); errors.Is(err, pki.ErrUnreadable) {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	} else if err != nil {
		return nil, err
	}
	if err := dir.write(d); err != nil { // the data is now of our version
		return nil, fmt.Errorf("describe the cluster: %w", err)
	}
	return p.start(ctx, dir, wire.Config{ID: spec.ID, Dir: string(dir), Nodes: d.Nodes, Ports: spec.Ports, Bootstrapped: d.Kubernetes == kubeversion.Version}, spec.Share, progress)
}

// start starts a cluster on its folder and keeps account of it.
func (p *Provider) start(ctx context.Context, dir folder, config wire.Config, share *limits.Share, progress func(cluster.Phase)) (*instance, error) {
	i, err := newInstance(p.o, dir, config, share, p.forget)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	taken := p.running[config.ID] != nil || p.life.Err() != nil
	if !taken {
		p.running[config.ID] = i
	}
	p.mu.Unlock()
	if taken {
		i.abandon()
		return nil, errors.New("it is running already")
	}
	if err := i.begin(ctx, progress); err != nil {
		p.forget(i)
		return nil, err
	}
	return i, nil
}

// forget takes an instance that has ended off the account.
func (p *Provider) forget(i *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[i.config.ID] == i {
		delete(p.running, i.config.ID)
	}
}

// List implements cluster.Provider.
func (p *Provider) List(context.Context) ([]string, error) {
	entries, err := os.ReadDir(p.o.Dir)
	if err != nil {
		return nil, fmt.Errorf("list clusters: %w", err)
	}
	var ids []string
	for _, entry := range entries {
		if entry.IsDir() && validID.MatchString(entry.Name()) {
			ids = append(ids, entry.Name())
		}
	}
	return ids, nil
}

// Delete implements cluster.Provider.
func (p *Provider) Delete(ctx context.Context, id string) error {
	dir, err := p.folder(id)
	if err != nil {
		return err
	}
	p.mu.Lock()
	i := p.running[id]
	p.mu.Unlock()
	if i != nil {
		i.destroy()
	}
	if _, err := process.KillHolder(ctx, dir.lock()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("delete cluster %s: %w", id, err)
	}
	// Renamed first, so that a crash half-way leaves nothing that looks like a cluster.
	gone := string(dir) + trash
	if err := os.RemoveAll(gone); err != nil {
		return fmt.Errorf("delete cluster %s: %w", id, err)
	}
	if err := os.Rename(string(dir), gone); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("delete cluster %s: %w", id, err)
	}
	if err := os.RemoveAll(gone); err != nil {
		return fmt.Errorf("delete cluster %s: %w", id, err)
	}
	return nil
}

// nodes describes n simulated nodes, 0 meaning two, spread over two zones.
func nodes(n int) []wire.Node {
	if n == 0 {
		n = 2
	}
	out := make([]wire.Node, 0, n)
	for i := range n {
		out = append(out, wire.Node{
			Name:    fmt.Sprintf("node-%d", i+1),
			Address: fmt.Sprintf("172.18.0.%d", i+11),
			PodCIDR: fmt.Sprintf("10.244.%d.0/24", i),
			Zone:    fmt.Sprintf("zone-%c", 'a'+i%2),
		})
	}
	return out
}
