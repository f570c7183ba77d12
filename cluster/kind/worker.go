package kind

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"

	kindcluster "sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
	kindexec "sigs.k8s.io/kind/pkg/exec"
	"sigs.k8s.io/kind/pkg/log"
)

// Main is the program of a worker: it does one job with kind's library and returns the exit code. It is of no use by hand:
// its parent tells it the job. When the parent is gone, so are the worker and all that it started.
func Main(_ context.Context, _ []string) int {
	input := bufio.NewReader(os.Stdin)
	var j job
	line, err := input.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &j)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, Command, "is started by apilab itself, not by hand")
		return 2
	}
	go func() {
		_, _ = io.Copy(io.Discard, input)
		_ = syscall.Kill(0, syscall.SIGKILL) // our own group, which the parent made
	}()
	r := &reporter{out: json.NewEncoder(os.Stdout)}
	os.Stdout = os.Stderr // what a library may print is no message
	if err := j.run(r); err != nil {
		r.fail(err)
		return 1
	}
	return 0
}

func (j job) run(r *reporter) error {
	engine := kindcluster.ProviderWithNerdctl(string(j.Engine))
	switch j.Engine {
	case "docker":
		engine = kindcluster.ProviderWithDocker()
	case "podman":
		engine = kindcluster.ProviderWithPodman()
	}
	p := kindcluster.NewProvider(kindcluster.ProviderWithLogger(r), engine)
	switch {
	case j.Create != nil:
		return p.Create(j.Name,
			kindcluster.CreateWithV1Alpha4Config(j.Create.Config),
			kindcluster.CreateWithKubeconfigPath(j.Create.Kubeconfig),
			kindcluster.CreateWithRetain(true), // who asked wants to see the logs, and cleans up
		)
	case j.Load != "":
		return load(p, j.Name, j.Load)
	default:
		return p.CollectLogs(j.Name, j.Collect)
	}
}

// load puts the images of an archive onto all nodes of a cluster.
func load(p *kindcluster.Provider, name, archive string) error {
	nodes, err := p.ListInternalNodes(name)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		f, err := os.Open(archive)
		if err != nil {
			return err
		}
		err = nodeutils.LoadImageArchive(n, f)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// mostOutput is how much of a failed command's output is passed on, in bytes; what matters comes last.
const mostOutput = 64 << 10

// A reporter passes on what kind logs. It implements log.Logger.
type reporter struct {
	mu  sync.Mutex
	out *json.Encoder
}

func (r *reporter) send(m message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.out.Encode(m) // a parent that cannot be told is gone, which Main notices
}

func (r *reporter) fail(err error) {
	m := message{Error: err.Error()}
	if failed := kindexec.RunErrorForError(err); failed != nil {
		m.Command, m.Output = failed.Command, string(failed.Output[max(0, len(failed.Output)-mostOutput):])
	}
	r.send(m)
}

func (r *reporter) Warn(text string)              { r.send(message{Line: text}) }
func (r *reporter) Warnf(format string, a ...any) { r.Warn(fmt.Sprintf(format, a...)) }
func (r *reporter) Error(text string)             { r.Warn(text) }
func (r *reporter) Errorf(format string, a ...any) {
	r.Warn(fmt.Sprintf(format, a...))
}

// V is quiet about what is for those who debug kind.
func (r *reporter) V(level log.Level) log.InfoLogger { return verbose{r, level <= 1} }

type verbose struct {
	*reporter
	enabled bool
}

func (v verbose) Enabled() bool { return v.enabled }

func (v verbose) Infof(format string, a ...any) { v.Info(fmt.Sprintf(format, a...)) }

// Info recognises the line by which kind's status announces a step.
func (v verbose) Info(text string) {
	text = strings.TrimSpace(text)
	announced, isStep := strings.CutPrefix(text, "• ")
	switch {
	case !v.enabled || text == "":
	case isStep:
		v.send(message{Begin: strings.TrimSpace(strings.TrimSuffix(announced, "..."))})
	default:
		v.send(message{Line: text})
	}
}
