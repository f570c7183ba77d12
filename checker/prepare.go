package checker

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/apilab/apilab/exercises"
)

// prepare runs the scripts of an exercise and starts its watches; a preparation under way is given up. Called by the loop.
func (s *Session) prepare(o *opened, reset bool) {
	s.release(o)
	if o.stop != nil {
		o.stop()
	}
	ctx, cancel := context.WithCancel(s.ctx)
	o.stop = cancel
	prepared := make(chan struct{})
	if o.phase != Preparing || o.prepared == nil {
		o.prepared = prepared
	} else { // who waits for the former one waits on
		former := o.prepared
		o.prepared = prepared
		defer close(former)
	}
	o.phase, o.err, o.dirty, o.reset = Preparing, "", true, reset
	s.simulate(o)
	cluster := o.saved.Cluster
	s.task(func(context.Context) {
		defer cancel()
		uid, err := s.prepareScripts(ctx, o.spec, cluster, reset)
		s.queue.push(func() {
			if o.prepared != prepared || s.open[o.spec.ID] != o {
				return // another one has taken over
			}
			if err != nil {
				o.fail(err)
				return
			}
			o.saved.Cluster = uid
			s.start(o)
		})
	})
}

func (o *opened) fail(err error) {
	o.phase, o.err, o.dirty = Error, err.Error(), true
	close(o.prepared)
}

// prepareScripts runs reset and setup, one exercise at a time, and returns the UID of the cluster that they ran in.
func (s *Session) prepareScripts(ctx context.Context, e *exercises.Exercise, cluster string, reset bool) (string, error) {
	select {
	case s.setups <- struct{}{}:
		defer func() { <-s.setups }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	uid := s.clusterUID(ctx)
	if !reset && uid != "" && uid == cluster {
		return uid, nil
	}
	if reset {
		if err := s.script(ctx, "reset", e.Reset); err != nil {
			return "", err
		}
	}
	return uid, s.script(ctx, "setup", e.Setup)
}

// maxScript bounds a setup or reset, and betweenScripts is how long a failed one waits for its second attempt.
const (
	maxScript      = 2 * time.Minute
	betweenScripts = time.Second
)

// script runs a setup or reset, which are idempotent, once more if it fails: what an API server has stored takes effect a
// moment later, and to scripts that moment is long now and then.
func (s *Session) script(ctx context.Context, name, script string) error {
	if strings.TrimSpace(script) == "" {
		return nil
	}
	if s.run == nil {
		return fmt.Errorf("the %s cannot run: there is no shell", name)
	}
	err := s.attempt(ctx, name, script)
	if err == nil {
		return nil
	}
	select {
	case <-time.After(betweenScripts):
		return s.attempt(ctx, name, script)
	case <-ctx.Done():
		return err
	}
}

func (s *Session) attempt(ctx context.Context, name, script string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, maxScript, fmt.Errorf("it took longer than %s", maxScript))
	defer cancel()
	output, err := s.run(ctx, Platform, script)
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if last := lastLine(output); last != "" {
		return fmt.Errorf("the %s failed: %w: %s", name, err, last)
	}
	return fmt.Errorf("the %s failed: %w", name, err)
}

func lastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// start makes the judges and follows what they judge, and opens the exercise once all that is known. So nothing of the
// setup is taken for the learner's doing, and no check is judged on half of the state.
func (s *Session) start(o *opened) {
	var fresh, followed []*store
	for _, c := range o.checks {
		c.judge = newJudge(s, o, c)
		for _, scope := range c.judge.scopes() {
			st, isNew := s.acquire(scope)
			c.stores = append(c.stores, st)
			if isNew {
				fresh = append(fresh, st)
			} else {
				followed = append(followed, st)
			}
		}
	}
	prepared := o.prepared
	s.task(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, settleFor)
		defer cancel()
		if err := s.settle(ctx, fresh, followed); err != nil {
			s.logger.Debug("opened before its state was known", "exercise", o.spec.ID, "error", err)
		}
		s.queue.push(func() {
			if o.prepared == prepared && s.open[o.spec.ID] == o {
				s.begin(o)
			}
		})
	})
}

// settleFor bounds how long an exercise waits for the first list; it opens without, and is judged when that comes.
const settleFor = 10 * time.Second

func (s *Session) begin(o *opened) {
	o.phase, o.dirty = Open, true
	o.span = s.requests.begin(o.reset)
	for _, c := range o.checks {
		c.judge.begin()
		if a, ok := c.judge.(answerable); ok && c.answered != "" {
			_ = a.answer(c.answered) // one that is no option any more was not given
		}
	}
	for _, c := range o.checks {
		s.evaluate(o, c)
	}
	close(o.prepared)
}

// release gives up the stores of an exercise's checks.
func (s *Session) release(o *opened) {
	for _, c := range o.checks {
		for _, st := range c.stores {
			s.releaseStore(st)
		}
		c.stores = nil
		if ending, ok := c.judge.(interface{ end() }); ok {
			ending.end()
		}
		c.judge = nil
	}
}

// drop ends an exercise.
func (s *Session) drop(o *opened) {
	s.release(o)
	o.stopControllers()
	if o.stop != nil {
		o.stop()
	}
	if o.phase == Preparing {
		close(o.prepared)
	}
}

// clusterUID tells clusters apart: that of the namespace that every cluster has and nobody can delete.
func (s *Session) clusterUID(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	ns, err := s.client.Dynamic.Resource(namespaces).Get(ctx, "kube-system", metav1.GetOptions{})
	if err != nil {
		s.logger.Debug("cluster not identified", "error", err)
		return ""
	}
	return string(ns.GetUID())
}
