package streams

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apilab/apilab/gateway"
)

// web writes a line each second, crashes when it is told to, and serves its own files.
const web = `
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: web
    image: %s
    imagePullPolicy: IfNotPresent
    command: [sh, -c, 'echo "start of $HOSTNAME"; mkdir /www; echo hello >/www/index.html; httpd -p 8080 -h /www; while [ ! -e /crash ]; do echo tick; sleep 1; done; echo crashed; exit 3']
---
apiVersion: v1
kind: Pod
metadata: {name: echo}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: echo, image: %[1]s, imagePullPolicy: IfNotPresent, command: [sh], stdin: true, tty: true}
`

func TestStreams(t *testing.T) {
	l := newLab(t)
	if err := os.MkdirAll(l.options.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.options.Home, "web.yaml"), fmt.Appendf(nil, web, image), 0o600); err != nil {
		t.Fatal(err)
	}
	l.script(t, `until kubectl get serviceaccount default >/dev/null 2>&1; do sleep 1; done
kubectl apply -f web.yaml && kubectl wait --for=condition=Ready pod/web pod/echo --timeout=2m`)
	for _, c := range []struct {
		name string
		test func(*testing.T, *lab)
	}{
		{"exec", testExec}, {"exec on a terminal", testExecTerminal}, {"attach", testAttach}, {"logs", testLogs}, {"cp", testCopy},
		{"port-forward", testPortForward}, {"debug", testDebug}, {"run", testRun}, {"top", testTop}, {"host", testHost},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, l) })
	}
}

func testExec(t *testing.T, l *lab) {
	if got := l.script(t, `kubectl exec web -- cat /www/index.html`); got != "hello\n" {
		t.Errorf("cat prints %q", got)
	}
	if got := l.script(t, `seq 1 20000 | kubectl exec -i web -- cat | tail -1`); got != "20000\n" {
		t.Errorf("the last of 20000 lines that came back is %q", got)
	}
	if got := l.script(t, `kubectl exec web -- sh -c 'exit 7' 2>/dev/null || echo $?`); got != "7\n" {
		t.Errorf("the exit code is %q", got)
	}
	l.recorded(t, "exec", func(r gateway.Record) bool {
		return r.Done && r.Verb == "get" && r.Status.Code == 101 && r.Query.Get("command") == "cat" && r.Name == "web"
	})
}

func testExecTerminal(t *testing.T, l *lab) {
	c := l.open(t)
	c.send("kubectl exec -it web -- sh\r")
	c.expect(`# $`)
	c.send("stty size\r")
	c.expect(`\n24 80\n`)
	if err := c.Resize(132, 43); err != nil {
		t.Fatal(err)
	}
	for range 20 { // the new size arrives when it does
		c.send("stty size\r")
		if got := c.expect(`\n\d+ \d+\n`); strings.Contains(got, "43 132") {
			break
		}
	}
	c.send("stty size\r")
	c.expect(`\n43 132\n`)
	c.send("sh -c 'echo asleep; sleep 1000'\r")
	c.expect(`\nasleep\n`)
	c.send("\x03")
	c.expect(`# $`)
	c.send("echo still here; exit 5\r")
	c.expect(`still here`)
	c.expect(`command terminated with exit code 5\n(?s:.*)\$ $`)
	// The terminal is the shell's again, and Ctrl-C ends what reads from it.
	c.send("echo reading; cat\r")
	c.expect(`\nreading\n`)
	c.send("typed\r")
	c.expect(`typed\n.*typed`)
	c.send("\x03")
	c.expect(`\$ `)
	c.run("true")
}

func testAttach(t *testing.T, l *lab) {
	c := l.open(t)
	c.send("kubectl attach -it echo\r")
	c.expect(`If you don't see`)
	c.send("\r")
	c.expect(`# $`)
	c.send("echo at$((40+2))\r")
	c.expect(`at42`)
	c.send("\x10\x11") // Ctrl-P Ctrl-Q leaves it running
	c.send("\x03")
	c.expect(`\$ $`)
	if got := l.script(t, `kubectl get pod echo -o jsonpath='{.status.containerStatuses[0].restartCount}'`); got != "0" {
		t.Errorf("attach ended the container: %s restarts", got)
	}
	l.recorded(t, "attach", func(r gateway.Record) bool { return r.Status.Code == 101 })
}

func testLogs(t *testing.T, l *lab) {
	if got := l.script(t, `kubectl logs web | head -1`); got != "start of web\n" {
		t.Errorf("the first line is %q", got)
	}
	if got := l.script(t, `kubectl logs -f web | head -6 | tail -1`); got != "tick\n" {
		t.Errorf("a followed line is %q", got)
	}
	if got := l.script(t, `kubectl exec web -- touch /crash
until kubectl logs --previous web 2>/dev/null; do sleep 1; done | tail -1
kubectl wait --for=jsonpath='{.status.containerStatuses[0].restartCount}'=1 pod/web --timeout=1m >/dev/null
kubectl wait --for=condition=Ready pod/web --timeout=1m >/dev/null`); got != "crashed\n" {
		t.Errorf("the last line of the container before is %q", got)
	}
	l.recorded(t, "log", func(r gateway.Record) bool { return r.Query.Get("previous") == "true" && r.Status.Code == 200 })
	l.recorded(t, "log", func(r gateway.Record) bool { return r.Query.Get("follow") == "true" && r.Done })
	c := l.open(t)
	c.send("kubectl logs -f web --tail=1\r")
	c.expect(`tick\n`)
	c.expect(`tick\n`)
	c.send("\x03")
	c.expect(`\$ `)
}

func testCopy(t *testing.T, l *lab) {
	l.script(t, `mkdir -p site/sub; seq 1 5000 >site/sub/numbers; echo a >site/a; kubectl cp site web:/www`)
	if got := l.script(t, `kubectl exec web -- tail -1 /www/site/sub/numbers`); got != "5000\n" {
		t.Errorf("the copy ends in %q", got)
	}
	if got := l.script(t, `kubectl cp web:/www/site back && diff -r site back && cat back/a`); !strings.HasSuffix(got, "a\n") {
		t.Errorf("the way back: %q", got)
	}
	if got := l.script(t, `kubectl cp web:/www/index.html /tmp/index.html && cat /tmp/index.html`); !strings.HasSuffix(got, "hello\n") {
		t.Errorf("one file: %q", got)
	}
	for _, words := range []string{`web:/etc/passwd /etc/passwd`, `web:/www ../../../etc/x`, `/etc/hostname web:/tmp/x`} {
		if got := l.script(t, `kubectl cp `+words+` 2>&1 && echo copied || true`); strings.Contains(got, "copied") {
			t.Errorf("kubectl cp %s: %q", words, got)
		}
	}
}

func testPortForward(t *testing.T, l *lab) {
	if got := l.script(t, `kubectl port-forward pod/web 8080 >forwarded &
until curl -s localhost:8080; do sleep 1; done
curl -s localhost:8080/index.html
kill %1`); got != "hello\nhello\n" {
		t.Errorf("curl prints %q", got)
	}
	if got := l.script(t, `cat forwarded`); !strings.HasPrefix(got, "Forwarding from 127.0.0.1:8080 -> 8080\n") {
		t.Errorf("port-forward prints %q", got)
	}
	// A port where nobody listens is said, and does not end it.
	if got := l.script(t, `kubectl port-forward pod/web 9000:9 8081:8080 >/dev/null 2>errors &
until curl -s localhost:8081 >/dev/null; do sleep 1; done
curl -s localhost:9000
curl -s localhost:8081
kill %1`); got != "hello\n" {
		t.Errorf("after a refused connection curl prints %q", got)
	}
	if got := l.script(t, `cat errors`); !strings.Contains(got, "an error occurred forwarding to port 9") {
		t.Errorf("a refused connection is said as %q", got)
	}
	l.recorded(t, "portforward", func(r gateway.Record) bool { return r.Done && r.Status.Code == 101 })
}

func testDebug(t *testing.T, l *lab) {
	c := l.open(t)
	c.send("kubectl debug web -it --image=" + image + " --target=web -- sh\r")
	c.expect(`# $`)
	c.send("ps | grep -c httpd\r")
	c.expect(`\n[1-9]\d*\n`) // the target's processes are seen
	c.send("exit\r")
	c.expect(`\$ $`)
	if got := l.script(t, `kubectl get pod web -o jsonpath='{.spec.ephemeralContainers[*].targetContainerName}'`); got != "web" {
		t.Errorf("ephemeral containers aim at %q", got)
	}
	node := l.script(t, `kubectl get nodes -o jsonpath='{.items[0].metadata.name}'`)
	c.send("kubectl debug node/" + node + " -it --image=" + image + " -- chroot /host sh\r")
	c.expect(`# $`)
	c.send("cat /etc/hostname; exit\r")
	c.expect(`\n` + node)
	c.expect(`\$ $`)
	l.script(t, `kubectl delete pod -l app.kubernetes.io/managed-by=kubectl-debug --grace-period=1`)
}

func testRun(t *testing.T, l *lab) {
	c := l.open(t)
	c.send("kubectl run once -it --rm --restart=Never --image=" + image + " --image-pull-policy=IfNotPresent --command -- sh\r")
	c.expect(`# $`)
	c.send("echo got$((40+2)); exit\r")
	c.expect(`got42`)
	c.expect(`pod "once" deleted`)
	if got := l.script(t, `echo piped | kubectl run once -i --rm -q --restart=Never --image=`+image+` --image-pull-policy=IfNotPresent --command -- cat`); !strings.Contains(got, "piped") {
		t.Errorf("piped input came back as %q", got)
	}
}

func testTop(t *testing.T, l *lab) {
	if got := l.script(t, `kubectl top nodes 2>&1 || true`); !strings.Contains(got, "no metrics-server") {
		t.Errorf("top says %q", got)
	}
	node := l.script(t, `kubectl get nodes -o jsonpath='{.items[0].metadata.name}'`)
	if got := l.script(t, `kubectl get --raw /api/v1/nodes/`+node+`/proxy/stats/summary | jq -r .node.nodeName`); got != node+"\n" {
		t.Errorf("what top's message proposes prints %q", got)
	}
}

// A kubectl outside of the shell goes the same way by `apilab kubeconfig`.
func testHost(t *testing.T, l *lab) {
	if got := l.as(t, l.host, "exec", "web", "-c", "web", "--", "cat", "/www/index.html"); got != "hello\n" {
		t.Errorf("exec prints %q", got)
	}
	if got := l.as(t, l.host, "logs", "web", "-c", "web", "--tail=1"); got != "tick\n" {
		t.Errorf("logs prints %q", got)
	}
	if got := l.as(t, l.host, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"); got != "learner" {
		t.Errorf("the API server knows it as %q", got)
	}
	file := filepath.Join(t.TempDir(), "index")
	l.as(t, l.host, "cp", "web:/www/index.html", file)
	if text, err := os.ReadFile(file); err != nil || string(text) != "hello\n" {
		t.Errorf("cp left %q, %v", text, err)
	}
	// SPDY, as older clients speak it.
	t.Setenv("KUBECTL_REMOTE_COMMAND_WEBSOCKETS", "false")
	if got := l.as(t, l.host, "exec", "web", "-c", "web", "--", "cat", "/www/index.html"); got != "hello\n" {
		t.Errorf("exec by SPDY prints %q", got)
	}
	l.recorded(t, "exec", func(r gateway.Record) bool { return r.Method == "POST" && r.Verb == "create" && r.Status.Code == 101 })
}
