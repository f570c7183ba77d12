package kind

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apilab/apilab/cluster"
)

// TestLife is the life of one cluster: made while the page tells how far it is, used, orphaned by a kill, adopted, stopped by
// hand, healed, removed by hand, made anew and given up.
func TestLife(t *testing.T) {
	dir := t.TempDir()
	leavesNothing(t, dir)
	a := start(t, dir)

	var phases []string
	began := time.Now()
	a.page.until("ready", func(s cluster.Status) bool {
		if s.State == cluster.Failed {
			t.Fatalf("the cluster failed: %s", s.Reason)
		}
		for _, p := range s.Phases[min(len(phases), len(s.Phases)):] {
			phases = append(phases, p.Says)
		}
		return s.State == cluster.Ready
	})
	t.Logf("ready after %s: %s", time.Since(began).Round(100*time.Millisecond), strings.Join(phases, ", "))
	if len(phases) < 4 {
		t.Errorf("the page was told of %d phases alone: %v", len(phases), phases)
	}
	if version := a.kubectl("get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"); version != node {
		t.Errorf("nodes: %q", version)
	}
	testImages(t, a)

	a.kubectl("create", "configmap", "kept", "--from-literal=a=b")
	uid := a.kubectl("get", "configmap", "kept", "-o", "jsonpath={.metadata.uid}")
	same := func(when string) {
		t.Helper()
		a.eventually("come back "+when, func() error {
			out, err := a.tryKubectl("get", "configmap", "kept", "-o", "jsonpath={.metadata.uid}")
			if err == nil && out != uid {
				t.Fatalf("%s it is another cluster", when)
			}
			return err
		})
	}

	a.end(syscall.SIGKILL)
	began = time.Now()
	a = start(t, dir)
	a.page.becomes(cluster.Ready)
	t.Logf("adopted after a kill within %s", time.Since(began).Round(100*time.Millisecond))
	same("after a kill of apilab")

	engineSays(t, "stop", node)
	a.page.becomes(cluster.Healing)
	a.page.becomes(cluster.Ready)
	same("after its node was stopped")

	engineSays(t, "rm", "--force", "--volumes", node)
	gone := a.page.becomes(cluster.Failed)
	if !strings.Contains(gone.Reason, "reset the cluster") {
		t.Errorf("when its node was removed by hand, the learner is told %q", gone.Reason)
	}

	a.page.ask("cluster.reset")
	a.page.becomes(cluster.Creating)
	a.eventually("begin to make the node", func() error {
		for _, what := range inventory(t) {
			if what == "container "+node {
				return nil
			}
		}
		return errNotYet
	})
	a.page.ask("cluster.cancel")
	a.page.becomes(cluster.Absent)
}

// testImages brings images onto the node: of a program, of an archive and of the engine.
func testImages(t *testing.T, a *apilab) {
	t.Helper()
	fails := func(want string, args ...string) {
		t.Helper()
		if out, err := a.run(args...); err == nil || !strings.Contains(out, want) {
			t.Errorf("apilab %s: %v: %q does not say %q", strings.Join(args, " "), err, out, want)
		}
	}
	runs := func(name string) {
		t.Helper()
		a.kubectl("run", name, "--image="+name+":v1", "--restart=Never")
		a.kubectl("wait", "pod/"+name, "--for=jsonpath={.status.phase}=Succeeded", "--timeout=2m")
	}
	project := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.com/clock\n\ngo 1.26\n",
		"main.go": "package main\n\nimport (\"fmt\"; \"os\")\n\nfunc main() { fmt.Println(os.Getuid()) }\n",
	} {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := a.run("kind", "build", project, "--tag", "clock:v1"); err != nil || !strings.Contains(out, "loaded clock:v1") {
		t.Fatalf("%v: %s", err, out)
	}
	runs("clock")
	if said := a.kubectl("logs", "clock"); said != "65532" {
		t.Errorf("the program runs as user %q", said)
	}

	archive := filepath.Join(t.TempDir(), "other.tar")
	if out, err := a.run("kind", "build", project, "--tag", "other:v1", "--output", archive); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := a.run("kind", "load", archive); err != nil || !strings.Contains(out, "loaded other:v1") {
		t.Fatalf("%v: %s", err, out)
	}
	runs("other")

	foreign := filepath.Join(t.TempDir(), "foreign.tar")
	if out, err := a.run("kind", "build", project, "--output", foreign, "--platform", "linux/s390x"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	fails("is for linux/s390x, and the nodes of your cluster are linux/", "kind", "load", foreign)
	fails("has no image nobody-made-this:v1", "kind", "load", "nobody-made-this:v1")
	fails("there is no file absent.tar", "kind", "load", "absent.tar")

	engineSays(t, "load", "--input", archive)
	defer engineSays(t, "rmi", "--force", "other:v1")
	if out, err := a.run("kind", "load", "other:v1"); err != nil || !strings.Contains(out, "other:v1") {
		t.Errorf("an image of the engine: %v: %s", err, out)
	}
}
