package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cli/bench/figures"
	"github.com/apilab/apilab/cli/bench/subject"
	"github.com/apilab/apilab/cli/control"
	"github.com/apilab/apilab/cluster"
)

// turnTime is how long the page may take to hear of a write before the bench gives up.
const turnTime = 30 * time.Second

// measureStarts makes clusters anew, as a learner does who clicks: from the click to ready, the old one's end included.
func measureStarts(ctx context.Context, o Options, _ *subject.Subject, p *page, report *Report) error {
	var starts figures.Samples
	for range o.Starts {
		before := time.Now()
		if err := p.Ask(ctx, "cluster.reset", nil, nil); err != nil {
			return err
		}
		// The page still has the old cluster's state until it hears of the new one's.
		err := p.until(ctx, func() (bool, error) {
			return p.status.State != cluster.Ready || p.status.Since.After(before), nil
		})
		if err != nil {
			return err
		}
		if err := p.waitReady(ctx); err != nil {
			return err
		}
		starts.Add(time.Since(before).Seconds())
	}
	report.add("click → usable cluster, cold", "s", 3, starts.Quantile(0.5))
	return nil
}

// measureSwitch lets the learner's cluster become one of kind, which has to be made: from the click to ready, the end of the
// embedded one included.
func measureSwitch(ctx context.Context, p *page, report *Report) error {
	began := time.Now()
	if err := p.Ask(ctx, "cluster.switch", map[string]any{"backend": kind}, nil); err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	switched := false
	err := p.until(limit, func() (bool, error) {
		if switched && p.status.Backend != kind { // it failed: the one before comes again, and then the reason
			over := p.status.State == cluster.Ready || p.status.State == cluster.Failed
			if over && p.status.Reason != "" {
				return false, &switchError{p.status.Reason}
			}
			return false, nil
		}
		switched = switched || p.status.Backend == kind
		return switched && p.status.State == cluster.Ready, nil
	})
	if err != nil {
		return err
	}
	report.add("switch from an embedded cluster to a ready one", "s", 0, time.Since(began).Seconds())
	return nil
}

// A switchError says why there is no kind cluster here.
type switchError struct{ reason string }

func (e *switchError) Error() string { return e.reason }

// measureIdle looks at a cluster that nobody uses, once it has calmed down.
func measureIdle(ctx context.Context, o Options, _ *subject.Subject, p *page, report *Report) error {
	if err := sleep(ctx, o.Settle); err != nil {
		return err
	}
	var before, after cluster.Usage
	if err := p.Ask(ctx, "cluster.usage", nil, &before); err != nil {
		return err
	}
	started := time.Now()
	if err := sleep(ctx, o.Idle); err != nil {
		return err
	}
	if err := p.Ask(ctx, "cluster.usage", nil, &after); err != nil {
		return err
	}
	const mib = 1 << 20
	busy := 100 * (after.CPU - before.CPU).Seconds() / time.Since(started).Seconds()
	if report.backend == kind {
		report.add("idle node, memory (working set)", "MiB", 0, float64(after.PrivateBytes)/mib)
		report.add("idle node, CPU", "% of a core", 0, busy)
		return nil
	}
	report.add("idle cluster, private (anonymous) memory", "MiB", 80, float64(after.PrivateBytes)/mib)
	report.add("idle cluster, proportional memory (PSS)", "MiB", 0, float64(after.PSSBytes)/mib)
	report.add("idle cluster, CPU", "% of a core", 0.2, busy)
	report.add("idle cluster, disk", "MiB", 0, float64(after.DiskBytes)/mib)
	return nil
}

// measureWrites makes and deletes an object that an open exercise checks, through the gateway like a learner, and takes the
// time from the API server's answer until the page hears that the check turned. When it hears before the writer does, the
// time is 0.
func measureWrites(ctx context.Context, o Options, s *subject.Subject, p *page, report *Report) error {
	file, err := kubeconfig(ctx, s)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return err
	}
	config.QPS = -1 // the client's own limit of 5 requests a second would be measured
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	var state checker.ExerciseState
	if err := p.Ask(ctx, "exercise.open", map[string]any{"exercise": exercise}, &state); err != nil {
		return err
	}
	p.Change(func() { p.turn(state, time.Now()) })
	objects := client.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: configMap}}
	if err := p.waitCheck(ctx, checker.Failing); err != nil {
		return err
	}
	var whole, afterCommit figures.Samples
	for i := range o.Writes {
		want := checker.Passing
		sent := time.Now()
		if i%2 == 0 {
			_, err = objects.Create(ctx, object, metav1.CreateOptions{})
		} else {
			want = checker.Failing
			err = objects.Delete(ctx, configMap, metav1.DeleteOptions{})
		}
		committed := time.Now()
		if err != nil {
			return err
		}
		if err := p.waitCheck(ctx, want); err != nil {
			return fmt.Errorf("write %d: %w", i+1, err)
		}
		whole.Add(figures.Milliseconds(p.turned.Sub(sent)))
		afterCommit.Add(figures.Milliseconds(max(0, p.turned.Sub(committed))))
	}
	report.add("write committed → check in the page, p50", "ms", 50, afterCommit.Quantile(0.5))
	report.add("write committed → check in the page, p99", "ms", 250, afterCommit.Quantile(0.99))
	report.add("write sent → check in the page, p50", "ms", 0, whole.Quantile(0.5))
	report.add("write sent → check in the page, p99", "ms", 0, whole.Quantile(0.99))
	return nil
}

func (p *page) waitCheck(ctx context.Context, want checker.CheckState) error {
	ctx, cancel := context.WithTimeout(ctx, turnTime)
	defer cancel()
	err := p.until(ctx, func() (bool, error) { return p.check == want, nil })
	if err != nil {
		return fmt.Errorf("the check did not become %s: %w", want, err)
	}
	return nil
}

// measureKubectl runs the same command in the page's terminal, from the Enter key to the end of its output, and as the
// machine's own kubectl, from its start to its end. The two take turns, so that a busy moment hits both.
func measureKubectl(ctx context.Context, o Options, s *subject.Subject, p *page, report *Report) error {
	file, err := kubeconfig(ctx, s)
	if err != nil {
		return err
	}
	t, err := p.openTerminal(ctx)
	if err != nil {
		return err
	}
	var inside, outside figures.Samples
	for i := range o.Commands + 1 {
		took, err := t.run(ctx, "kubectl get ns")
		if err != nil {
			return err
		}
		if i > 0 { // the first fills discovery caches
			inside.Add(figures.Milliseconds(took))
		}
		if o.Kubectl == "" {
			continue
		}
		started := time.Now()
		cmd := exec.CommandContext(ctx, o.Kubectl, "--kubeconfig", file, "get", "ns")
		cmd.Env = append(os.Environ(), "HOME="+s.Dir+".home") // its discovery cache
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("stock kubectl: %w: %s", err, output)
		}
		if i > 0 {
			outside.Add(figures.Milliseconds(time.Since(started)))
		}
	}
	report.add("kubectl get ns in the terminal, p50", "ms", 0, inside.Quantile(0.5))
	if o.Kubectl != "" {
		report.add("kubectl get ns, stock kubectl, p50", "ms", 0, outside.Quantile(0.5))
		report.add("terminal ÷ stock", "", 1, inside.Quantile(0.5)/outside.Quantile(0.5))
	}
	return nil
}

// kubeconfig writes the file for a kubectl outside, and returns its path.
func kubeconfig(ctx context.Context, s *subject.Subject) (string, error) {
	text, err := control.Kubeconfig(ctx, s.Dir)
	if err != nil {
		return "", err
	}
	path := s.Dir + ".kubeconfig"
	return path, os.WriteFile(path, text, 0o600)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
