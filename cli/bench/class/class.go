// Package class measures a class server from outside: scripted learners, each with a browser of their own, join a class, get a
// cluster and do exercises of the curriculum, at the speed of people, all on one machine with the server. It knows nothing
// of how the server works inside.
package class

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apilab/apilab/cli/bench/browser"
	"github.com/apilab/apilab/cli/bench/subject"
	"github.com/apilab/apilab/cli/datadir"
)

// Options for Run.
type Options struct {
	Executable string
	Learners   int
	Duration   time.Duration // after which nobody begins another exercise
	Registered int           // learners of the class in a Registered run, the active ones among them
	Haste      float64       // how many times faster than people they type and think
	Flags      []string      // more flags of apilab serve
	Says       func(step string)
}

// A Kind of run is how the server is when the learners come, or what happens to it.
type Kind string

// The kinds of runs, each with a server and a data directory of its own.
const (
	Cold       Kind = "cold"       // all clusters are made when they are asked for
	Warm       Kind = "warm"       // there is one for each learner
	Registered Kind = "registered" // as Warm, and the class has many more members than are active
	Killed     Kind = "killed"     // as Warm, and the server is killed in the middle, and started again
)

// Run makes runs, each after the other, and reports what they measured, also of those before one that fails.
func Run(ctx context.Context, o Options, kinds []Kind) (*Report, error) {
	scripts, err := scripts()
	if err != nil {
		return nil, err
	}
	report := newReport(o)
	for _, kind := range kinds {
		o.Says(fmt.Sprintf("%s: starting a class server", kind))
		r := &room{o: o, kind: kind, scripts: scripts}
		if err := r.run(ctx); err != nil {
			return report, fmt.Errorf("%s: %w", kind, err)
		}
		report.add(r)
	}
	return report, nil
}

// A room is one run: a class, its server, and the learners in it.
type room struct {
	o       Options
	kind    Kind
	scripts []script
	tally   tally
	watch   watch

	server     *subject.Subject
	listen     string
	code       string // join code
	instructor *instructor

	ends   time.Time
	down   atomic.Bool // the server is not there, on purpose
	killed atomic.Pointer[time.Time]
}

func (r *room) run(ctx context.Context) error {
	scratch, err := datadir.Temp("bench")
	if err != nil {
		return err
	}
	defer scratch.Remove()
	r.listen = "127.0.0.1:0"
	if err := r.start(ctx, scratch.Join("data")); err != nil {
		return err
	}
	defer func() { r.server.Stop() }()
	if err := r.prepare(ctx); err != nil {
		return err
	}
	r.ends = time.Now().Add(r.o.Duration)
	r.o.Says(fmt.Sprintf("%s: %d learners come in", r.kind, r.o.Learners))
	watching, rest := context.WithCancel(ctx)
	var looking sync.WaitGroup
	looking.Go(func() { r.watch.run(watching, func() int { return r.server.PID }) })
	if r.kind == Killed {
		looking.Go(func() { r.kill(watching) })
	}
	looking.Go(func() { r.instructor.look(watching) })
	err = r.attend(ctx)
	rest()
	looking.Wait()
	if len(r.tally.mistakes()) > 0 {
		r.o.Says(fmt.Sprintf("%s: the server's log ends with\n%s", r.kind, r.server.Log()))
	}
	return cmp.Or(err, ctx.Err())
}

// start starts the server, at the address of last time.
func (r *room) start(ctx context.Context, dir string) (err error) {
	flags := append([]string{"--listen", r.listen}, r.o.Flags...)
	if r.server, err = subject.Start(ctx, r.o.Executable, dir, flags...); err != nil {
		return err
	}
	r.listen = r.server.Base[len("http://"):]
	return nil
}

// attend lets the learners come, and waits until all have left.
func (r *room) attend(ctx context.Context) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	var learners []*learner
	var working sync.WaitGroup
	for i := range r.o.Learners {
		l, err := r.newLearner(ctx, fmt.Sprintf("Learner %d", i+1))
		if err != nil {
			return err
		}
		learners = append(learners, l)
		working.Go(func() {
			if err := l.attend(ctx); err != nil {
				r.gaveUp(l, err)
			}
		})
	}
	working.Wait() // their pages stay open until all are done
	for _, l := range learners {
		l.goHome()
	}
	return nil
}

func (r *room) gaveUp(l *learner, err error) {
	r.o.Says(fmt.Sprintf("%s: %s gives up: %v", r.kind, l.name, err))
	r.tally.edit(func() { r.tally.gaveUp = append(r.tally.gaveUp, fmt.Sprintf("%s: %v", l.name, err)) })
}

// over tells whether nobody begins another exercise.
func (r *room) over() bool { return time.Now().After(r.ends) }

// kill ends the server without a warning, in the middle, and starts it again at once.
func (r *room) kill(ctx context.Context) {
	if sleep(ctx, r.o.Duration/2) != nil {
		return
	}
	r.o.Says(fmt.Sprintf("%s: killing the server", r.kind))
	now := time.Now()
	r.down.Store(true)
	r.killed.Store(&now)
	r.server.Kill()
	if err := r.start(ctx, r.server.Dir); err != nil {
		r.tally.edit(func() { r.tally.vanished = append(r.tally.vanished, "the server: "+err.Error()) })
		return
	}
	r.down.Store(false)
	r.o.Says(fmt.Sprintf("%s: the server is there again", r.kind))
}

func (r *room) newLearner(ctx context.Context, name string) (*learner, error) {
	b, err := browser.New(r.server.Base)
	return newLearner(ctx, r, name, b), err
}
