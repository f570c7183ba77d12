package shell

import (
	"bytes"
	"context"
	"fmt"
	"io"
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

// What a script leaves running goes on when its owner wants that, and ends with ctx.
func TestRunThatLeavesJobs(t *testing.T) {
	t.Parallel()
	o := newOptions(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	o.Ended = func(exit int) { ended <- exit }
	done := make(chan error, 1)
	go func() {
		_, err := Run(ctx, o, "webhook cert; (webhook -- cat; echo over > f) & while ! curl -sk https://localhost:8443; do sleep 0.01; done; (exit 3)", io.Discard, io.Discard)
		done <- err
	}()
	if exit := <-ended; exit != 3 {
		t.Errorf("exit status %d", exit)
	}
	other := o
	other.Ended = nil
	if out, _ := script(t, other, "curl -s --cacert ca.crt https://localhost:8443 -d '{}'"); out != "{}" {
		t.Errorf("the job answered %q", out)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if out, exit := script(t, other, "curl -s https://localhost:8443"); exit != 7 {
		t.Errorf("it is still there: %d %q", exit, out)
	}
	// Without jobs, or with those that end, there is nothing to wait for.
	for text, want := range map[string]int{"exit 4": 4, "sleep 0.1 & exit 5": 5} {
		exit, err := Run(t.Context(), o, text, io.Discard, io.Discard)
		if err != nil || exit != want {
			t.Errorf("%s: %d, %v", text, exit, err)
		}
	}
	// A job that the script ends with has perhaps not begun by then.
	for range 20 {
		other.Ended = func(int) {}
		if _, err := Run(t.Context(), other, "echo begun > last &", io.Discard, io.Discard); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(filepath.Join(o.Home, "last")); err != nil || string(b) != "begun\n" {
			t.Fatalf("the job wrote %q, %v", b, err)
		}
		os.Remove(filepath.Join(o.Home, "last"))
	}
	limit, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	if _, err := Run(limit, o, "sleep 60", io.Discard, io.Discard); err != context.DeadlineExceeded {
		t.Errorf("a script that does not end: %v", err)
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

// The schemas of OpenAPI v2 take the API server seconds after each change of a definition.
func TestApplyAsksForNoSchemas(t *testing.T) {
	t.Parallel()
	o, a := withCluster(t)
	for flag, want := range map[string]int64{"": 0, " --openapi-patch": 1} {
		a.schemas.Store(0)
		out, exit := script(t, o, "kubectl create configmap there --from-literal=k=w --dry-run=client -o yaml | kubectl apply --validate=false"+flag+" -f -")
		if got := a.schemas.Load(); got != want || exit != 0 {
			t.Errorf("apply%s asked %d times, want %d; it ended with %d and printed\n%s", flag, got, want, exit, out)
		}
	}
}

// The mark may come in pieces, and what resembles it is output.
func TestEndingIsFoundWhereverItIsCut(t *testing.T) {
	t.Parallel()
	const whole = "a\x00en\x00ended X\x07late\x00ended X"
	for cut := range len(whole) {
		var out strings.Builder
		var before string
		e := &ending{to: &out, mark: []byte("\x00ended X"), tell: func(exit int) { before = fmt.Sprint(out.String(), exit) }}
		for _, part := range []string{whole[:cut], whole[cut:]} {
			if n, err := io.WriteString(e, part); n != len(part) || err != nil {
				t.Fatalf("cut at %d: %d, %v", cut, n, err)
			}
		}
		e.flush()
		if before != "a\x00en7" || out.String() != "a\x00enlate\x00ended X" {
			t.Errorf("cut at %d: %q when it ended, %q in all", cut, before, out.String())
		}
	}
	var out strings.Builder
	e := &ending{to: &out, mark: []byte("\x00ended X"), tell: func(int) { t.Error("it has ended") }}
	io.WriteString(e, "a\x00ended")
	if e.flush(); out.String() != "a\x00ended" {
		t.Errorf("without an end %q", out.String())
	}
}
