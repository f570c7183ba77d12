package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/embedded"
	"github.com/apilab/apilab/cluster/embedded/controlplane"
	"github.com/apilab/apilab/cluster/embedded/pki"
)

func serve(dir string) int {
	executable, err := os.Executable()
	if err != nil {
		panic(err)
	}
	p, err := embedded.New(embedded.Options{Dir: filepath.Join(dir, "clusters"), Executable: executable})
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	c, err := p.Create(context.Background(), cluster.Spec{ID: "local"}, quiet)
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	if err := leaveNote(context.Background(), c, "before"); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println("ready")
	select {}
}

// leaveNote makes an object that must survive.
func leaveNote(ctx context.Context, c cluster.Cluster, name string) error {
	_, err := kubernetes.NewForConfigOrDie(c.LearnerConfig()).CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

func findNote(ctx context.Context, c cluster.Cluster, name string) error {
	_, err := kubernetes.NewForConfigOrDie(c.LearnerConfig()).CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
	return err
}

// TestServerKilled kills a server: its control plane ends with it, and the next server finds the cluster as it was.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := exec.Command(os.Args[0], serverCommand, dir)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Process.Kill()
	said := make([]byte, 1000)
	n, _ := out.Read(said)
	if strings.TrimSpace(string(said[:n])) != "ready" {
		t.Fatalf("the server says %q", said[:n])
	}
	planes := children(t, server.Process.Pid)
	if len(planes) != 1 {
		t.Fatalf("children of the server: %v", planes)
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
	until(t, "the end of the control plane", func(context.Context) bool {
		return errors.Is(syscall.Kill(planes[0], 0), syscall.ESRCH)
	})

	p := newProvider(t, dir)
	ids, err := p.List(t.Context())
	if err != nil || len(ids) != 1 || ids[0] != "local" {
		t.Fatalf("clusters %v, %v", ids, err)
	}
	c, err := p.Adopt(within(t, patience), cluster.Spec{ID: "local"}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if err := findNote(t.Context(), c, "before"); err != nil {
		t.Errorf("after the death of the server: %v", err)
	}
}

// TestSweep finds a control plane that outlived its server, and half a deletion.
func TestSweep(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, dir := range []string{"local", "gone.deleted"} {
		if err := os.MkdirAll(filepath.Join(root, "clusters", dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	orphan := exec.Command(os.Args[0], orphanCommand, filepath.Join(root, "clusters", "local", "lock"))
	out, err := orphan.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	defer orphan.Process.Kill()
	said := make([]byte, len("locked"))
	if _, err := io.ReadFull(out, said); err != nil || string(said) != "locked" {
		t.Fatalf("the orphan says %q, %v", said, err)
	}
	p := newProvider(t, root)
	var exit *exec.ExitError
	if err := orphan.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Errorf("the orphan ended with %v", err)
	}
	if ids, err := p.List(t.Context()); err != nil || len(ids) != 1 {
		t.Errorf("clusters %v, %v", ids, err)
	}
	if left, err := os.ReadDir(filepath.Join(root, "clusters")); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestHealing kills the control plane of a cluster that its learner goes on using, at the same address.
func TestHealing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := newProvider(t, dir)
	c, err := p.Create(within(t, patience), cluster.Spec{ID: "heal"}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if err := leaveNote(t.Context(), c, "before"); err != nil {
		t.Fatal(err)
	}
	states := make(chan cluster.Health, 100)
	defer c.Health(func(h cluster.Health) { states <- h })()
	if h := <-states; !h.Ready {
		t.Fatalf("at first: %+v", h)
	}
	if err := syscall.Kill(plane(t, "heal"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	died := <-states
	if died.Ready || died.Fatal || !strings.Contains(died.Reason, "killed") {
		t.Errorf("after the kill: %+v", died)
	}
	phases := 0
	deadline := time.After(patience)
	for healed := false; !healed; {
		select {
		case h := <-states:
			healed, phases = h.Ready, max(phases, len(h.Phases))
		case <-deadline:
			t.Fatal("not healed")
		}
	}
	if phases != 5 {
		t.Errorf("%d phases were shown while it healed", phases)
	}
	if err := findNote(t.Context(), c, "before"); err != nil {
		t.Errorf("after the healing: %v", err)
	}
	if _, err := p.Adopt(t.Context(), cluster.Spec{ID: "heal"}, quiet); err == nil {
		t.Error("a running cluster was started a second time")
	}
}

// TestSilence freezes a control plane, which does not die of it, but answers nothing any more.
func TestSilence(t *testing.T) {
	t.Parallel()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := embedded.New(embedded.Options{Dir: filepath.Join(t.TempDir(), "clusters"), Executable: executable, ProbeEvery: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := p.Create(within(t, patience), cluster.Spec{ID: "silent"}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	reason := make(chan string, 100)
	defer c.Health(func(h cluster.Health) { reason <- h.Reason })()
	<-reason
	if err := syscall.Kill(plane(t, "silent"), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for want := "did not answer"; ; {
		select {
		case got := <-reason:
			if got == "" && want == "" {
				return
			}
			if want != "" && !strings.Contains(got, want) {
				t.Fatalf("replaced because %q", got)
			}
			want = ""
		case <-time.After(patience):
			t.Fatal("not replaced")
		}
	}
}

// plane returns the control-plane process of one of this test's clusters, which has the id in its arguments.
func plane(t *testing.T, id string) int {
	t.Helper()
	for _, pid := range children(t, os.Getpid()) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.HasSuffix(strings.TrimRight(string(line), "\x00"), embedded.Command+"\x00"+id) {
			return pid
		}
	}
	t.Fatalf("no control plane of %s", id)
	return 0
}

// TestTemplate makes two clusters from a template at the same time. Nothing of one is seen in the other.
func TestTemplate(t *testing.T) {
	t.Parallel()
	p := newProvider(t, t.TempDir())
	if err := p.Prepare(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	made := make(chan cluster.Cluster, 2)
	for _, id := range []string{"first", "second"} {
		go func() {
			c, err := p.Create(within(t, patience), cluster.Spec{ID: id, Nodes: 1}, quiet)
			if err != nil {
				t.Error(err)
			}
			made <- c
		}()
	}
	for range 2 {
		c := <-made
		if c == nil {
			t.FailNow()
		}
		if err := leaveNote(t.Context(), c, c.ID()); err != nil {
			t.Fatal(err)
		}
		kube := kubernetes.NewForConfigOrDie(c.LearnerConfig())
		notes, err := kube.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(notes.Items) != 2 {
			t.Errorf("%s holds %d config maps, want kube-root-ca.crt and its own: %v", c.ID(), len(notes.Items), err)
		}
		nodes, err := kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil || len(nodes.Items) != 1 {
			t.Errorf("%s has %d nodes, want 1: %v", c.ID(), len(nodes.Items), err)
		}
		oldResourceVersion(t, &lab{kube: kube}, "default")
		ca, err := kube.CoreV1().ConfigMaps("default").Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
		if err != nil || ca.Data["ca.crt"] != string(c.Config().CAData) {
			t.Errorf("%s publishes another authority than its own: %v", c.ID(), err)
		}
		trust, err := kube.CoreV1().ConfigMaps("kube-system").Get(t.Context(), "extension-apiserver-authentication", metav1.GetOptions{})
		if err != nil || strings.TrimSpace(trust.Data["client-ca-file"]) != strings.TrimSpace(string(c.Config().CAData)) {
			t.Errorf("%s trusts another authority than its own: %v", c.ID(), err)
		}
		if err := p.Delete(t.Context(), c.ID()); err != nil {
			t.Error(err)
		}
	}
	if ids, err := p.List(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("after deletion: %v, %v", ids, err)
	}
}

// TestFull fills a cluster, which starts again nevertheless, and goes on when its learner deletes something.
func TestFull(t *testing.T) {
	t.Parallel()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := embedded.New(embedded.Options{Dir: filepath.Join(t.TempDir(), "clusters"), Executable: executable, StoreBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := p.Create(within(t, patience), cluster.Spec{ID: "full"}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	fill := func(ns string) (made int) {
		notes := kubernetes.NewForConfigOrDie(c.LearnerConfig()).CoreV1().ConfigMaps(ns)
		for ; made < 32; made++ {
			_, err := notes.Create(t.Context(), &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "big-"}, Data: map[string]string{"text": strings.Repeat("x", 900<<10)},
			}, metav1.CreateOptions{})
			if err != nil {
				if !strings.Contains(err.Error(), "the cluster is full") {
					t.Fatal(err)
				}
				return made
			}
		}
		t.Fatal("the cluster is never full")
		return 0
	}
	kube := kubernetes.NewForConfigOrDie(c.LearnerConfig())
	if _, err := kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "big"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	first := fill("big")
	if err := c.Stop(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	if c, err = p.Adopt(within(t, patience), cluster.Spec{ID: "full"}, quiet); err != nil {
		t.Fatal(err)
	}
	if more := fill("default"); more > first/2 {
		t.Errorf("full, but %d objects found room after a restart", more)
	}
	// To delete a namespace takes updates and events as well.
	kube = kubernetes.NewForConfigOrDie(c.LearnerConfig())
	if err := kube.CoreV1().Namespaces().Delete(t.Context(), "big", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the namespace", func(ctx context.Context) bool {
		_, err := kube.CoreV1().Namespaces().Get(ctx, "big", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	if again := fill("default"); again < first-2 {
		t.Errorf("%d objects found room, %d before", again, first)
	}
}

// TestBadData starts clusters on data that cannot be used.
func TestBadData(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(dir string) error
		want  error
		says  string
	}{
		{"newer version", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "cluster.json"), []byte(`{"format":1,"kubernetes":"v1.38.0"}`), 0o600)
		}, embedded.ErrNewer, "v1.38.0"},
		{"newer format", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "cluster.json"), []byte(`{"format":99,"kubernetes":"v1.37.0"}`), 0o600)
		}, embedded.ErrNewer, "update apilab"},
		{"no description", func(dir string) error { return nil }, embedded.ErrUnreadable, "reset"},
		{"garbled description", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "cluster.json"), []byte(`{`), 0o600)
		}, embedded.ErrUnreadable, "cluster.json"},
		{"garbled key", func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, "cluster.json"), []byte(`{"format":1,"kubernetes":"v1.37.0"}`), 0o600); err != nil {
				return err
			}
			keys := pki.Dir(filepath.Join(dir, "pki"))
			if err := keys.Ensure(controlplane.ServiceIP); err != nil {
				return err
			}
			return os.WriteFile(keys.Key(pki.CA), []byte("garbage"), 0o600)
		}, embedded.ErrUnreadable, "ca.key"},
		{"garbled store", func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, "cluster.json"), []byte(`{"format":1,"kubernetes":"v1.37.0"}`), 0o600); err != nil {
				return err
			}
			store := filepath.Join(dir, "etcd", "member", "snap")
			if err := os.MkdirAll(store, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(store, "db"), []byte(strings.Repeat("garbage ", 8192)), 0o600)
		}, embedded.ErrUnreadable, "last lines of its log"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			dir := filepath.Join(root, "clusters", "bad")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(dir); err != nil {
				t.Fatal(err)
			}
			p := newProvider(t, root)
			_, err := p.Adopt(within(t, patience), cluster.Spec{ID: "bad"}, quiet)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(dir); err != nil {
				t.Errorf("the data are gone: %v", err)
			}
		})
	}
}

// TestCancelledCreation gives a start up: no process and no data are left.
func TestCancelledCreation(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	p := newProvider(t, root)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := p.Create(ctx, cluster.Spec{ID: "given-up"}, func(p cluster.Phase) {
		if p.Name == "apiserver" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	left, err := os.ReadDir(filepath.Join(root, "clusters"))
	if err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestCrashedCreation takes a folder as a server leaves it that is killed while it makes a cluster. A control plane could
// not start on every such folder: etcd waits for ever on a log that ends before its first member.
func TestCrashedCreation(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"etcd", "apiserver"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			before, after := t.TempDir(), t.TempDir()
			if err := os.Mkdir(filepath.Join(after, "clusters"), 0o700); err != nil {
				t.Fatal(err)
			}
			_, err := newProvider(t, before).Create(within(t, patience), cluster.Spec{ID: "torn"}, func(p cluster.Phase) {
				if p.Name != phase || p.Done {
					return
				}
				if err := os.Rename(filepath.Join(before, "clusters", "torn"), filepath.Join(after, "clusters", "torn")); err != nil {
					t.Error(err)
				}
				ids, err := newProvider(t, after).List(t.Context())
				if err != nil || len(ids) != 0 {
					t.Errorf("the next server finds clusters %v, %v", ids, err)
				}
			})
			if err == nil {
				t.Error("the control plane lives")
			}
		})
	}
}

// TestKilledStart kills the first process of a start: the second brings the cluster up, new or on its data.
func TestKilledStart(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	executable := filepath.Join(root, "apilab")
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(root, "killed")
	program(t, executable, fmt.Sprintf("[ -e %[1]q ] || { : > %[1]q; kill -9 $$; }\nexec %[2]q \"$@\"\n", mark, own))
	p, err := embedded.New(embedded.Options{Dir: filepath.Join(root, "clusters"), Executable: executable})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := p.Create(within(t, patience), cluster.Spec{ID: "again"}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Adopt(within(t, patience), cluster.Spec{ID: "again"}, quiet); err != nil {
		t.Error(err)
	}
}

func TestBadID(t *testing.T) {
	t.Parallel()
	p := newProvider(t, t.TempDir())
	for _, id := range []string{"", "..", "a/b", "A", "-a", "a.deleted", strings.Repeat("a", 41)} {
		if _, err := p.Create(t.Context(), cluster.Spec{ID: id}, quiet); err == nil {
			t.Errorf("%q was taken", id)
		}
		if err := p.Delete(t.Context(), id); err == nil {
			t.Errorf("%q was deleted", id)
		}
	}
}

// program writes an executable that stands in for the binary of apilab.
func program(t *testing.T, path, script string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestEarlyDeath starts a control plane that dies at once. The error has its last words, and nothing is left.
func TestEarlyDeath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		want         error
		says         []string
	}{
		{"with words", "echo first; echo the reason is this >&2; exit 3", nil, []string{"exit status 3", "last lines of its log", "the reason is this"}},
		{"silent", "exit 1", nil, []string{"exit status 1"}},
		{"no space", "echo write /x: no space left on device >&2; exit 1", embedded.ErrDiskFull, []string{"free some space", "no space left on device"}},
		{"reported", `echo '{"begin":"apiserver"}' >&4; echo '{"error":"it cannot listen"}' >&4; exit 1`, nil, []string{`in phase "apiserver"`, "it cannot listen"}},
		{"killed", "kill -9 $$", nil, []string{"signal: killed"}},
		{"etcd panics", `echo '{"begin":"etcd"}' >&4; printf 'panic: page 3 is bad\n\ngoroutine 1 [running]:\ngo.etcd.io/bbolt.x()\n\t/db.go:1\n' >&2; exit 2`, embedded.ErrUnreadable, []string{"page 3 is bad", "reset the cluster"}},
		{"hangs", "exec sleep 1000", nil, []string{"not ready after"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			executable := filepath.Join(root, "apilab")
			program(t, executable, c.script)
			p, err := embedded.New(embedded.Options{Dir: filepath.Join(root, "clusters"), Executable: executable, StartTimeout: 2 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			_, err = p.Create(t.Context(), cluster.Spec{ID: "early"}, quiet)
			var death *embedded.DeathError
			if !errors.As(err, &death) || c.want != nil && !errors.Is(err, c.want) {
				t.Fatalf("got %v", err)
			}
			for _, says := range c.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%q is missing in: %v", says, err)
				}
			}
			if ids, err := p.List(t.Context()); err != nil || len(ids) != 0 {
				t.Errorf("left: %v, %v", ids, err)
			}
		})
	}
}

// TestStopWhileHealing stops a cluster whose control plane has just died, as when a system ends all processes at once.
// Nothing has been given up.
func TestStopWhileHealing(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	executable := filepath.Join(root, "apilab")
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program(t, executable, fmt.Sprintf("exec %q \"$@\"\n", own))
	var log bytes.Buffer
	p, err := embedded.New(embedded.Options{
		Dir: filepath.Join(root, "clusters"), Executable: executable,
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := p.Create(within(t, patience), cluster.Spec{ID: "stop"}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	program(t, executable, "exec sleep 1000\n")
	states := make(chan cluster.Health, 100)
	defer c.Health(func(h cluster.Health) { states <- h })()
	<-states
	if err := syscall.Kill(plane(t, "stop"), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-states
	if err := c.Stop(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	if log.Len() > 0 {
		t.Errorf("errors were logged:\n%s", &log)
	}
	for h := range states {
		if h.Fatal {
			t.Errorf("in the end: %+v", h)
		}
		if h.Reason == "the cluster was stopped" {
			break
		}
	}
}

// TestCrashLoop lets a cluster's control plane die again and again: healing is given up, with the last words.
func TestCrashLoop(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	executable := filepath.Join(root, "apilab")
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program(t, executable, fmt.Sprintf("exec %q \"$@\"\n", own))
	p, err := embedded.New(embedded.Options{Dir: filepath.Join(root, "clusters"), Executable: executable})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := p.Create(within(t, patience), cluster.Spec{ID: "loop"}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	program(t, executable, "echo it will never work; exit 7\n")
	end := make(chan cluster.Health, 1)
	defer c.Health(func(h cluster.Health) {
		if h.Fatal {
			end <- h
		}
	})()
	if err := syscall.Kill(plane(t, "loop"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case h := <-end:
		if !strings.Contains(h.Reason, "it will never work") {
			t.Errorf("given up because %s", h.Reason)
		}
	case <-time.After(patience):
		t.Fatal("never given up")
	}

	// A retry, once the reason is gone, finds the data.
	program(t, executable, fmt.Sprintf("exec %q \"$@\"\n", own))
	if _, err := p.Adopt(within(t, patience), cluster.Spec{ID: "loop"}, quiet); err != nil {
		t.Errorf("retry: %v", err)
	}
}
