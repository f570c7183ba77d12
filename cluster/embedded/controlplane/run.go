package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/apilab/apilab/cluster/embedded/controlplane/workqueuemetrics"
	"github.com/apilab/apilab/cluster/embedded/pki"
	"github.com/apilab/apilab/cluster/embedded/process"
	"github.com/apilab/apilab/cluster/embedded/wire"
)

// A controlPlane is the one cluster of this process. Its files are named relative to the data folder, which is the
// working directory: socket paths may have hardly more than 100 bytes.
type controlPlane struct {
	config   wire.Config
	pki      pki.Dir
	listener net.Listener
	report   func(wire.Message)
}

// The files of the data folder beside the certificates.
const (
	pkiDir     = "pki"
	etcdDir    = "etcd"
	etcdSocket = "etcd.sock"
	peerSocket = "peer.sock"
	lockFile   = "lock"
)

// Run runs the control plane until ctx ends or one of its parts fails. It reports its phases, and that it is ready.
// listener is where the API server serves; it is a TCP listener.
func Run(ctx context.Context, config wire.Config, listener net.Listener, report func(wire.Message)) error {
	if err := os.Chdir(config.Dir); err != nil {
		return err
	}
	lock, err := process.Lock(lockFile)
	if err != nil {
		return err
	}
	defer lock.Close()
	quietLogs()
	workqueuemetrics.Off()
	tuneForStart()

	c := &controlPlane{config: config, pki: pkiDir, listener: listener, report: report}
	report(wire.Message{Begin: "etcd"})
	store, err := startEtcd(ctx)
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	defer store.Server.Stop()
	if err := store.beginHistory(ctx, config.Fresh); err != nil {
		return fmt.Errorf("begin the history: %w", err)
	}

	store.connectInside(ctx, config.StoreBytes)

	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return ended(ctx, "etcd", store.wait(ctx)) })
	parts.Go(func() error { return c.bringUp(ctx, parts) })
	// The parts are not waited for: the API server would not end before the last watch, and there is nothing to save
	// but what etcd holds.
	<-ctx.Done()
	return context.Cause(ctx)
}

// bringUp starts the parts in order, each as soon as what it needs is there.
func (c *controlPlane) bringUp(ctx context.Context, parts *errgroup.Group) error {
	c.report(wire.Message{Begin: "apiserver"})
	server, err := newAPIServer(c)
	if err != nil {
		return fmt.Errorf("prepare the API server: %w", err)
	}
	parts.Go(func() error { return ended(ctx, "API server", server.Run(ctx)) })
	clients, err := c.newClients()
	if err != nil {
		return err
	}
	if err := clients.waitForServer(ctx); err != nil {
		return err
	}

	c.report(wire.Message{Begin: "bootstrap"})
	parts.Go(func() error { return ended(ctx, "scheduler", runScheduler(ctx, c)) })
	if err := clients.ensureNodes(ctx, c.config.Nodes); err != nil {
		return fmt.Errorf("make the nodes: %w", err)
	}
	if err := startNodes(ctx, c); err != nil {
		return fmt.Errorf("start the simulated nodes: %w", err)
	}
	if err := clients.waitForBootstrap(ctx); err != nil {
		return err
	}
	if err := clients.ensureLearner(ctx); err != nil {
		return fmt.Errorf("give the learner their rights: %w", err)
	}
	go clients.keepLearner(ctx)

	// Not before the bootstrap: it would look once, and a second later again.
	c.report(wire.Message{Begin: "controllers"})
	parts.Go(func() error { return ended(ctx, "controller manager", runControllerManager(ctx, c)) })
	parts.Go(func() error { return ended(ctx, "policy status controller", runPolicyStatus(ctx, c)) })
	if err := clients.waitForControllers(ctx); err != nil {
		return err
	}

	c.report(wire.Message{Begin: "nodes"})
	if err := clients.waitForNodes(ctx, c.config.Nodes); err != nil {
		return err
	}
	c.report(wire.Message{Ready: true})
	return c.settle(ctx)
}

// settle does what need not be done before the learner begins.
func (c *controlPlane) settle(ctx context.Context) error {
	select {
	case <-time.After(settleTime):
	case <-ctx.Done():
		return nil
	}
	if c.config.Bootstrapped {
		if err := c.runLateHooks(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("bring the default objects up to date: %w", err)
		}
	}
	tuneForIdle()
	select { // on a busy machine the controllers have only begun by now
	case <-time.After(calmTime):
		Trim()
	case <-ctx.Done():
	}
	<-ctx.Done()
	return nil
}

// ended makes an error of a part that returned while it should run on.
func ended(ctx context.Context, part string, err error) error {
	switch {
	case ctx.Err() != nil:
		return nil
	case err == nil:
		return errors.New(part + " ended")
	default:
		return fmt.Errorf("run %s: %w", part, err)
	}
}
