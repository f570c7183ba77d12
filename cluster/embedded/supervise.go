package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/embedded/wire"
)

// The policy of healing: a process that dies is replaced at once; one that dies again soon, after a pause that grows;
// and when it died so often that a next try is no better, it is given up.
const (
	soon      = 2 * time.Minute
	maxDeaths = 5 // in a row, each soon after the one before
	stopTime  = 5 * time.Second
)

// pause before the restart after the nth death in a row.
func pause(deaths int) time.Duration {
	if deaths <= 1 {
		return 0
	}
	return time.Second << (deaths - 2) // 1, 2, 4 s
}

// supervise keeps the cluster running until the instance's life ends or healing is given up. r is ready.
func (i *instance) supervise(r *run) {
	defer close(i.done)
	defer i.forget(i)
	defer i.listener.Close()
	deaths, ready := 0, time.Now()
	for {
		why := i.watch(r)
		if why == nil {
			i.health.Set(cluster.Health{Reason: errStopped.Error()})
			return
		}
		if time.Since(ready) > soon {
			deaths = 0
		}
		deaths++
		i.o.Logger.Warn("control plane died", "cluster", i.config.ID, "deaths", deaths, "err", why)
		next, err := i.heal(&deaths, why)
		if err != nil {
			if i.life.Err() != nil { // whoever ended it need not be told
				i.health.Set(cluster.Health{Reason: errStopped.Error()})
				return
			}
			i.o.Logger.Error("control plane given up", "cluster", i.config.ID, "err", err)
			i.health.Set(cluster.Health{Reason: err.Error(), Fatal: true})
			return
		}
		r, ready = next, time.Now()
		i.o.Logger.Info("control plane healed", "cluster", i.config.ID, "pid", r.process.Pid())
		i.health.Set(cluster.Health{Ready: true})
	}
}

// heal starts processes until one is ready. It gives up after maxDeaths, and at once where a retry cannot help.
func (i *instance) heal(deaths *int, why error) (*run, error) {
	for {
		if *deaths > maxDeaths || errors.Is(why, ErrUnreadable) {
			return nil, why
		}
		i.health.Set(cluster.Health{Reason: why.Error()})
		select {
		case <-time.After(pause(*deaths)):
		case <-i.life.Done():
			return nil, errStopped
		}
		var phases []cluster.Phase
		r, err := i.attempt(i.life, func(p cluster.Phase) {
			phases = cluster.WithPhase(phases, p)
			i.health.Set(cluster.Health{Reason: why.Error(), Phases: phases})
		})
		if err == nil {
			return r, nil
		}
		if i.life.Err() != nil {
			return nil, errStopped
		}
		why = err
		*deaths++
	}
}

// maxSilences is how often in a row a process may fail to give a sign of life.
const maxSilences = 3

// watch returns when the process has died, or was killed for not answering, with the reason; and nil when it was
// stopped because the instance's life ended.
func (i *instance) watch(r *run) error {
	ticker := time.NewTicker(i.o.ProbeEvery)
	defer ticker.Stop()
	client, err := rest.HTTPClientFor(i.admin)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	for silences := 0; ; {
		select {
		case <-r.process.Done():
			return r.death(nil)
		case <-i.life.Done():
			ctx, cancel := context.WithTimeout(context.Background(), stopTime)
			r.process.Stop(ctx, wire.Stop)
			cancel()
			return nil
		case <-ticker.C:
			if r.process.Frozen() {
				silences = 0
				continue
			}
			if err := cluster.Probe(i.life, client, i.admin.Host+livez, i.o.ProbeEvery/3); err == nil || r.process.Frozen() {
				silences = 0
			} else if silences++; silences >= maxSilences && i.life.Err() == nil {
				r.process.Kill()
				return r.death(fmt.Errorf("the API server did not answer: %w", err))
			}
		}
	}
}

// livez is the cheapest sign of life.
const livez = "/livez/ping"
