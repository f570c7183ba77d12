package checker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apilab/apilab/checker/explain"
	"github.com/apilab/apilab/checker/watch"
	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/exercises/expr"
)

// Bounds of probing.
const (
	maxProbe       = 3 * time.Minute        // of one run
	firstReprobe   = 250 * time.Millisecond // pause between a run and the next; doubled each time
	longestReprobe = 10 * time.Second
	maxChain       = 3 // runs that follow one that failed because something changed meanwhile, perhaps by its own doing
)

// lateness is how long after a run that failed the next one is made where a probe comes after what the API server takes
// into use only some time after it has stored it: definitions, admission policies, roles.
var lateness = []time.Duration{500 * time.Millisecond, 1500 * time.Millisecond}

var takenUpLate = []string{".apiextensions.k8s.io", ".admissionregistration.k8s.io", ".rbac.authorization.k8s.io"}

// probeJudge takes the probe's steps once the objects that it comes after exist, and again when they changed. A probe
// writes, and controllers answer: runs that chase each other are spaced out.
type probeJudge struct {
	check   *check
	session *Session
	opened  *opened
	listing listing

	running chan struct{} // closed at the end of the run under way; nil when there is none
	stop    context.CancelFunc
	outcome *probeOutcome
	seen    string // what the outcome is of, see fingerprint
	ended   time.Time
	pause   time.Duration
	chain   int
	late    bool          // it comes after something that is taken up late
	retries int           // runs of this fingerprint that followed one that failed, see lateness
	timer   *time.Timer   // of a run that is put off
	due     chan struct{} // closed when it begins
}

func newProbeJudge(s *Session, o *opened, c *check) *probeJudge {
	j := &probeJudge{check: c, session: s, opened: o}
	for i, ref := range c.spec.Probe.After {
		j.listing.add(fmt.Sprint(i), ref)
		j.late = j.late || slices.ContainsFunc(takenUpLate, func(group string) bool { return strings.HasSuffix(ref.Resource, group) })
	}
	return j
}

func (j *probeJudge) scopes() []watch.Scope             { return j.listing.scopes() }
func (j *probeJudge) begin()                            {}
func (j *probeJudge) changed(st *store, ch change) bool { return j.listing.concerns(st, ch) }

// answer is the learner asking for another run.
func (j *probeJudge) answer(string) error {
	j.outcome, j.pause = nil, 0
	return nil
}

func (j *probeJudge) end() {
	if j.stop != nil {
		j.stop()
	}
	if j.timer != nil && j.timer.Stop() {
		close(j.due)
	}
}

func (j *probeJudge) verdict() verdict {
	seen, missing := j.fingerprint()
	if missing != "" {
		return failing("%s", missing)
	}
	if j.running == nil && (j.outcome == nil || seen != j.seen) {
		j.start(seen)
	}
	if j.outcome == nil {
		return failing("being tried now")
	}
	v := j.judgeOutcome()
	if v.state == Failing && j.late && j.retries < len(lateness) && j.busy() == nil {
		j.retry()
	}
	return v
}

// judgeOutcome judges what came of the last run.
func (j *probeJudge) judgeOutcome() verdict {
	if j.outcome.err != nil {
		return verdict{state: Broken, why: j.outcome.err.Error()}
	}
	vars := expr.Vars{"result": j.outcome.results}
	if j.outcome.missed != "" {
		if hint, ok := hintFor(j.check.spec, vars); ok {
			return verdict{state: Failing, why: hint, hinted: true}
		}
		return failing("%s", j.outcome.missed)
	}
	text := "the step went as it should"
	if n := len(j.outcome.results); n > 1 {
		text = fmt.Sprintf("all %d steps went as they should", n)
	}
	if j.check.spec.Expression() == nil {
		return passing(text)
	}
	v := j.check.decide(vars, explain.Subject{}, func() *Evidence { return &Evidence{Text: text} })
	if v.state == Failing && !v.hinted {
		v.why = nameResults(v.why, j.check.spec.Probe, j.outcome.results)
	}
	return v
}

// fingerprint tells states of the objects that the probe comes after apart, and which of them are missing.
func (j *probeJudge) fingerprint() (seen, missing string) {
	vars := expr.Vars{}
	j.listing.fill(vars, j.check.stores)
	var b strings.Builder
	for i, name := range j.listing.names {
		objects := vars[name].([]any)
		if len(objects) == 0 {
			ref := j.listing.refs[i]
			if ref.Name != "" {
				return "", "there is no " + thing(j.check.stores[i], ref.Name, ref.Namespace) + " yet"
			}
			n := noun(j.check.stores[i], ref.Selector)
			return "", "there are no " + n.Many + spaced(n.Where) + " yet"
		}
		for _, object := range objects {
			metadata, _ := object.(map[string]any)["metadata"].(map[string]any)
			fmt.Fprintf(&b, "%v@%v ", metadata["uid"], metadata["resourceVersion"])
		}
	}
	return b.String(), ""
}

// start begins a run now, or soon when the last one has only just ended.
func (j *probeJudge) start(seen string) {
	if wait := time.Until(j.ended.Add(j.pause)); !j.ended.IsZero() && wait > 0 {
		if j.timer == nil {
			due := make(chan struct{})
			j.due = due
			j.timer = time.AfterFunc(wait, func() {
				j.session.queue.push(func() {
					j.timer = nil
					j.reevaluate()
					close(due)
				})
			})
		}
		return
	}
	if time.Since(j.ended) > longestReprobe {
		j.pause = 0
	}
	j.pause = min(max(firstReprobe, 2*j.pause), longestReprobe)
	if seen != j.seen {
		j.retries = 0
	}
	running := make(chan struct{})
	ctx, cancel := context.WithTimeout(j.session.ctx, maxProbe)
	j.running, j.stop, j.seen = running, cancel, seen
	stores := j.check.stores
	j.session.task(func(context.Context) {
		defer cancel()
		outcome := runSurely(j.late && torn(j.check.spec.Probe), func() *probeOutcome {
			return runProbe(ctx, j.session.client, j.session.records, j.check.spec.Probe)
		})
		// What the probe itself changed has to be seen before it is compared with what comes.
		_ = j.session.settle(ctx, nil, stores)
		done := j.session.queue.push(func() {
			j.running, j.stop, j.outcome, j.ended = nil, nil, outcome, time.Now()
			if j.check.judge == judge(j) { // otherwise the exercise was reset or closed meanwhile
				j.finished()
				j.reevaluate()
			}
			close(running)
		})
		if !done {
			close(running)
		}
	})
}

// torn reports whether a run could be judged by two sets of rules: its first steps were taken by those that were there before,
// and a later one refused by those that had come meanwhile.
func torn(probe *exercises.Probe) bool {
	taken := false
	for i := range probe.Steps {
		switch step := &probe.Steps[i]; {
		case step.Observe != nil:
			return false // what the learner's programs do is not done twice
		case step.Refused && taken:
			return true
		default:
			taken = taken || !step.Refused
		}
	}
	return false
}

// runSurely makes a run, and where it could be torn and went as it should, another one, which counts: the refusal in the
// first has shown that the new rules are in use.
func runSurely(torn bool, run func() *probeOutcome) *probeOutcome {
	outcome := run()
	if torn && outcome.missed == "" && outcome.err == nil {
		outcome = run()
	}
	return outcome
}

// retry makes another run of the same fingerprint, a little later.
func (j *probeJudge) retry() {
	wait := lateness[j.retries]
	j.retries++
	due := make(chan struct{})
	j.due = due
	j.timer = time.AfterFunc(wait, func() {
		j.session.queue.push(func() {
			j.timer = nil
			if j.check.judge == judge(j) && j.running == nil {
				j.pause = 0
				j.start(j.seen)
			}
			close(due)
		})
	})
}

// finished decides whether what changed during the run asks for another one. It may have been the run itself; but if the
// run failed, it may as well be what was missing.
func (j *probeJudge) finished() {
	now, _ := j.fingerprint()
	passed := j.outcome.missed == "" && j.outcome.err == nil
	if now != j.seen && !passed && j.chain < maxChain {
		j.chain++
		return
	}
	j.seen, j.chain = now, 0
}

// busy returns what to wait for until the probe rests, nil if it does.
func (j *probeJudge) busy() chan struct{} {
	switch {
	case j.running != nil:
		return j.running
	case j.timer != nil:
		return j.due
	}
	return nil
}

// reevaluate judges the check again if the judge still is the check's.
func (j *probeJudge) reevaluate() {
	if j.check.judge == judge(j) {
		j.session.evaluate(j.opened, j.check)
	}
}
