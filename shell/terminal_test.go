package shell

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// console drives a terminal as a page does.
type console struct {
	*Terminal
	t    *testing.T
	sent uint64
	mu   sync.Mutex
	out  strings.Builder
	grew chan struct{}
}

func open(t *testing.T, o Options) *console {
	t.Helper()
	term, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c := &console{Terminal: term, t: t, grew: make(chan struct{}, 1)}
	go c.listen()
	t.Cleanup(func() { term.Close() })
	c.match(regexp.MustCompile(`[$#]`)) // a host's shell has # for root
	return c
}

func (c *console) listen() {
	at := uint64(0)
	for {
		start, p, err := c.Read(context.Background(), at, 64<<10)
		if err != nil {
			return
		}
		c.mu.Lock()
		c.out.Write(p)
		c.mu.Unlock()
		at = start + uint64(len(p))
		select {
		case c.grew <- struct{}{}:
		default:
		}
	}
}

func (c *console) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

func (c *console) send(text string) {
	c.t.Helper()
	p := []byte(text)
	for len(p) > 0 {
		acked, err := c.Write("page", c.sent, p)
		if err != nil {
			c.t.Fatal(err)
		}
		p = p[acked-c.sent:]
		c.sent = acked
	}
}

var sequences = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\a]*\a`)

// plain is a text without what only a terminal shows.
func plain(text string) string {
	return strings.ReplaceAll(sequences.ReplaceAllString(text, ""), "\r", "")
}

// expect waits until a pattern appears in what came since the last call, and returns what came.
func (c *console) expect(pattern string) string {
	c.t.Helper()
	re := regexp.MustCompile(`(?s)` + regexp.QuoteMeta(pattern))
	return c.match(re)
}

func (c *console) match(re *regexp.Regexp) string {
	c.t.Helper()
	deadline := time.After(time.Minute)
	for {
		c.mu.Lock()
		raw := c.out.String()
		if loc := re.FindStringIndex(plain(raw)); loc != nil {
			text := plain(raw)
			c.out.Reset()
			c.mu.Unlock()
			return text
		}
		c.mu.Unlock()
		select {
		case <-c.grew:
		case <-deadline:
			c.t.Fatalf("no %q in %q", re, plain(raw))
		}
	}
}

// raw is expect without taking out what only a terminal shows.
func (c *console) raw(text string) string {
	c.t.Helper()
	for raw := c.text(); ; raw = c.text() {
		if strings.Contains(raw, text) {
			return raw
		}
		select {
		case <-c.grew:
		case <-time.After(20 * time.Second):
			c.t.Fatalf("no %q in %q", text, raw)
		}
	}
}

// run enters a command and returns its output.
func (c *console) run(command string) string {
	c.t.Helper()
	c.mu.Lock()
	c.out.Reset()
	c.mu.Unlock()
	c.send(command + "\r")
	for {
		c.mu.Lock()
		raw := c.out.String()
		c.mu.Unlock()
		if _, rest, ok := strings.Cut(raw, "\x1b]133;C\a"); ok {
			if body, rest, ok := strings.Cut(rest, "\x1b]133;D"); ok && strings.Contains(rest, "\x1b]133;A") {
				return plain(body)
			}
		}
		select {
		case <-c.grew:
		case <-time.After(20 * time.Second):
			c.t.Fatalf("%s does not end: %q", command, plain(raw))
		}
	}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	c := open(t, newOptions(t))
	if got := c.run("echo hello"); got != "hello\n" {
		t.Errorf("got %q", got)
	}
	c.send("sleep 100\r")
	c.busy()
	if c.Title() != "sleep 100" {
		t.Errorf("title %q", c.Title())
	}
	c.send("\x03")
	c.idle()
	if got := c.run("echo $?"); got != "130\n" {
		t.Errorf("got %q", got)
	}
	if c.Title() != "~" {
		t.Errorf("title %q", c.Title())
	}
	c.send("exit 3\r")
	<-c.Done()
	if _, _, err := c.Read(t.Context(), 1<<40, 1); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
	if _, err := c.Write("page", 0, []byte("x")); err != ErrClosed {
		t.Errorf("after the end: %v", err)
	}
	if _, err := os.Stat(c.runtime.dir); !os.IsNotExist(err) {
		t.Errorf("the shell's folder is left: %v", err)
	}
}

// busy and idle wait until a command runs, and until none does.
func (c *console) busy() { c.until(true) }
func (c *console) idle() { c.until(false) }

func (c *console) until(busy bool) {
	c.t.Helper()
	deadline := time.After(20 * time.Second)
	for c.Busy() != busy {
		select {
		case <-c.grew:
		case <-deadline:
			c.t.Fatalf("busy is not %v: %q", busy, plain(c.text()))
		}
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	long := make([]string, 200)
	for i := range long {
		long[i] = fmt.Sprintf("echo line %d >> pasted # with some text that makes the line as long as a real one", i)
	}
	for name, test := range map[string]func(t *testing.T, c *console){
		"here-document": func(t *testing.T, c *console) {
			c.send("cat <<EOF\r")
			c.expect("> ")
			c.send("one\rtwo\r")
			if got := c.run("EOF"); got != "one\ntwo\n" {
				t.Errorf("got %q", got)
			}
		},
		"open quote": func(t *testing.T, c *console) {
			c.send("echo 'a\r")
			if got := c.run("b'"); got != "a\nb\n" {
				t.Errorf("got %q", got)
			}
		},
		"loop over lines": func(t *testing.T, c *console) {
			c.send("for i in 1 2\rdo\recho $i\r")
			if got := c.run("done"); got != "1\n2\n" {
				t.Errorf("got %q", got)
			}
		},
		"bracketed paste of 200 lines": func(t *testing.T, c *console) {
			c.send("\x1b[200~" + strings.Join(long, "\r\n") + "\x1b[201~")
			c.run("")
			if got := c.run("wc -l < pasted; sort -u pasted | wc -l; tail -1 pasted"); got != "200\n200\nline 199\n" {
				t.Errorf("got %q", got)
			}
		},
		"200 lines typed at once": func(t *testing.T, c *console) {
			c.send(strings.Join(long, "\r") + "\r")
			c.send("echo fin''ished\r")
			c.expect("finished\n")
			c.idle()
			if got := c.run("sort -u pasted | wc -l; tail -1 pasted"); got != "200\nline 199\n" {
				t.Errorf("got %q", got)
			}
		},
		"background jobs": func(t *testing.T, c *console) {
			if got := c.run("sleep 100 &"); got != "[1] 1001\n" {
				t.Errorf("got %q", got)
			}
			if got := c.run("jobs"); !strings.Contains(got, "Running") {
				t.Errorf("got %q", got)
			}
			c.send("\x03") // at the prompt: not for the job
			c.expect("$ ")
			if got := c.run("kill %1; wait; jobs"); !strings.Contains(got, "Terminated") {
				t.Errorf("got %q", got)
			}
			if got := c.run("sleep 0.01 & wait; sleep 100 & echo started"); !strings.Contains(got, "started") {
				t.Errorf("got %q", got)
			}
			c.send("fg\r")
			c.expect("fg\nsleep 100\n")
			c.send("\x03")
			c.idle()
			if got := c.run("jobs"); got != "" {
				t.Errorf("got %q", got)
			}
		},
		"output of a job at the prompt": func(t *testing.T, c *console) {
			c.run("{ until test -e go; do sleep 0.01; done; printf 'one\\ntwo'; printf 'half\\n'; } &")
			c.send("echo typed")
			c.expect("typed")
			if err := os.WriteFile(filepath.Join(c.runtime.home, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := c.raw("half"); !strings.Contains(got, "\rone\r\ntwo") && !strings.Contains(got, "one\r\r\ntwo") {
				t.Errorf("lines do not start in the first column: %q", got)
			}
			c.send(" on\r")
			if got := c.expect("\ntyped on\n"); strings.Count(got, "$ echo typed") == 0 {
				t.Errorf("the prompt is not drawn again: %q", got)
			}
		},
		"end of input": func(t *testing.T, c *console) {
			c.send("cat\r")
			c.busy()
			c.send("typed\r")
			c.expect("typed\ntyped\n")
			c.send("\x04")
			c.idle()
			c.send("\x04")
			<-c.Done()
		},
		"size": func(t *testing.T, c *console) {
			if err := c.Resize(101, 33); err != nil {
				t.Fatal(err)
			}
			c.run("mkdir d; for i in 1 2 3; do touch d/" + strings.Repeat("x", 45) + "$i; done")
			if got := c.run("ls d"); strings.Count(got, "\n") != 2 {
				t.Errorf("in 101 columns: %q", got)
			}
			c.Resize(60, 20)
			if got := c.run("ls d"); strings.Count(got, "\n") != 3 {
				t.Errorf("in 60 columns: %q", got)
			}
		},
		"history": func(t *testing.T, c *console) {
			c.run("echo first")
			c.run("echo second")
			if got := c.run("\x1b[A\x1b[A"); got != "first\n" {
				t.Errorf("up: %q", got)
			}
			if got := c.run("\x12seco"); got != "second\n" {
				t.Errorf("search: %q", got)
			}
			if got := c.run("history | tail -2"); !strings.Contains(got, "echo second") {
				t.Errorf("got %q", got)
			}
		},
		"completion": func(t *testing.T, c *console) {
			c.run("mkdir folder; touch folder/manifest.yaml 'folder/a b'")
			if got := c.run("ls fo\tman\t"); got != "folder/manifest.yaml\n" {
				t.Errorf("file: %q", got)
			}
			if got := c.run("ls folder/a\t"); got != "folder/a b\n" {
				t.Errorf("file with a blank: %q", got)
			}
			if got := c.run("hostn\t"); got != "apilab\n" {
				t.Errorf("command: %q", got)
			}
		},
		"a memory hog": func(t *testing.T, c *console) {
			if got := c.run("x=$(yes)"); !strings.Contains(got, "memory") {
				t.Errorf("got %q", got)
			}
			if got := c.run("echo $?"); got != "137\n" {
				t.Errorf("got %q", got)
			}
		},
		"a fork bomb": func(t *testing.T, c *console) {
			c.send(":(){ :|:& };:\r")
			c.expect("stopped:")
			if got := c.run("wait; echo alive"); !strings.Contains(got, "alive") {
				t.Errorf("got %q", got)
			}
		},
		"endless output": func(t *testing.T, c *console) {
			c.send("yes\r")
			c.busy()
			c.expect("y\ny\n")
			c.send("\x03")
			c.idle()
			if got := c.run("echo $?"); got != "130\n" {
				t.Errorf("got %q", got)
			}
		},
		"read from the terminal": func(t *testing.T, c *console) {
			c.send("read -p 'name? ' x; echo \"got $x\"\r")
			c.expect("\nname? ")
			c.send("me\r")
			c.expect("got me\n")
		},
		"loops without commands stop": func(t *testing.T, c *console) {
			c.send("for ((;;)); do a=b; done\r")
			c.busy()
			c.send("\x03")
			c.idle()
		},
		"pager": func(t *testing.T, c *console) {
			c.send("seq 1000 | less\r")
			c.expect("lines 1-23/1000")
			c.send(" G")
			c.expect("1000\n")
			c.send("q")
			c.idle()
		},
		"watch": func(t *testing.T, c *console) {
			c.send("watch -n 1 echo seen\r")
			c.expect("Every 1.0s")
			c.send("\x03")
			c.idle()
			if raw := c.text(); !strings.Contains(raw, "\x1b[?1049l") {
				t.Errorf("the other screen is left on: %q", raw)
			}
		},
		"interrupted substitution": func(t *testing.T, c *console) {
			c.send("x=$(sleep 100)\r")
			c.busy()
			c.send("\x03")
			c.idle()
			if text := plain(c.text()); strings.Contains(text, "cancel") {
				t.Errorf("got %q", text)
			}
		},
		"cancelled line": func(t *testing.T, c *console) {
			c.send("echo no\x03")
			c.expect("^C")
			if got := c.run("echo $?"); got != "130\n" {
				t.Errorf("got %q", got)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t, newOptions(t)))
		})
	}
}

func TestCrash(t *testing.T) {
	t.Parallel()
	c := open(t, newOptions(t))
	c.run("echo kept > f; x=1")
	c.mu.Lock()
	c.out.Reset()
	c.mu.Unlock()
	if err := c.proc.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.expect("the shell was killed")
	c.expect("$ ")
	if got := c.run("cat f; echo \"[$x]\""); got != "kept\n[]\n" {
		t.Errorf("got %q", got)
	}
}

func TestMemoryBombs(t *testing.T) { // alone: it takes the machine's memory and time from the others
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		a := fmt.Sprintf("*a%d", i)
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Join([]string{a, a, a, a, a, a, a, a, a, a}, ","))
	}
	c := open(t, newOptions(t))
	if err := os.WriteFile(filepath.Join(c.runtime.home, "bomb.yaml"), []byte(bomb), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{`awk 'BEGIN{s="a";while(1)s=s s}'`, "yq -o=json . bomb.yaml"} {
		c.send(command + "\r")
		text := c.match(regexp.MustCompile(`(?s)memory.*\$ |aliasing.*\$ `))
		if strings.Contains(text, "goroutine") || strings.Contains(text, "runtime.") {
			t.Errorf("%s: a trace is shown: %q", command, text)
		}
		c.idle()
		if got := c.run("echo alive"); got != "alive\n" {
			t.Errorf("%s: got %q", command, got)
		}
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	c := open(t, newOptions(t))
	c.send("trap '' HUP; sleep 1000 & yes > /dev/null\r")
	c.busy()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", c.proc.cmd.Process.Pid)); err == nil {
		t.Error("the shell still runs")
	}
}

func TestKubectlInTerminal(t *testing.T) {
	t.Parallel()
	o, server := withCluster(t)
	edits := make(chan Edit, 1)
	o.OnEdit = func(_ context.Context, e Edit) (bool, string, error) {
		edits <- e
		return true, strings.ReplaceAll(e.Text, "k: v", "k: w"), nil
	}
	c := open(t, o)
	if got := c.run("kubectl get ns -o name"); got != "namespace/alpha\nnamespace/beta\n" {
		t.Errorf("got %q", got)
	}

	// Ctrl-C ends a watch, and the process with it.
	c.send("kubectl get pods -w\r")
	c.expect("p3 ")
	c.send("\x03")
	c.idle()
	for server.watches.Load() > 0 {
		<-time.After(5 * time.Millisecond)
	}
	if got := c.run("kubectl get ns -o name | head -1"); got != "namespace/alpha\n" {
		t.Errorf("got %q", got)
	}

	// A job in the background keeps running through Ctrl-C.
	c.run("kubectl get pods -w > watched &")
	c.send("\x03")
	c.expect("$ ")
	for !strings.Contains(c.run("cat watched"), "p4 ") {
	}
	c.run("kill %1; wait")
	for server.watches.Load() > 0 {
		<-time.After(5 * time.Millisecond)
	}

	// A proxy on the learner's own localhost.
	c.run("kubectl proxy --port=8001 > log & sleep 0.1; while ! grep -q 8001 log; do sleep 0.02; done")
	if got := c.run("curl -s localhost:8001/version | jq -r .gitVersion; cat log"); got != "v1.37.2\nStarting to serve on 127.0.0.1:8001\n" {
		t.Errorf("got %q", got)
	}
	if got := c.run("curl -sN 'localhost:8001/api/v1/namespaces/default/pods?watch=1' | head -2 | jq -r .object.metadata.name"); got != "p0\np1\n" {
		t.Errorf("got %q", got)
	}
	if got := c.run("kubectl proxy --port=8001"); !strings.Contains(got, "address already in use") {
		t.Errorf("got %q", got)
	}
	if got := c.run("kubectl --server http://localhost:8001 get ns -o name"); got != "namespace/alpha\nnamespace/beta\n" {
		t.Errorf("got %q", got)
	}
	c.run("kill %1; wait")
	if got := c.run("curl -sS localhost:8001"); !strings.Contains(got, "Connection refused") {
		t.Errorf("got %q", got)
	}

	if got := c.run("kubectl edit cm there --validate=ignore"); !strings.Contains(got, "configmap/there edited") {
		t.Errorf("got %q", got)
	}
	if e := <-edits; !strings.Contains(e.Text, "k: v") || e.Language != "yaml" || !strings.HasPrefix(e.Name, "kubectl-edit-") {
		t.Errorf("edit %+v", e)
	}
	c.run("printf 'k: v\\n' > m.yaml; nano m.yaml")
	<-edits
	if got := c.run("cat m.yaml"); got != "k: w\n" {
		t.Errorf("got %q", got)
	}
	if got := c.run("kubectl apply --validate=ignore -f - <<EOF\rapiVersion: v1\rkind: ConfigMap\rmetadata: {name: new}\rEOF"); !strings.Contains(got, "created") {
		t.Errorf("got %q", got)
	}

	// Tab asks kubectl, which asks the server.
	if got := c.run("kubectl get ns al\t-o name"); got != "namespace/alpha\n" && !strings.Contains(got, "alpha") {
		t.Errorf("got %q", got)
	}
	if got := c.run("kubectl get names\t-o name"); !strings.Contains(got, "namespace/beta") {
		t.Errorf("got %q", got)
	}
}

func TestTwoTerminals(t *testing.T) {
	t.Parallel()
	o, _ := withCluster(t)
	one, two := open(t, o), open(t, o)
	one.send("kubectl proxy --port=8001\r")
	one.expect("Starting to serve")
	if got := two.run("curl -s localhost:8001/version | jq -r .minor"); got != "37\n" {
		t.Errorf("got %q", got)
	}
	other, _ := withCluster(t)
	if got := open(t, other).run("curl -sS localhost:8001/version"); !strings.Contains(got, "Connection refused") {
		t.Errorf("another learner: %q", got)
	}
	one.send("\x03")
	one.idle()
}

// The prompt comes back as the editor has ended, not only kubectl, and nothing is said.
func TestInterruptedEdit(t *testing.T) {
	t.Parallel()
	o, _ := withCluster(t)
	edits := make(chan struct{})
	o.OnEdit = func(ctx context.Context, _ Edit) (bool, string, error) {
		edits <- struct{}{}
		<-ctx.Done()
		return false, "", nil
	}
	c := open(t, o)
	for range 3 {
		c.run("true")
		c.send("kubectl edit cm there --validate=ignore\r")
		<-edits
		c.send("\x03")
		c.idle()
		left := editors(o.Home)
		c.send("echo aft''er\r")
		if text := c.expect("\nafter\n"); strings.Contains(text, "cancel") {
			t.Errorf("got %q", text)
		}
		if left > 0 {
			t.Errorf("%d editors still run at the prompt", left)
		}
	}
}

// editors counts those of a home, where there is /proc.
func editors(home string) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		words, _ := os.ReadFile(p + "/cmdline")
		env, _ := os.ReadFile(p + "/environ")
		if strings.HasPrefix(string(words), "editor\x00") && strings.Contains(string(env), "HOME="+home+"\x00") {
			n++
		}
	}
	return n
}
