package class

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/apilab/apilab/cli/bench/figures"
)

// A Report is what was measured, and on what.
type Report struct {
	Time     time.Time       `json:"time"`
	Machine  figures.Machine `json:"machine"`
	Learners int             `json:"learners"`
	Minutes  float64         `json:"minutes"`
	Haste    float64         `json:"haste"`
	Runs     []RunReport     `json:"runs"`
}

// A RunReport is what one run measured.
type RunReport struct {
	Kind     Kind     `json:"kind"`
	Figures  []Figure `json:"figures"`
	Mistakes []string `json:"mistakes"` // what must not have happened
}

// samplesNamed ends the names of figures that have two quantiles and the number of samples.
const samplesNamed = ", p50 / p99 (samples)"

// A Figure is one measured value, with as many numbers as its name says.
type Figure struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit,omitempty"`
	Values []float64 `json:"values"`
}

func newReport(o Options) *Report {
	return &Report{
		Time: time.Now().UTC().Truncate(time.Second), Machine: figures.ThisMachine(),
		Learners: o.Learners, Minutes: o.Duration.Minutes(), Haste: o.Haste, Runs: []RunReport{},
	}
}

// Mistakes are those of all runs.
func (r *Report) Mistakes() int {
	n := 0
	for _, run := range r.Runs {
		n += len(run.Mistakes)
	}
	return n
}

func (r *Report) add(room *room) {
	run := RunReport{Kind: room.kind, Mistakes: room.tally.mistakes()}
	figure := func(name, unit string, values ...float64) {
		run.Figures = append(run.Figures, Figure{name, unit, values})
	}
	spread := func(name, unit string, s figures.Samples) {
		if len(s) > 0 {
			figure(name+samplesNamed, unit, s.Quantile(0.5), s.Quantile(0.99), float64(len(s)))
		}
	}
	count := func(name string, n int) { figure(name, "", float64(n)) }

	t := &room.tally
	if room.kind != Cold {
		figure("clusters made ahead", "s", t.warmed.Seconds())
	}
	spread("first lesson asked for → cluster ready", "s", t.claimed)
	count("last place in the queue seen", t.place)
	spread("write committed → check green", "ms", t.green)
	spread("write committed → probe's check green", "ms", t.probed)
	spread("answer sent → check green", "ms", t.answered)
	spread("key sent → echo", "ms", t.echoed)
	spread("check green → instructor's grid", "ms", t.seen)
	spread("join", "ms", t.joined)
	spread("lesson's page loaded", "ms", t.loaded)
	spread("exercise's setup", "ms", t.prepared)
	if room.kind == Killed {
		spread("killed → page connected again", "s", t.back)
		spread("killed → cluster and shell ready again", "s", t.whole)
		count("objects or progress lost", len(t.vanished))
	}
	count("exercises done", t.exercises)
	count("checks that did not turn green", len(t.notGreen))
	figure("terminal bytes lost / doubled / altered", "", float64(t.lost), float64(t.doubled), float64(t.altered))
	figure("terminal bytes, keys, commands taken otherwise", "", float64(t.output), float64(t.keys), float64(t.mistyped))
	figure("requests / failed", "", float64(t.requests), float64(len(t.failed)))
	figure("pages loaded / connections cut / broke by themselves", "", float64(t.pages), float64(t.cuts), float64(len(t.sockets)))
	count("learners who gave up", len(t.gaveUp))
	room.watch.report(figure)
	r.Runs = append(r.Runs, run)
}

// report says what the parts took.
func (w *watch) report(figure func(name, unit string, values ...float64)) {
	if w.peak == nil {
		return
	}
	const mib = 1 << 20
	busy, own := w.share()
	figure("processors busy, the learners' own part", "%", 100*busy, 100*own)
	for _, p := range parts {
		l := w.peak[p]
		figure(string(p)+": processors", "%", 100*w.of(p))
		figure(string(p)+": private memory / PSS, peak", "MiB", float64(l.private)/mib, float64(l.pss)/mib)
		figure(string(p)+": processes / file descriptors / inotify instances, peak", "", float64(l.processes), float64(l.files), float64(l.watches))
	}
	figure("all: private memory / PSS, peak", "MiB", float64(w.whole.private)/mib, float64(w.whole.pss)/mib)
}

// WriteTable writes the figures as Markdown, a column for each run.
func (r *Report) WriteTable(w io.Writer) error {
	var names []string
	for _, run := range r.Runs {
		for _, f := range run.Figures {
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d learners, %s minutes, %s times as fast as people\n\n| what |", &r.Machine, r.Learners, figures.Number(r.Minutes), figures.Number(r.Haste))
	for _, run := range r.Runs {
		fmt.Fprintf(&b, " %s |", run.Kind)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(r.Runs)) + "\n")
	for _, name := range names {
		b.WriteString("| " + name + " |")
		for _, run := range r.Runs {
			b.WriteString(" " + run.text(name) + " |")
		}
		b.WriteString("\n")
	}
	for _, run := range r.Runs {
		for _, mistake := range run.Mistakes {
			fmt.Fprintf(&b, "\n%s: %s", run.Kind, mistake)
		}
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *RunReport) text(name string) string {
	for _, f := range r.Figures {
		if f.Name != name {
			continue
		}
		var values []string
		for _, v := range f.Values {
			values = append(values, figures.Number(v))
		}
		if strings.HasSuffix(name, samplesNamed) {
			return fmt.Sprintf("%s / %s %s (%s)", values[0], values[1], f.Unit, values[2])
		}
		return strings.TrimSpace(strings.Join(values, " / ") + " " + f.Unit)
	}
	return ""
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}
