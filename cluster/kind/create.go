package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/apilab/apilab/cluster"
)

// Create implements cluster.Provider.
func (p *Provider) Create(ctx context.Context, spec cluster.Spec, progress func(cluster.Phase)) (cluster.Cluster, error) {
	f, err := p.folder(spec.ID)
	if err != nil {
		return nil, err
	}
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	made, err := p.create(ctx, f, spec, newJournal(progress))
	if err != nil {
		return nil, fmt.Errorf("create cluster %s: %w", spec.ID, err)
	}
	return made, nil
}

func (p *Provider) create(ctx context.Context, f folder, spec cluster.Spec, j *journal) (*instance, error) {
	if f.exists() {
		if !f.halfMade() {
			return nil, errors.New("it exists already")
		}
		d, _ := f.read() // an earlier failure could not be cleaned up
		if err := p.purge(ctx, spec.ID, f, d); err != nil {
			return nil, err
		}
	}
	if err := p.Check(ctx, spec); err != nil {
		return nil, err
	}
	image, err := p.image.ensure(ctx, p.o, j)
	if err != nil {
		return nil, err
	}
	i := newInstance(p, f, spec, description{Created: time.Now().UTC(), Engine: p.o.Engine, Image: image, Nodes: max(1, spec.Nodes)})
	if err := p.take(i); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.o.StartTimeout, fmt.Errorf("not ready after %s", p.o.StartTimeout))
	defer cancel()
	defer context.AfterFunc(i.life, cancel)() // Close ends a start, too
	err = i.make(ctx, j)
	if err == nil {
		j.done()
		i.begin()
		return i, nil
	}
	i.abandon()
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), slow)
	defer cancel()
	if !errors.Is(err, context.Canceled) {
		err = i.explain(ctx, err)
	}
	return nil, errors.Join(err, p.undo(ctx, spec.ID, f, i.description()))
}

// explain adds to the reason of a failed creation what the node itself has to say, and where its logs are if they are kept.
func (i *instance) explain(ctx context.Context, err error) error {
	if said, _ := i.description().Engine.run(ctx, quick, "logs", "--tail", "50", nodeNames(i.id, 1)[0]); strings.Contains(said, "Too many open files") {
		err = fmt.Errorf("%w: %w", ErrInotify, err)
	}
	if i.p.o.KeepLogs == "" {
		return err
	}
	dir := filepath.Join(i.p.o.KeepLogs, fmt.Sprintf("%s-%s", i.id, time.Now().Format("20060102-150405")))
	if failed := i.CollectLogs(ctx, dir); failed != nil { // of a node that ended, there are some
		i.p.o.Logger.Info("collect the logs of a node", "err", failed)
	}
	return fmt.Errorf("%w\nthe logs of its nodes are in %s", err, dir)
}

// settling is how long the engine may go on making what it was told to make by a command that was ended meanwhile.
const settling = time.Second

// undo removes what there is of a cluster, until there is no more.
func (p *Provider) undo(ctx context.Context, id string, f folder, d description) error {
	if err := p.purge(ctx, id, f, d); err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	if d.Engine != "podman" { // it has no daemon that would
		time.Sleep(settling)
		if err := p.purge(ctx, id, f, d); err != nil {
			return fmt.Errorf("clean up: %w", err)
		}
	}
	return nil
}

// free makes sure that nobody has a cluster of the name.
func (p *Provider) free(ctx context.Context, id string) error {
	nodes, err := p.o.Engine.nodes(ctx, clusterName(id))
	if err != nil || len(nodes) == 0 {
		return err
	}
	whose := "nobody knows whose"
	if source := nodes[0].source(); source != "" {
		whose = "that of the apilab with the folder " + filepath.Dir(source)
	}
	return fmt.Errorf("%w (%s, %s): if nobody needs it, remove it with `%s rm --force --volumes %s`",
		ErrTaken, clusterName(id), whose, p.o.Engine, nodes[0].Name)
}

// make makes the nodes and what is in them, until a learner may begin.
func (i *instance) make(ctx context.Context, j *journal) error {
	d := i.description()
	if err := i.folder.make(d); err != nil {
		return fmt.Errorf("make its folder: %w", err)
	}
	if err := i.openEgress(); err != nil {
		return err
	}
	work := job{Engine: d.Engine, Name: clusterName(i.id), Create: &creation{
		Config: plan(i.id, d.Nodes, d.Image, i.folder), Kubeconfig: i.folder.kubeconfig(),
	}}
	if err := i.p.shop.do(ctx, work, j.begin); err != nil {
		return err
	}
	j.begin(stepServer)
	if err := i.age(ctx); err != nil {
		return err
	}
	if err := d.Engine.access(ctx, i.folder, nodeNames(i.id, 1)[0], &d); err != nil {
		return err
	}
	if err := os.Remove(i.folder.kubeconfig()); err != nil {
		return err
	}
	if err := i.connect(d); err != nil {
		return err
	}
	if err := i.wait(ctx, j, time.Time{}); err != nil {
		return err
	}
	if len(i.p.o.Load) > 0 {
		j.begin(stepImages)
		for _, archive := range i.p.o.Load {
			if err := i.LoadImages(ctx, archive); err != nil {
				return err
			}
		}
	}
	d.Ready = true
	i.set(d)
	return i.folder.write(d)
}
