package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

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
	backend  backend
	clusters *cluster.Manager
	gateway  *gateway.Gateway
	program  *Program

	pool   *pool
	stop   context.CancelFunc
	served chan error
}

// garbage is GOGC of the control planes, unless the variable is set: what proofs lack is processors, not memory.
const garbage = "200"

func (p *Program) newLabs(ctx context.Context, o backendFlags, level slog.Level) (_ *labs, err error) {
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
	if os.Getenv("GOGC") == "" {
		os.Setenv("GOGC", garbage)
	}
	if l.backend, err = p.newBackend(ctx, o.provider, l.dir, o, log); err != nil {
		return nil, err
	}
	l.clusters = cluster.NewManager([]cluster.Backend{l.backend.Backend}, cluster.Options{Ports: l.ports, Logger: log})
	l.pool = &pool{clusters: l.clusters, log: log}
	l.gateway, err = gateway.New(gateway.Options{
		Dir: filepath.Join(l.dir, "gateway"), Clusters: l.clusters, Port: gateway.AnyPort, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	go func() { l.served <- l.gateway.Serve(serving) }()
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
		errs = append(errs, l.pool.close())
		errs = append(errs, l.clusters.Close(context.Background()))
	}
	if l.backend.close != nil {
		errs = append(errs, l.backend.close())
	}
	return errors.Join(append(errs, l.scratch.Remove())...)
}

func (l *labs) learner(id string) string { return filepath.Join(l.dir, "learners", id) }
func (l *labs) home(id string) string    { return filepath.Join(l.learner(id), "home") }
func (l *labs) ports(id string) string   { return filepath.Join(l.learner(id), "ports") }

// Lab implements verify.Env.
func (l *labs) Lab(ctx context.Context, want exercises.Cluster) (*verify.Lab, error) {
	if backend := want.Wants(); backend != "" && backend != l.backend.Name {
		return nil, fmt.Errorf("%w: it wants the backend %s", verify.ErrUnsupported, backend)
	}
	c, err := l.pool.take(ctx)
	if err != nil {
		return nil, fmt.Errorf("make a lab: %w", err)
	}
	lab, err := l.furnish(c)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a lab: %w", err), l.pool.give(ctx, c))
	}
	return lab, nil
}

// furnish puts a gateway before a cluster and a shell beside it, in which nobody did anything.
func (l *labs) furnish(c *pooled) (*verify.Lab, error) {
	id := c.ID()
	l.gateway.Recorder(id).Clear()
	for _, dir := range []string{l.home(id), l.ports(id)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
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
	closeDesk := desk{c.Cluster, kubeconfig}.open(l.learner(id))
	return &verify.Lab{
		Config:     c.Config(),
		Records:    l.gateway.Recorder(id),
		Run:        server.NewRunner(options, c.Config()),
		Type:       server.NewTyper(options),
		Kubeconfig: kubeconfig,
		Env:        []string{"APILAB_DATA_DIR=" + l.learner(id), "APILAB_BIN=" + l.program.Executable},
		Close: func(ctx context.Context) error {
			return errors.Join(closeDesk(), os.RemoveAll(l.learner(id)), l.pool.give(ctx, c))
		},
	}, nil
}
