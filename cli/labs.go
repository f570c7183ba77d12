package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/apilab/apilab/checker/verify"
	"github.com/apilab/apilab/cli/datadir"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/gateway"
	"github.com/apilab/apilab/server"
	"github.com/apilab/apilab/shell"
)

// labs are clusters for proofs, in a temporary folder. They implement verify.Env.
type labs struct {
	scratch  *datadir.Dir
	dir      string // of scratch
	provider Provider
	clusters *cluster.Manager
	gateway  *gateway.Gateway
	program  *Program

	made   atomic.Int64
	stop   context.CancelFunc
	served chan error
}

func (p *Program) newLabs(level slog.Level) (_ *labs, err error) {
	l := &labs{program: p, stop: func() {}, served: make(chan error, 1)}
	if l.scratch, err = datadir.Temp("verify"); err != nil {
		return nil, err
	}
	l.dir = l.scratch.Path
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	log := p.logger(level)
	if l.provider, err = p.Provider(l.dir, log); err != nil {
		return nil, err
	}
	l.clusters = cluster.NewManager([]cluster.Backend{{Name: "embedded", Provider: l.provider}}, cluster.Options{Ports: l.ports, Logger: log})
	l.gateway, err = gateway.New(gateway.Options{
		Dir: filepath.Join(l.dir, "gateway"), Clusters: l.clusters, Port: gateway.AnyPort, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	go func() { l.served <- l.gateway.Serve(ctx) }()
	return l, nil
}

// close ends all labs and removes what they left.
func (l *labs) close() error {
	var errs []error
	l.stop()
	if l.gateway != nil {
		errs = append(errs, <-l.served)
	}
	if l.clusters != nil {
		errs = append(errs, l.clusters.Close(context.Background()))
	}
	if l.provider != nil {
		errs = append(errs, l.provider.Close())
	}
	return errors.Join(append(errs, l.scratch.Remove())...)
}

func (l *labs) learner(id string) string { return filepath.Join(l.dir, "learners", id) }
func (l *labs) home(id string) string    { return filepath.Join(l.learner(id), "home") }
func (l *labs) ports(id string) string   { return filepath.Join(l.learner(id), "ports") }

// Lab implements verify.Env.
func (l *labs) Lab(ctx context.Context, want exercises.Cluster) (*verify.Lab, error) {
	if want.Backend == "kind" || want.Nodes == "real" {
		return nil, fmt.Errorf("%w: it wants real nodes", verify.ErrUnsupported)
	}
	id := fmt.Sprintf("lab-%d", l.made.Add(1))
	for _, dir := range []string{l.home(id), l.ports(id)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make a lab: %w", err)
		}
	}
	c, err := l.clusters.Claim(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("make a lab: %w", err)
	}
	kubeconfig, err := l.gateway.Kubeconfig(id)
	if err != nil {
		return nil, err
	}
	options := shell.Options{
		Home:        l.home(id),
		Ports:       l.ports(id),
		Kubeconfig:  kubeconfig,
		GatewayAddr: l.gateway.Addr(),
		Executable:  l.program.Executable,
	}
	return &verify.Lab{
		Config:     c.Config(),
		Records:    l.gateway.Recorder(id),
		Run:        server.NewRunner(options, c.Config()),
		Type:       server.NewTyper(options),
		Kubeconfig: kubeconfig,
		Close: func() error {
			return errors.Join(l.clusters.Delete(context.WithoutCancel(ctx), id), os.RemoveAll(l.learner(id)))
		},
	}, nil
}
