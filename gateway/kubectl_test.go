package gateway

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestStockKubectl runs the kubectl of this machine, whatever its version, on the kubeconfig that learners save.
func TestStockKubectl(t *testing.T) {
	t.Parallel()
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("no kubectl on this machine: the saved kubeconfig is not tried with it")
	}
	robot := jwt(`{"sub":"system:serviceaccount:lab:robot"}`)
	const path = "/api/v1/namespaces/default"
	tokens := make(chan string, 2)
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path { // distributions' kubectl may ask for the server's version first
			http.NotFound(w, r)
			return
		}
		tokens <- r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"default"}}`)
	})
	b.fallback = "" // the server name in the kubeconfig has to do
	config, err := b.OwnKubeconfig(t.Context(), learner, Address{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), kubectl, append([]string{"--kubeconfig", file}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, output)
		}
		return string(output)
	}
	if got := run("config", "view", "--minify", "-o", "jsonpath={.contexts[0].name} {..namespace}"); got != "apilab default" {
		t.Errorf("context %q", got)
	}
	if got := run("get", "--raw", path, "-v=8"); !strings.Contains(got, "https://"+b.Addr()+path) || !strings.Contains(got, `"kind":"Namespace"`) {
		t.Errorf("output %s", got)
	}
	if got := <-tokens; got != "Bearer "+identityToken {
		t.Errorf("the API server saw %q", got)
	}
	run("get", "--raw", path, "--token", robot)
	if got := <-tokens; got != "Bearer "+robot {
		t.Errorf("with --token the API server saw %q", got)
	}
	records := b.records(t, 2)
	if r := records[len(records)-1]; r.Verb != "get" || r.Resource != "namespaces" || !strings.HasPrefix(r.UserAgent, "kubectl/") {
		t.Errorf("record %+v", r)
	}
}
