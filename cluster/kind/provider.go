package kind

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
	"strings"
	"sync"
	"time"

	"github.com/apilab/apilab/cluster"
)

// Options configure a Provider. Dir, Executable and Engine are required.
type Options struct {
	Dir        string // where the clusters' folders are; made if need be, mode 0700
	Executable string // this binary: run with the argument Command it calls Main
	Engine     Engine // what Detect found
	Logger     *slog.Logger

	Image        string   // of the nodes; "" means DefaultImage, or the one in ImageArchive
	ImageArchive string   // file that the image is loaded from if the engine does not have it; "": it is pulled
	Load         []string // archives of images that every new cluster gets
	Kubernetes   string   // the version that the image has to be of, but for its patch, such as "v1.37.2"; "": any
	KeepLogs     string   // folder for the nodes' logs of creations that fail; "": they are not kept

	// StartTimeout bounds one start of a cluster, without the pull of its image; 0 means 10 minutes, for slow and busy machines.
	StartTimeout time.Duration
	// ProbeEvery is how often an API server is asked for a sign of life; 0 means 5 s.
	ProbeEvery time.Duration
}

// A Provider makes kind clusters. It implements cluster.Provider.
type Provider struct {
	o     Options
	shop  workshop
	host  host
	image imageStore
	life  context.Context // ends with Close
	end   context.CancelFunc
	swept chan struct{} // closed when what an earlier process left has been removed, or could not be

	mu      sync.Mutex
	running map[string]*instance
}

var (
	_ cluster.Provider = (*Provider)(nil)
	_ cluster.Checker  = (*Provider)(nil)
)

// New returns a provider of the clusters in o.Dir. No other provider may use that folder. It does not wait for the engine:
// what an earlier process left half made is removed in the background, before the first cluster is made.
func New(o Options) (*Provider, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = 10 * time.Minute
	}
	if o.ProbeEvery == 0 {
		o.ProbeEvery = 5 * time.Second
	}
	_, none := os.Stat(o.Dir)
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the kind clusters' folder: %w", err)
	}
	// The engine knows folders by their real paths.
	var err error
	if o.Dir, err = filepath.EvalSymlinks(o.Dir); err == nil {
		o.Dir, err = filepath.Abs(o.Dir)
	}
	if err != nil {
		return nil, err
	}
	p := &Provider{o: o, shop: workshop{o.Executable, o.Logger}, host: machine{o.Engine}, running: map[string]*instance{}, swept: make(chan struct{})}
	p.life, p.end = context.WithCancel(context.Background())
	go func() {
		defer close(p.swept)
		if none != nil {
			return // an engine that nobody used is not asked
		}
		if err := p.sweep(p.life); err != nil && p.life.Err() == nil {
			o.Logger.Warn("remove kind clusters that were left half made", "err", err)
		}
	}()
	return p, nil
}

// Close stops all clusters and keeps their data.
func (p *Provider) Close() error {
	p.end()
	<-p.swept
	p.mu.Lock()
	running := slices.Collect(maps.Values(p.running))
	p.mu.Unlock()
	errs := make([]error, len(running))
	var stopping sync.WaitGroup
	for n, i := range running {
		stopping.Go(func() { errs[n] = i.Stop(context.Background()) })
	}
	stopping.Wait()
	return errors.Join(errs...)
}

var validID = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`)

func (p *Provider) folder(id string) (folder, error) {
	if !validID.MatchString(id) {
		return "", fmt.Errorf("cluster id %q is not a DNS label of at most 40 characters", id)
	}
	return folder(filepath.Join(p.o.Dir, id)), nil
}

// sweep removes what a process that was killed had begun to make. What has no folder of ours is not ours to remove.
func (p *Provider) sweep(ctx context.Context) error {
	entries, err := os.ReadDir(p.o.Dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if f, err := p.folder(entry.Name()); err == nil && f.halfMade() {
			p.o.Logger.Warn("removing a kind cluster that was left half made", "cluster", entry.Name())
			d, _ := f.read()
			errs = append(errs, p.purge(ctx, entry.Name(), f, d))
		}
	}
	nodes, err := p.o.Engine.nodes(ctx, "")
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, n := range nodes {
		id, found := strings.CutPrefix(n.Config.Labels[clusterLabel], clusterName(""))
		f, err := p.folder(id)
		if found && err == nil && n.ours(f) && !f.exists() {
			p.o.Logger.Warn("removing a node whose cluster is no more", "node", n.Name)
			errs = append(errs, p.o.Engine.remove(ctx, []node{n}), p.o.Engine.removeVolumes(ctx, []string{n.Name}))
		}
	}
	return errors.Join(errs...)
}

// Check implements cluster.Checker: a switch to a cluster that cannot be made shall cost nobody the one that they have.
func (p *Provider) Check(ctx context.Context, spec cluster.Spec) error {
	taken := p.free(ctx, spec.ID)
	if !errors.Is(taken, ErrTaken) { // else nothing that the machine lacks matters
		if err := fit(ctx, p.host, p.o.Engine); err != nil {
			return err
		}
	}
	return taken
}

// List implements cluster.Provider. It does not ask the engine, which may be down: a cluster whose nodes are gone is listed.
func (p *Provider) List(context.Context) ([]string, error) {
	entries, err := os.ReadDir(p.o.Dir)
	if err != nil {
		return nil, fmt.Errorf("list clusters: %w", err)
	}
	var ids []string
	for _, entry := range entries {
		if f, err := p.folder(entry.Name()); err == nil && !f.halfMade() {
			ids = append(ids, entry.Name())
		}
	}
	return ids, nil
}

// Delete implements cluster.Provider.
func (p *Provider) Delete(ctx context.Context, id string) error {
	f, err := p.folder(id)
	if err != nil {
		return err
	}
	if err := p.ready(ctx); err != nil {
		return err
	}
	if !f.exists() {
		return nil
	}
	p.mu.Lock()
	i := p.running[id]
	p.mu.Unlock()
	if i != nil {
		i.abandon()
	}
	d, _ := f.read() // one that cannot be read is deleted as well
	if err := p.purge(ctx, id, f, d); err != nil {
		return fmt.Errorf("delete cluster %s: %w", id, err)
	}
	return nil
}

// ready waits until what an earlier process left has been removed.
func (p *Provider) ready(ctx context.Context) error {
	select {
	case <-p.swept:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// purge removes a cluster's nodes with all they have, and then its folder. Nodes that somebody else made stay.
func (p *Provider) purge(ctx context.Context, id string, f folder, d description) error {
	engine := d.Engine
	if engine == "" {
		engine = p.o.Engine
	}
	nodes, err := engine.nodes(ctx, clusterName(id))
	if err != nil {
		return err
	}
	ours := slices.DeleteFunc(slices.Clone(nodes), func(n node) bool { return !n.ours(f) })
	if err := engine.remove(ctx, ours); err != nil {
		return err
	}
	if len(ours) == len(nodes) {
		if err := engine.removeVolumes(ctx, nodeNames(id, d.Nodes)); err != nil {
			return err
		}
	}
	return os.RemoveAll(string(f))
}

// take registers a cluster that is about to run.
func (p *Provider) take(i *instance) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life.Err() != nil {
		return cluster.ErrClosed
	}
	if p.running[i.id] != nil {
		return errors.New("it is running already")
	}
	p.running[i.id] = i
	return nil
}

// forget takes a cluster that has ended off the account.
func (p *Provider) forget(i *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[i.id] == i {
		delete(p.running, i.id)
	}
}
