package kind

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apilab/apilab/cluster"
)

// recording is an engine that writes down its commands, and answers as one that has the containers of inspected.
func recording(t *testing.T, inspected string) (e Engine, commands func() []string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "inspected"), []byte(inspected), 0o600); err != nil {
		t.Fatal(err)
	}
	e = script(t, `
echo "$@" >> `+dir+`/commands
case "$1" in
ps) grep -q Id `+dir+`/inspected && echo a1 ;;
container) cat `+dir+`/inspected ;;
info) echo '`+strings.ReplaceAll(podmanInfo, "\n", " ")+`' ;;
run) echo v1.37.0 ;;
esac
exit 0
`)
	return e, func() []string {
		text, _ := os.ReadFile(filepath.Join(dir, "commands"))
		return lines(string(text))
	}
}

func newTestProvider(t *testing.T, e Engine) *Provider {
	t.Helper()
	p, err := New(Options{Dir: filepath.Join(t.TempDir(), "kind"), Executable: "/bin/false", Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	<-p.swept
	p.host = wellHost()
	return p
}

// keep makes the folder of a cluster that was ready.
func keep(t *testing.T, p *Provider, id string, ready bool) folder {
	t.Helper()
	f, err := p.folder(id)
	if err == nil {
		err = f.make(description{Engine: p.o.Engine, Nodes: 1, Ready: ready, Server: "https://127.0.0.1:1"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func removals(commands []string) []string {
	return slices.DeleteFunc(slices.Clone(commands), func(c string) bool { return !strings.HasPrefix(c, "rm ") })
}

func TestWhatIsNotOursStays(t *testing.T) {
	t.Parallel()
	e, commands := recording(t, `[{"Id": "a1", "Name": "apilab-ada-control-plane", "Config": {"Labels": {"io.x-k8s.kind.cluster": "apilab-ada"}},
		"Mounts": [{"Source": "/home/grace/kind/ada/node", "Destination": "/apilab"}]}]`)
	p := newTestProvider(t, e)
	_, err := p.Create(t.Context(), cluster.Spec{ID: "ada"}, func(cluster.Phase) {})
	if !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), "/home/grace/kind/ada") || !strings.Contains(err.Error(), "rm --force --volumes apilab-ada-control-plane") {
		t.Errorf("create: %v", err)
	}
	f := keep(t, p, "ada", true)
	if _, err := p.Adopt(t.Context(), cluster.Spec{ID: "ada"}, func(cluster.Phase) {}); !errors.Is(err, ErrGone) {
		t.Errorf("adopt: %v", err)
	}
	if err := p.Delete(t.Context(), "ada"); err != nil || f.exists() {
		t.Errorf("delete: %v, folder %t", err, f.exists())
	}
	if got := removals(commands()); len(got) > 0 {
		t.Errorf("removed: %v", got)
	}
}

func TestWhatIsOursGoes(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e, commands := recording(t, `[{"Id": "a1", "Name": "apilab-ada-control-plane", "Config": {"Labels": {"io.x-k8s.kind.cluster": "apilab-ada"}},
		"Mounts": [{"Source": "`+dir+`/ada/node", "Destination": "/apilab"}]}]`)
	// A node whose folder is gone, as after a crash in the middle of a deletion.
	p, err := New(Options{Dir: dir, Executable: "/bin/false", Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	<-p.swept
	if got := removals(commands()); !slices.Equal(got, []string{"rm --force --volumes a1"}) {
		t.Errorf("the sweep removed %v", got)
	}
	keep(t, p, "ada", true)
	if err := p.Delete(t.Context(), "ada"); err != nil || len(removals(commands())) != 2 {
		t.Errorf("delete: %v, removed %v", err, removals(commands()))
	}
}

func TestAnEngineThatIsDown(t *testing.T) {
	t.Parallel()
	p := newTestProvider(t, script(t, "echo Cannot connect to the Docker daemon >&2; exit 1"))
	if err := p.Delete(t.Context(), "never-made"); err != nil {
		t.Errorf("delete what was never made: %v", err)
	}
	p.host = machine{p.o.Engine}
	f := keep(t, p, "ada", true)
	if ids, err := p.List(t.Context()); err != nil || !slices.Equal(ids, []string{"ada"}) {
		t.Errorf("list: %v, %v", ids, err)
	}
	if err := p.Delete(t.Context(), "ada"); err == nil || !f.exists() {
		t.Errorf("delete without an engine: %v, folder %t", err, f.exists())
	}
	_, err := p.Create(t.Context(), cluster.Spec{ID: "grace"}, func(cluster.Phase) {})
	if err == nil || !strings.Contains(err.Error(), "Cannot connect") || !strings.Contains(err.Error(), "start it") || strings.Contains(err.Error(), "\n") {
		t.Errorf("create without an engine: %v", err)
	}
}

func TestHalfMadeClustersAreNotListedAndSwept(t *testing.T) {
	t.Parallel()
	e, _ := recording(t, "")
	p := newTestProvider(t, e)
	half, whole := keep(t, p, "half", false), keep(t, p, "whole", true)
	if ids, _ := p.List(t.Context()); !slices.Equal(ids, []string{"whole"}) {
		t.Errorf("listed: %v", ids)
	}
	if err := p.sweep(t.Context()); err != nil || half.exists() || !whole.exists() {
		t.Errorf("swept: %v, half %t, whole %t", err, half.exists(), whole.exists())
	}
	if err := os.WriteFile(whole.description(), []byte(`{"format": 99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.sweep(t.Context()); err != nil || !whole.exists() {
		t.Errorf("a newer version's cluster was swept: %v", err)
	}
	for _, bad := range []string{"", "..", "a/b", "A", strings.Repeat("a", 41)} {
		if err := p.Delete(t.Context(), bad); err == nil {
			t.Errorf("the id %q was taken", bad)
		}
	}
}

// TestAWorkerThatIsCancelled sees that all the processes of a job end with it.
func TestAWorkerThatIsCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	worker := script(t, "cd "+dir+`; (trap "" TERM; sleep 60 & echo $! > child; wait) & echo '{"begin": "Preparing nodes"}'; while :; do sleep 1; done`)
	w := workshop{executable: string(worker), log: newTestProvider(t, script(t, "exit 0")).o.Logger}
	ctx, cancel := context.WithCancel(t.Context())
	begin := time.Now()
	err := w.do(ctx, job{}, func(step [2]string) {
		if step[0] != "containers" {
			t.Errorf("step %v", step)
		}
		for {
			if text, err := os.ReadFile(filepath.Join(dir, "child")); err == nil && len(text) > 1 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	})
	if !errors.Is(err, context.Canceled) || time.Since(begin) > 20*time.Second {
		t.Errorf("after %s: %v", time.Since(begin), err)
	}
	pid, _ := os.ReadFile(filepath.Join(dir, "child"))
	if state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat"); err == nil && !strings.Contains(string(state), ") Z ") {
		t.Errorf("a process of the job lives on: %s", state)
	}
}

func TestAWorkerThatFails(t *testing.T) {
	t.Parallel()
	log := newTestProvider(t, script(t, "exit 0")).o.Logger
	for name, c := range map[string]struct{ script, want string }{
		"says why": {`echo '{"error": "exit status 125", "command": ["podman", "run"], "output": "Error: no such image"}'; exit 1`, "podman run: Error: no such image"},
		"dies":     {"kill -9 $$", "the worker ended: signal: killed"},
	} {
		err := workshop{executable: string(script(t, c.script)), log: log}.do(t.Context(), job{}, func([2]string) {})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
