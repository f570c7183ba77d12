package checker

import (
	"maps"
	"slices"
)

// simulate starts the controllers that the exercise declares, unless they run. They do so from before the setup until the
// exercise is closed, also during a reset: so a setup may wait for them, and a reset delete what has their finalizers.
// Called by the loop.
func (s *Session) simulate(o *opened) {
	if o.controllers != nil {
		return
	}
	o.controllers = []func(){}
	for i := range o.spec.Controllers {
		stop, err := s.controllers.Run(&o.spec.Controllers[i], func(problem string) {
			s.queue.push(func() { s.simulated(o, i, problem) })
		})
		if err != nil {
			s.simulated(o, i, err.Error())
			continue
		}
		o.controllers = append(o.controllers, stop)
	}
}

// simulated takes what is wrong with a controller of the exercise now, "" if nothing is.
func (s *Session) simulated(o *opened, i int, problem string) {
	if o.problems == nil {
		o.problems = map[int]string{}
	}
	o.problems[i] = problem
	if s.open[o.spec.ID] != o {
		return
	}
	for _, c := range o.checks {
		s.evaluate(o, c)
	}
}

// problem is what is wrong with the exercise's controllers, of the first one with which something is.
func (o *opened) problem() string {
	for _, i := range slices.Sorted(maps.Keys(o.problems)) {
		if o.problems[i] != "" {
			return o.problems[i]
		}
	}
	return ""
}

func (o *opened) stopControllers() {
	for _, stop := range o.controllers {
		stop()
	}
	o.controllers = nil
}

// Simulating reports whether a simulated controller of an open exercise has something to do, now or soon.
func (s *Session) Simulating() bool { return s.controllers != nil && s.controllers.Busy() }
