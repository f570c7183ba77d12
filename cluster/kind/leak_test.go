package kind_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/kind"
)

// TestCancelledCreations cancels creations in each of their phases, a moment after it began.
func TestCancelledCreations(t *testing.T) {
	engine := needsEngine(t)
	leavesNothing(t, engine)
	p := newProvider(t, engine, dataDir(t))
	for n, phase := range []string{"containers", "config", "control-plane", "network", "apiserver", "nodes"} {
		t.Run(phase, func(t *testing.T) {
			needsEngine(t) // its room may have gone
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var cancelled time.Time
			id := fmt.Sprintf("cancelled-%d", n%2) // the next one may have the name again
			c, err := p.Create(ctx, cluster.Spec{ID: id}, func(ph cluster.Phase) {
				if ph.Name == phase && !ph.Done {
					time.AfterFunc(rand.N(2*time.Second), func() {
						cancelled = time.Now()
						cancel()
					})
				}
			})
			if err == nil { // it was ready before
				t.Logf("%s was ready", c.ID())
				if err := p.Delete(context.WithoutCancel(ctx), id); err != nil {
					t.Fatal(err)
				}
			} else if !errors.Is(err, context.Canceled) {
				t.Errorf("a creation that was cancelled: %v", err)
			} else {
				t.Logf("gone %s after the cancellation", time.Since(cancelled).Round(100*time.Millisecond))
			}
			if left := containers(t, engine, id); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestFailedCreation makes a cluster of an image in which nothing starts.
func TestFailedCreation(t *testing.T) {
	engine := needsEngine(t)
	leavesNothing(t, engine)
	p := newProvider(t, engine, dataDir(t), func(o *kind.Options) { o.Kubernetes = "v1.12.0" })
	_, err := p.Create(within(t, patience), cluster.Spec{ID: "failed"}, say(t))
	if !errors.Is(err, kind.ErrVersion) || !strings.Contains(err.Error(), "v1.12") {
		t.Errorf("an image of another version: %v", err)
	}
	p = newProvider(t, engine, dataDir(t), func(o *kind.Options) { o.Image = "localhost/there/is/no:image" })
	if _, err = p.Create(within(t, patience), cluster.Spec{ID: "failed"}, say(t)); err == nil || !strings.Contains(err.Error(), "--kind-image-archive") {
		t.Errorf("an image that is nowhere: %v", err)
	}
	dir := t.TempDir()
	p = newProvider(t, engine, dataDir(t), func(o *kind.Options) { o.KeepLogs, o.StartTimeout = dir, 8*time.Second })
	if _, err = p.Create(within(t, patience), cluster.Spec{ID: "failed"}, say(t)); err == nil || !strings.Contains(err.Error(), "not ready after 8s") || !strings.Contains(err.Error(), dir) {
		t.Errorf("a start that takes too long: %v", err)
	}
	if kept, err := os.ReadDir(dir); err != nil || len(kept) != 1 {
		t.Errorf("logs: %v, %v", kept, err)
	}
}

// creatorCommand makes the test binary a server that begins to make a cluster.
const creatorCommand = "test-creator"

func create(dir, engine string) {
	executable, _ := os.Executable()
	p, err := kind.New(kind.Options{Dir: dir, Executable: executable, Engine: kind.Engine(engine), Image: os.Getenv("KINDLAB_NODE_IMAGE")})
	if err == nil {
		_, err = p.Create(context.Background(), cluster.Spec{ID: "crash"}, func(ph cluster.Phase) { fmt.Println(ph.Name) })
	}
	fmt.Println("end", err)
}

// TestCrash kills the server while it makes a cluster. The next one cleans up, and makes it anew.
func TestCrash(t *testing.T) {
	engine := needsEngine(t)
	leavesNothing(t, engine)
	dir := dataDir(t)
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(executable, creatorCommand, dir, string(engine))
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	for said, buffer := "", make([]byte, 1000); !strings.Contains(said, "config"); {
		n, err := out.Read(buffer)
		if err != nil {
			t.Fatalf("the server ended: %s", said)
		}
		said += string(buffer[:n])
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
	if left := containers(t, engine, "crash"); len(left) == 0 {
		t.Fatal("the server left nothing: it was killed too early for this test")
	}
	p := newProvider(t, engine, dir)
	if ids, err := p.List(t.Context()); err != nil || len(ids) > 0 {
		t.Errorf("a cluster that is half made is listed: %v, %v", ids, err)
	}
	if err := p.Delete(within(t, patience), "crash"); err != nil {
		t.Error(err)
	}
	if left := containers(t, engine, "crash"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func containers(t *testing.T, engine kind.Engine, id string) []string {
	t.Helper()
	return engineSays(t, engine, "ps", "--all", "--quiet", "--filter", "label=io.x-k8s.kind.cluster=apilab-"+id)
}
