package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/embedded/controlplane"
	"github.com/apilab/apilab/cluster/embedded/kubeversion"
	"github.com/apilab/apilab/cluster/embedded/process"
	"github.com/apilab/apilab/cluster/embedded/wire"
)

// A template is the store of a cluster that has bootstrapped: roles, namespaces, default objects. A new cluster that
// begins with a copy of it is ready in about half the time. It is made once per version, in the background after the first cluster,
// which begins with nothing so that nobody waits twice.

// templateDelay is how long the first cluster's learner is left alone before a template is made.
const templateDelay = 20 * time.Second

// settleTime is left to controllers for what they do beyond readiness.
const settleTime = 2 * time.Second

const templatePart = ".new"

func (p *Provider) template() string {
	return filepath.Join(p.o.Templates, fmt.Sprintf("%s-%d", kubeversion.Version, format))
}

func (p *Provider) hasTemplate() bool {
	if p.o.Templates == "" {
		return false
	}
	_, err := os.Stat(p.template())
	return err == nil
}

// Prepare makes the template that new clusters begin with, if it is missing. It takes as long as creating a cluster.
func (p *Provider) Prepare(ctx context.Context) error {
	p.preparing.Lock()
	defer p.preparing.Unlock()
	if p.o.Templates == "" || p.hasTemplate() {
		return nil
	}
	draft := folder(p.template() + templatePart)
	defer os.RemoveAll(string(draft))
	if err := p.prepare(ctx, draft); err != nil {
		return fmt.Errorf("make a template for new clusters: %w", err)
	}
	return nil
}

func (p *Provider) prepare(ctx context.Context, draft folder) error {
	if _, err := process.KillHolder(ctx, draft.lock()); err != nil {
		return err
	}
	if err := os.RemoveAll(string(draft)); err != nil {
		return err
	}
	if err := os.MkdirAll(string(draft), 0o700); err != nil {
		return err
	}
	if err := room(string(draft)); err != nil {
		return err
	}
	if err := draft.pki().Ensure(controlplane.ServiceIP); err != nil {
		return err
	}
	i, err := newInstance(p.o, draft, wire.Config{ID: "template", Dir: string(draft), Nodes: nodes(0)}, nil, func(*instance) {})
	if err != nil {
		return err
	}
	if err := i.begin(ctx, func(cluster.Phase) {}); err != nil {
		return err
	}
	select {
	case <-time.After(settleTime):
	case <-ctx.Done():
		i.destroy()
		return ctx.Err()
	}
	if err := i.Stop(ctx); err != nil {
		return err
	}
	return os.Rename(draft.store(), p.template())
}

// prepareLater makes the template when the machine is likely to have the time.
func (p *Provider) prepareLater() {
	if p.o.Templates == "" {
		return
	}
	p.later.Do(func() {
		p.background.Go(func() {
			select {
			case <-time.After(templateDelay):
			case <-p.life.Done():
				return
			}
			if err := p.Prepare(p.life); err != nil && !errors.Is(err, context.Canceled) {
				p.o.Logger.Warn("new clusters will begin with nothing", "err", err)
			}
		})
	})
}

// sweepTemplates removes what is left of other versions and of a crash.
func (p *Provider) sweepTemplates(ctx context.Context) error {
	entries, err := os.ReadDir(p.o.Templates)
	if p.o.Templates == "" || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sweep the templates' folder: %w", err)
	}
	for _, entry := range entries {
		path := filepath.Join(p.o.Templates, entry.Name())
		if path == p.template() {
			continue
		}
		if _, err := process.KillHolder(ctx, folder(path).lock()); err != nil {
			return fmt.Errorf("end a control plane that a crash left: %w", err)
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove an old template: %w", err)
		}
	}
	return nil
}
