package ownmachine

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const manifest = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: web, image: registry.example.com/web}]}
`

func TestOwnMachine(t *testing.T) {
	for way, open := range ways {
		t.Run(way, func(t *testing.T) {
			c := open(t)
			ada := c.join(t, "Ada", t.TempDir())
			t.Run("kubectl", func(t *testing.T) { kubectlWorks(t, ada) })
			t.Run("watch", func(t *testing.T) { watchIsLive(t, ada) })
			t.Run("proxy", func(t *testing.T) { proxyWorks(t, ada) })
			t.Run("informer", func(t *testing.T) { informerWorks(t, ada) })
			bob := c.join(t, "Bob", t.TempDir())
			t.Run("others", func(t *testing.T) { othersAreOutOfReach(t, bob, ada) })
			t.Run("revoked", func(t *testing.T) { revokedEnds(t, ada) })
			t.Run("removed", func(t *testing.T) { removedEnds(t, bob) })
		})
	}
}

func kubectlWorks(t *testing.T, l *learner) {
	if err := os.WriteFile(filepath.Join(l.machine, "pod.yaml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ command, want string }{
		{"get namespaces", "kube-system"},
		{"auth whoami", "apilab:learners"},
		{"apply --server-side -f pod.yaml", "pod/web serverside-applied"},
		{"wait --for=condition=Ready pod/web --timeout=60s", "condition met"},
		{"get pod web", "Running"},
		{"explain pod.spec.nodeName", "FIELD: nodeName"},
		{"api-resources --api-group=apps", "deployments"},
		{"get --raw /version", `"major": "1"`}, // without the path of the kubeconfig's server
		{"create serviceaccount robot", "serviceaccount/robot created"},
		{"delete pod web", `pod "web" deleted`},
	} {
		if out := l.run(t, strings.Fields(step.command)...); !strings.Contains(out, step.want) {
			t.Errorf("kubectl %s says\n%s, want %q", step.command, out, step.want)
		}
	}
	token := strings.TrimSpace(l.run(t, "create", "token", "robot"))
	if out := l.run(t, "auth", "whoami", "--token", token); !strings.Contains(out, "system:serviceaccount:default:robot") {
		t.Errorf("with a service account's token: %s", out)
	}
	l.run(t, "create", "-f", "pod.yaml")
	l.run(t, "wait", "--for=condition=Ready", "pod/web", "--timeout=60s")
	for _, command := range []string{"port-forward pod/web 8080", "exec web -- true", "logs web"} {
		if out, ok := l.try(t, strings.Fields(command)...); ok || !strings.Contains(out, "the pods of this cluster are simulated") {
			t.Errorf("kubectl %s says\n%s", command, out)
		}
	}
}

// watchIsLive wants each event as it happens, not when a buffer is full.
func watchIsLive(t *testing.T, l *learner) {
	lines := l.follow(t, "get", "configmaps", "--watch", "--output-watch-events")
	for !strings.Contains(lines.next(), "kube-root-ca.crt") { // what there is; events of what comes now follow
	}
	for _, step := range [][]string{
		{"create configmap seen", "ADDED"}, {"label configmap seen a=b", "MODIFIED"}, {"delete configmap seen", "DELETED"},
	} {
		l.run(t, strings.Fields(step[0])...)
		for !strings.HasPrefix(lines.next(), step[1]+" ") {
		}
	}
}

func proxyWorks(t *testing.T, l *learner) {
	lines := l.follow(t, "proxy", "--port=0")
	address := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(lines.next())
	response, err := http.Get("http://" + address + "/api/v1/namespaces/default")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(body), `"kind":"Namespace"`) {
		t.Errorf("through kubectl proxy: %s %s, %v", response.Status, body, err)
	}
}

func othersAreOutOfReach(t *testing.T, thief, owner *learner) {
	theirs, err := os.ReadFile(owner.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`server: (\S+)`).FindSubmatch(theirs)[1]
	if out, ok := thief.try(t, "get", "pods", "--server", string(address)); ok || !strings.Contains(out, "use a kubeconfig as you got it") {
		t.Errorf("with the token of another: %s", out)
	}
	if out := thief.run(t, "get", "pods", "--ignore-not-found"); strings.Contains(out, "web") {
		t.Errorf("a learner sees the pod of another: %s", out)
	}
}

func revokedEnds(t *testing.T, l *learner) {
	watch := l.follow(t, "get", "configmaps", "--watch")
	watch.next()
	if err := l.page(t).Ask(t.Context(), "kubeconfig", map[string]any{"renew": true}, nil); err != nil {
		t.Fatal(err)
	}
	watch.ends()
	if out, ok := l.try(t, "get", "pods"); ok || !strings.Contains(out, "this kubeconfig was revoked: get a new one") {
		t.Errorf("with a revoked kubeconfig: %s", out)
	}
	l.download(t)
	l.run(t, "get", "pods")
}

func removedEnds(t *testing.T, l *learner) {
	settings, err := l.admin.Get(t.Context(), l.path+"/settings")
	if err != nil {
		t.Fatal(err)
	}
	members := regexp.MustCompile(`action="(/classes/[^"]+/members/[^"]+)/remove">.*>Remove Bob<`).FindSubmatch(settings.Body)
	if members == nil {
		t.Fatalf("Bob cannot be removed:\n%s", settings.Body)
	}
	l.post(t, l.admin, string(members[1])+"/remove", url.Values{})
	if out, ok := l.try(t, "get", "pods"); ok || !strings.Contains(out, "does not know the learner of this token any more") {
		t.Errorf("a learner who was removed: %s", out)
	}
}

// A follower reads the lines of a program that runs.
type follower struct {
	t     *testing.T
	lines chan string // closed when the program has ended
}

// follow runs kubectl until the test ends.
func (l *learner) follow(t *testing.T, args ...string) *follower {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	cmd := l.command(ctx, kubectl, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f := &follower{t, make(chan string, 100)}
	go func() {
		defer close(f.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			f.lines <- scanner.Text()
		}
		_ = cmd.Wait() // a watch that was cut is an error
	}()
	t.Cleanup(func() {
		cancel()
		for range f.lines {
		}
	})
	return f
}

func (f *follower) next() string {
	f.t.Helper()
	line, ok := <-f.lines
	if !ok {
		f.t.Fatal("the program has ended")
	}
	return line
}

func (f *follower) ends() {
	for range f.lines {
	}
}
