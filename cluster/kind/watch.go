package kind

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/cluster"
)

// The policy of healing: nodes that were stopped are started, and started again when they stop soon after, after a pause
// that grows; when they stopped so often that a next try is no better, they are given up. What fails in a
// node that runs is left to its kubelet.
const (
	soon      = 2 * time.Minute
	maxDeaths = 5 // in a row, each soon after the one before
	// An API server that is silent is spoken of after so many times in a row, and its nodes are restarted after so long: its
	// kubelet has had its time.
	maxSilences = 3
	longest     = 5 * time.Minute
)

// restoring is how often the learner's rights are restored in vain: over the restart of an API server.
var restoring = wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Steps: 10}

// pause before the start after the nth death in a row.
func pause(deaths int) time.Duration {
	if deaths <= 1 {
		return 0
	}
	return time.Second << (deaths - 2) // 1, 2, 4, 8 s
}

// watch tells of the cluster's health, and restores it, until the instance's life ends or it is given up.
func (i *instance) watch() {
	client, err := rest.HTTPClientFor(i.Config())
	if err != nil {
		i.health.Set(cluster.Health{Reason: err.Error(), Fatal: true})
		return
	}
	defer client.CloseIdleConnections()
	ticker := time.NewTicker(i.p.o.ProbeEvery)
	defer ticker.Stop()
	deaths, healed, silences := 0, time.Now(), 0
	tell := func(reason string) { i.health.Set(cluster.Health{Reason: reason}) }
	for {
		select {
		case <-ticker.C:
		case <-i.life.Done():
			return
		}
		if i.frozen.Load() {
			continue
		}
		silence := cluster.Probe(i.life, client, i.Config().Host+"/readyz", i.p.o.ProbeEvery)
		if silence == nil || i.frozen.Load() {
			if !i.health.Get().Ready {
				i.health.Set(cluster.Health{Ready: true})
			}
			silences = 0
			continue
		}
		silences++
		down, moving, err := i.down(i.life)
		switch {
		case i.life.Err() != nil:
			return
		case errors.Is(err, ErrGone):
			i.giveUp(err)
			return
		case down != "" && moving:
			tell(down)
		case down != "":
			if time.Since(healed) > soon {
				deaths = 0
			}
			deaths++
			i.p.o.Logger.Warn("a node does not run", "cluster", i.id, "why", down, "deaths", deaths)
			i.keepLearner(false)
			if err := i.heal(&deaths, down); err != nil {
				if i.life.Err() == nil {
					i.giveUp(err)
				}
				return
			}
			i.keepLearner(true)
			healed, silences = time.Now(), 0
			i.health.Set(cluster.Health{Ready: true})
		case silences < maxSilences: // it may be busy
		case err != nil: // the engine itself is in trouble, which may pass
			tell(err.Error())
		case silences == i.tooMany():
			i.p.o.Logger.Warn("restarting nodes whose API server is silent", "cluster", i.id, "err", silence)
			if err := i.halt(i.life); err != nil {
				tell(err.Error())
			}
			silences = 0
		default:
			tell(fmt.Sprintf("the API server does not answer: %v", silence))
		}
	}
}

// tooMany is how often in a row an API server may fail to answer before its nodes are restarted.
func (i *instance) tooMany() int { return max(maxSilences+1, int(longest/i.p.o.ProbeEvery)) }

// giveUp ends what we do for the cluster, so that another instance can take it over, and says so.
func (i *instance) giveUp(why error) {
	i.p.o.Logger.Error("kind cluster given up", "cluster", i.id, "err", why)
	i.cancel()
	i.closeEgress()
	i.p.forget(i)
	i.health.Set(cluster.Health{Reason: why.Error(), Fatal: true})
}

// down says which node does not run, "" if all do. moving means that the engine is about to change that.
func (i *instance) down(ctx context.Context) (why string, moving bool, err error) {
	nodes, err := i.nodes(ctx)
	if err != nil {
		return "", false, err
	}
	for _, n := range nodes {
		if !n.State.Running || n.State.Paused {
			return fmt.Sprintf("the node %s does not run (%s)", n.Name, n.State.Status), n.moving(), nil
		}
	}
	return "", false, nil
}

// heal starts the nodes until the cluster is ready. It gives up after maxDeaths, and at once where a retry cannot help.
func (i *instance) heal(deaths *int, why string) error {
	for {
		i.health.Set(cluster.Health{Reason: why})
		select {
		case <-time.After(pause(*deaths)):
		case <-i.life.Done():
			return i.life.Err()
		}
		var phases []cluster.Phase
		j := newJournal(func(p cluster.Phase) {
			phases = cluster.WithPhase(phases, p)
			i.health.Set(cluster.Health{Reason: why, Phases: phases})
		})
		ctx, cancel := context.WithTimeoutCause(i.life, i.p.o.StartTimeout, fmt.Errorf("not ready after %s", i.p.o.StartTimeout))
		err := i.start(ctx, j)
		cancel()
		if err == nil {
			j.done()
			return nil
		}
		if *deaths++; *deaths > maxDeaths || errors.Is(err, ErrGone) || i.life.Err() != nil {
			return err
		}
		why = err.Error()
	}
}
