package kind

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apilab/apilab/cluster"
)

// refused opens an apilab whose cluster cannot be made, and looks at what the learner is told.
func refused(t *testing.T, want string, env ...string) {
	t.Helper()
	refusedWithin(t, nil, want, env...)
}

// refusedWithin has the apilab started by another command.
func refusedWithin(t *testing.T, command []string, want string, env ...string) {
	t.Helper()
	dir := t.TempDir()
	began := time.Now()
	reason := startWithin(t, command, dir, env...).page.becomes(cluster.Failed).Reason
	t.Logf("after %s: %s", time.Since(began).Round(time.Second), reason)
	if !strings.Contains(reason, want) {
		t.Errorf("the learner is told %q, which does not say %q", reason, want)
	}
	if left := clusterFiles(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// onlyProgram is a PATH with one program on it, a script.
func onlyProgram(t *testing.T, name, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestNoEngine(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"none":       t.TempDir(),
		"hangs":      onlyProgram(t, "podman", "exec /bin/sleep 600"),
		"is another": onlyProgram(t, "docker", "echo a tray in the panel"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(binary, "serve", "--no-open", "--provider", "kind", "--data-dir", t.TempDir())
			cmd.Env = []string{"PATH=" + path, "HOME=" + t.TempDir()}
			began := time.Now()
			out, err := cmd.CombinedOutput()
			if err == nil || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "install docker, podman or nerdctl") {
				t.Errorf("%v: %s", err, out)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// TestEngineHangs has an engine that says its version, and nothing more.
func TestEngineHangs(t *testing.T) {
	t.Parallel()
	path := onlyProgram(t, "podman", `[ "$1" = -v ] && echo podman version 5.0.0 && exit; exec /bin/sleep 3600`)
	refused(t, "podman does not answer", "PATH="+path, "KIND_EXPERIMENTAL_PROVIDER=podman")
}

func TestNameTaken(t *testing.T) {
	image := os.Getenv("KINDLAB_NODE_IMAGE")
	if image == "" {
		t.Skip("KINDLAB_NODE_IMAGE names no image to make somebody else's container of")
	}
	for name, label := range map[string]string{"by a kind cluster": "io.x-k8s.kind.cluster=apilab-local", "by a container": "some=label"} {
		t.Run(name, func(t *testing.T) {
			engineSays(t, "create", "--name", node, "--label", label, image)
			defer engineSays(t, "rm", "--force", "--volumes", node)
			refused(t, node)
			if status := engineSays(t, "inspect", "--format", "{{.State.Status}}", node); strings.TrimSpace(status) != "created" {
				t.Errorf("somebody else's container is %s now", status)
			}
		})
	}
}

// TestImages has node images that are none, or of another Kubernetes.
func TestImages(t *testing.T) {
	refused(t, "get the node image localhost/nobody-made-this:v1", "APILAB_KIND_IMAGE=localhost/nobody-made-this:v1")

	// Its cat says a version, whatever it is asked.
	project := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.com/cat\n\ngo 1.26\n",
		"main.go": "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"v1.20.0\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	archive := filepath.Join(t.TempDir(), "cat.tar")
	if out, err := exec.Command(binary, "kind", "build", project, "--tag", "localhost/cat:v1", "--output", archive).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	engineSays(t, "load", "--input", archive)
	defer engineSays(t, "rmi", "--force", "localhost/cat:v1")
	refused(t, "has v1.20.0, they are for v1.37", "APILAB_KIND_IMAGE=localhost/cat:v1")
}

// TestFullDisk gives the engine a disk that is too small for a node.
func TestFullDisk(t *testing.T) {
	if engine != "podman" || os.Getuid() != 0 {
		t.Skip("it takes root, and an engine without a daemon, to give it another disk")
	}
	store := strings.TrimSpace(engineSays(t, "info", "--format", "{{.Store.GraphRoot}}"))
	mount := "mount -t tmpfs -o size=48m tmpfs " + store + ` && exec "$@"`
	refusedWithin(t, []string{"unshare", "--mount", "sh", "-c", mount, "sh"}, "free some space under "+store)
}
