package kind

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/apilab/apilab/cli/control"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/protocol"
)

// An apilab is the real one, running on a data directory, with its page open.
type apilab struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	page *page

	ended chan struct{}
	mu    sync.Mutex
	said  strings.Builder
}

// start runs apilab with kind clusters, and opens its page, which claims a cluster.
func start(t *testing.T, dir string, env ...string) *apilab {
	t.Helper()
	return startWithin(t, nil, dir, env...)
}

// startWithin has it started by another command, which it is the rest of the arguments of.
func startWithin(t *testing.T, command []string, dir string, env ...string) *apilab {
	t.Helper()
	a := &apilab{t: t, dir: dir, ended: make(chan struct{})}
	words := append(slices.Clone(command), binary, "serve", "--no-open", "--provider", "kind", "--port", "0", "--data-dir", dir)
	a.cmd = exec.Command(words[0], words[1:]...)
	a.cmd.Env = append(environment(dir), env...)
	a.cmd.Stdout, a.cmd.Stderr = a, a
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = a.cmd.Wait()
		close(a.ended)
	}()
	t.Cleanup(func() {
		a.end(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("apilab said:\n%s", a.output())
		}
	})
	var link string
	a.eventually("come up", func() (err error) {
		select {
		case <-a.ended:
			t.Fatalf("apilab ended at once: %s", a.output())
		default:
		}
		link, err = control.SignInURL(t.Context(), dir)
		return err
	})
	a.page = open(t, link)
	return a
}

// environment is that of a user's shell, with the node image that the machine has.
func environment(dir string) []string {
	env := append(os.Environ(), "APILAB_DATA_DIR="+dir)
	if image := os.Getenv("KINDLAB_NODE_IMAGE"); image != "" {
		env = append(env, "APILAB_KIND_IMAGE="+image)
	}
	return env
}

func (a *apilab) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.said.Write(p)
}

func (a *apilab) output() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.said.String()
}

// end sends a signal, and returns when the process has ended.
func (a *apilab) end(signal syscall.Signal) {
	_ = a.cmd.Process.Signal(signal)
	select {
	case <-a.ended:
	case <-time.After(patience):
		a.t.Errorf("apilab did not end on %s", signal)
		_ = a.cmd.Process.Kill()
		<-a.ended
	}
}

// run runs an apilab command on the same data directory, and returns what it printed.
func (a *apilab) run(args ...string) (string, error) {
	cmd := exec.Command(binary, args...)
	cmd.Env = environment(a.dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// kubectl runs a command as the learner, from outside. It has to succeed.
func (a *apilab) kubectl(args ...string) string {
	a.t.Helper()
	out, err := a.tryKubectl(args...)
	if err != nil {
		a.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (a *apilab) tryKubectl(args ...string) (string, error) {
	file := filepath.Join(a.dir, "kubeconfig")
	if _, err := os.Stat(file); err != nil {
		text, err := control.Kubeconfig(a.t.Context(), a.dir)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return "", err
		}
	}
	cmd := exec.Command("kubectl", args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+file)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// eventually tries until there is no error.
func (a *apilab) eventually(what string, try func() error) {
	a.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(500 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("did not %s: %v", what, err)
		}
	}
}

// A page is what a browser would be: signed in, with its websocket.
type page struct {
	t    *testing.T
	conn *websocket.Conn
	said chan cluster.Status // each change
	mu   sync.Mutex
	last cluster.Status
}

func open(t *testing.T, link string) *page {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	response, err := client.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	address, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	conn, _, err := websocket.Dial(t.Context(), "ws://"+address.Host+"/ws", &websocket.DialOptions{
		HTTPClient:   client,
		HTTPHeader:   http.Header{"Origin": {"http://" + address.Host}},
		Subprotocols: []string{protocol.Subprotocol},
	})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	p := &page{t: t, conn: conn, said: make(chan cluster.Status, 1000)}
	go p.read(t.Context())
	return p
}

func (p *page) read(ctx context.Context) {
	for {
		_, data, err := p.conn.Read(ctx)
		if err != nil {
			return
		}
		var message struct {
			Type    string         `json:"type"`
			Cluster cluster.Status `json:"cluster"`
			Status  cluster.Status `json:"status"`
		}
		if json.Unmarshal(data, &message) != nil {
			continue // a frame of a terminal
		}
		switch message.Type {
		case "hello":
			p.hear(message.Cluster)
		case "cluster":
			p.hear(message.Status)
		}
	}
}

func (p *page) hear(s cluster.Status) {
	p.mu.Lock()
	p.last = s
	p.mu.Unlock()
	p.said <- s
}

// ask sends a message that takes effect on the cluster's status.
func (p *page) ask(kind string) {
	p.t.Helper()
	if err := p.conn.Write(p.t.Context(), websocket.MessageText, []byte(`{"type":"`+kind+`","id":1}`)); err != nil {
		p.t.Fatalf("%s: %v", kind, err)
	}
}

// until waits for a status, beginning with those that were not looked at yet, and returns it.
func (p *page) until(what string, is func(cluster.Status) bool) cluster.Status {
	p.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case s := <-p.said:
			if is(s) {
				return s
			}
		case <-limit:
			p.mu.Lock()
			defer p.mu.Unlock()
			p.t.Fatalf("the cluster did not become %s; it is %s: %s", what, p.last.State, p.last.Reason)
		}
	}
}

// becomes waits for a state. A cluster that fails instead ends the test.
func (p *page) becomes(state cluster.State) cluster.Status {
	p.t.Helper()
	return p.until(string(state), func(s cluster.Status) bool {
		if s.State == cluster.Failed && state != cluster.Failed {
			p.t.Fatalf("the cluster failed: %s", s.Reason)
		}
		return s.State == state
	})
}

var errNotYet = errors.New("not yet")
