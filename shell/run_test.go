package shell

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newOptions are those of a learner of this test.
func newOptions(t *testing.T) Options {
	t.Helper()
	base := t.TempDir()
	return Options{Home: filepath.Join(base, "home"), Ports: filepath.Join(base, "ports")}
}

// script runs a script and returns its output and exit status.
func script(t *testing.T, o Options, text string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	var out bytes.Buffer
	exit, err := Run(ctx, o, text, &out, &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String(), exit
}

func TestRun(t *testing.T) {
	t.Parallel()
	o := newOptions(t)
	out, exit := script(t, o, "echo hello > f; cat f; ls; pwd; exit 3")
	if out != "hello\nf\n/home/learner\n" || exit != 3 {
		t.Errorf("got %d %q", exit, out)
	}
	if b, err := os.ReadFile(filepath.Join(o.Home, "f")); err != nil || string(b) != "hello\n" {
		t.Errorf("the file is %q, %v", b, err)
	}
	out, exit = script(t, o, "kubectl version --client")
	if !strings.Contains(out, "Client Version: v") || exit != 0 {
		t.Errorf("got %d %q", exit, out)
	}
}

func TestKubectlLogsNamesOfTheLearner(t *testing.T) {
	t.Parallel()
	o, _ := withCluster(t)
	out := open(t, o).run("kubectl get ns -v=6")
	if n := strings.Count(out, "Config loaded from file:  /home/learner/.kube/config\n"); n != 1 || strings.Contains(out, o.Home) {
		t.Errorf("got %q", out)
	}
}
