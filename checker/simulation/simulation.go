// Package simulation runs the simulated controllers that exercises declare: for each primary object it finds the stage that
// fits, compares what that says with what is there, and writes the difference, as a controller would that is driven by the
// level. It knows nothing of checks and sessions. docs/exercise-format.md says what authors may expect of it.
package simulation

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
)

// A Simulation runs the controllers of one cluster. A controller that is declared alike several times runs once: two of it
// would do everything twice.
type Simulation struct {
	config    *rest.Config
	resources *watch.Resources
	logger    *slog.Logger

	mu      sync.Mutex
	running map[string]*shared // by what was declared
}

// shared is one running controller.
type shared struct {
	*runner
	reports []*func(string) // one for each user
	problem string
}

// New returns a simulation in the cluster that config leads to, in which nothing runs yet.
func New(config *rest.Config, resources *watch.Resources, logger *slog.Logger) *Simulation {
	return &Simulation{config: config, resources: resources, logger: logger, running: map[string]*shared{}}
}

// Run runs a controller until stop is called. It calls report with what is wrong with the controller whenever that
// changes, with "" when nothing is any more; report must not block, nor call into the simulation. Stop returns when the
// controller has ended, if nobody else runs it, and report is not called after it.
func (s *Simulation) Run(controller *exercises.Controller, report func(problem string)) (stop func(), err error) {
	declared, err := json.Marshal(controller)
	if err != nil {
		return nil, fmt.Errorf("tell controllers apart: %w", err)
	}
	key := string(declared)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.running[key]
	if c == nil {
		c = &shared{}
		if c.runner, err = s.start(controller, c); err != nil {
			return nil, fmt.Errorf("start controller %s: %w", controller.Name, err)
		}
		s.running[key] = c
	}
	mine := &report
	c.reports = append(c.reports, mine)
	if c.problem != "" {
		report(c.problem)
	}
	return sync.OnceFunc(func() { s.leave(key, c, mine) }), nil
}

func (s *Simulation) start(controller *exercises.Controller, c *shared) (*runner, error) {
	config := rest.CopyConfig(s.config)
	config.UserAgent = controller.Name
	config.QPS, config.Burst = maxRate, maxBurst
	config.WarningHandler = rest.NoWarnings{} // they are the author's, and told as problems
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return startRunner(controller, &watch.Client{Dynamic: client, Resources: s.resources, Logger: s.logger}, func(problem string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.problem = problem
		for _, report := range c.reports {
			(*report)(problem)
		}
	}), nil
}

func (s *Simulation) leave(key string, c *shared, report *func(string)) {
	s.mu.Lock()
	c.reports = slices.DeleteFunc(c.reports, func(other *func(string)) bool { return other == report })
	last := len(c.reports) == 0
	if last {
		delete(s.running, key)
	}
	s.mu.Unlock()
	if last {
		c.stop()
	}
}

// Busy reports whether a controller has something to do that it knows of: now, or when a delay is over.
func (s *Simulation) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.running {
		if c.busy.Load() {
			return true
		}
	}
	return false
}
