// Package bench measures a whole apilab from outside, as a browser and a kubectl see it: the program is started on an empty
// data directory and spoken to over its websocket, its gateway and its terminal. It knows nothing of how it works inside.
package bench

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/apilab/apilab/cli/bench/figures"
	"github.com/apilab/apilab/cli/bench/subject"
	"github.com/apilab/apilab/cli/datadir"
)

//go:embed workload
var workload embed.FS

// The backends that are measured, each if the machine has it.
const (
	embedded = "embedded"
	kind     = "kind"
)

// exercise is the one of the workload; its check turns with each write of the ConfigMap.
const (
	exercise  = "bench/write"
	configMap = "bench"
)

// Options for Run.
type Options struct {
	Executable string
	Kubectl    string        // the stock kubectl to compare with; empty: none
	Starts     int           // clusters to make, for the median of their starts
	Writes     int           // committed writes to follow to the page
	Commands   int           // runs of `kubectl get ns` on either side
	Settle     time.Duration // between a cluster's start and the idle measurement
	Idle       time.Duration // over which idle CPU is measured
	Says       func(step string)
}

// Run measures everything, in a temporary directory that it removes.
func Run(ctx context.Context, o Options) (*Report, error) {
	scratch, err := datadir.Temp("bench")
	if err != nil {
		return nil, err
	}
	defer scratch.Remove()
	dir := scratch.Path
	files, err := fs.Sub(workload, "workload")
	if err != nil {
		return nil, err
	}
	workload := filepath.Join(dir, "workload")
	if err := os.CopyFS(workload, files); err != nil {
		return nil, fmt.Errorf("write the workload: %w", err)
	}
	report := newReport()

	o.Says("starting apilab on an empty data directory")
	started := time.Now()
	running, err := subject.Start(ctx, o.Executable, filepath.Join(dir, "data"), "--content", workload)
	if err != nil {
		return nil, err
	}
	defer running.Stop()
	report.add("first page", "ms", 0, figures.Milliseconds(time.Since(started)))
	p, err := open(ctx, running)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if err := p.waitReady(ctx); err != nil {
		return nil, err
	}
	report.add("very first start to a ready cluster", "s", 0, time.Since(started).Seconds())

	if err := measure(ctx, o, running, p, report); err != nil {
		return report, err
	}
	if !slices.Contains(p.backends, kind) {
		o.Says("there is no container engine here: kind clusters are not measured")
		return report, nil
	}
	report.backend = kind
	o.Starts = min(o.Starts, 1) // a node takes half a minute
	o.Says("switching to a kind cluster")
	if err := measureSwitch(ctx, p, report); err != nil {
		var failed *switchError
		if errors.As(err, &failed) {
			o.Says("kind clusters are not measured, as none can be made here: " + failed.reason)
			return report, nil
		}
		return report, fmt.Errorf("switch to a kind cluster: %w", err)
	}
	return report, measure(ctx, o, running, p, report)
}

// measure measures the cluster that the page has.
func measure(ctx context.Context, o Options, running *subject.Subject, p *page, report *Report) error {
	for _, step := range []struct {
		says string
		run  func(context.Context, Options, *subject.Subject, *page, *Report) error
	}{
		{"making clusters", measureStarts},
		{"leaving the cluster idle", measureIdle},
		{"following writes to the page", measureWrites},
		{"running kubectl in the terminal and outside", measureKubectl},
	} {
		o.Says(step.says)
		if err := step.run(ctx, o, running, p, report); err != nil {
			return fmt.Errorf("%s: %w", step.says, err)
		}
	}
	return nil
}
