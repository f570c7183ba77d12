package abuse

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// onHost are attempts at the machine that the server runs on, from a learner's terminal. DATA is the server's data folder,
// PID its process, PORT a port of the host that counts who comes. Each is refused with a message that contains says.
// What the shell's own tools and kubectl's flags could be made to open is attacked flag by flag in shell/escape_test.go; here is
// what a server has beside it.
var onHost = []struct{ name, script, says string }{
	{"the database", `cat DATA/apilab.db; cp DATA/apilab.db .; sqlite3 DATA/apilab.db .dump; base64 < DATA/apilab.db; ls DATA`, "No such file"},
	{"the gateway's keys", `cat DATA/gateway/*; base64 DATA/gateway/token.key; kubectl create secret generic k --from-file=DATA/gateway/token.key --dry-run=client -o yaml`, "No such file"},
	{"the cluster's keys", `find DATA/clusters; cat DATA/clusters/*/pki/*.key; kubectl create secret tls k --cert=DATA/clusters/local/pki/ca.crt --key=DATA/clusters/local/pki/ca.key --dry-run=client -o yaml`, "No such file"},
	{"etcd's data", `ls -R DATA/clusters; cat DATA/clusters/local/etcd/member/snap/db; cat DATA/clusters/local/store/member/snap/db`, "No such file"},
	{"the control socket", `curl --unix-socket DATA/control.sock http://x/kubeconfig; ln -s DATA/control.sock c; cat < DATA/control.sock; kubectl --server unix://DATA/control.sock get ns; kubectl get ns --server http+unix://DATA/control.sock`, "not available"},
	{"the way up", `cat ../../../../apilab.db ../../../apilab.db ../../apilab.db ../apilab.db; cd ../../..; cat apilab.db; ls; pwd`, "No such file"},
	{"a symlink to the data", `ln -s DATA d; ln -s ../../../ up; ls d/ up/; cat d/apilab.db up/apilab.db`, "may only lead"},
	{"other homes", `ls DATA/learners; cat DATA/learners/*/home/*; ls ../../; cat ~other/x`, "No such file"},
	{"processes", `ls /proc; cat /proc/PID/environ /proc/PID/cmdline /proc/PID/maps /proc/PID/mem; ls /proc/PID/fd /proc/PID/root; cat /proc/PID/cwd/apilab.db; cat /proc/self/status`, "No such file"},
	{"signals", `kill PID; kill -9 PID; kill -STOP PID; kill -9 -1; kill -9 0; echo alive`, "no such job"},
	{"tracing", `gdb -p PID; strace -p PID; python3 -c 1; perl -e 1; nsenter -t PID -m; unshare -r; chroot /; mount; sudo id; su`, "command not found"},
	{"the environment", `env; printenv; printenv HOST_SECRET; echo $HOST_SECRET; awk 'BEGIN{for (k in ENVIRON) print k, ENVIRON[k]}'; export -p; set; echo told`, "told"},
	{"the host's programs", `/bin/sh -c id; /usr/bin/env; (exec /usr/bin/id DATA); PATH=/bin:/usr/bin getent passwd; find / -maxdepth 1 -exec /bin/id \;`, "getent: command not found"},
	{"devices and the kernel", `cat /dev/mem /dev/vda /dev/kmsg; ls /sys /dev; cat /sys/kernel/notes; echo x > /proc/sysrq-trigger`, "No such file"},
	{"the host's ports", `curl -sS -m 5 http://127.0.0.1:PORT/; curl -sS -m 5 localhost:PORT; curl -m 5 'http://[::1]:PORT'; curl -m 5 http://0.0.0.0:PORT; curl -m 5 http://2130706433:PORT; kubectl --server http://127.0.0.1:PORT --token x get ns; nc 127.0.0.1 PORT; exec 3<>/dev/tcp/127.0.0.1/PORT; cat < /dev/tcp/127.0.0.1/PORT`, "Connection refused"},
	{"the network", `curl -m 5 http://HOSTIP:PORT/; curl -m 5 http://169.254.169.254/latest/meta-data/; curl -m 5 http://metadata.google.internal/; kubectl --server https://169.254.169.254 get ns; kubectl apply -f http://HOSTIP:PORT/x.yaml; kubectl get ns --proxy-url http://HOSTIP:PORT; HTTPS_PROXY=http://HOSTIP:PORT kubectl get ns`, "Could not resolve host"},
	{"the server's own pages", `curl -sS -m 5 URL/; curl -sS -m 5 URL/signin/x; kubectl --server URL get --raw /`, "Connection refused"},
}

func TestLearnerCannotReachTheHost(t *testing.T) {
	s := solo(t)
	p := s.local(t).page(t)
	p.ready()
	bait := newTrap(t)
	plant(t, s, "someone-else", "s3cr3t-of-another")
	secrets := s.secrets()
	paths := strings.NewReplacer("DATA", s.dir, "PID", fmt.Sprint(s.cmd.Process.Pid), "PORT", bait.port, "HOSTIP", bait.outside, "URL", s.url)
	term := p.terminal()
	for _, attack := range onHost {
		t.Run(attack.name, func(t *testing.T) {
			term.page.t = t
			script := paths.Replace(attack.script)
			out := term.run("mkdir -p ~/a && cd ~/a\n" + script + "\ncd ~; rm -rf ~/a")
			if !strings.Contains(out, attack.says) {
				t.Errorf("no %q in the output of\n%s\n%s", attack.says, script, out)
			}
			for what, secret := range secrets {
				if strings.Contains(out, secret) {
					t.Errorf("it shows %s:\n%s\n%s", what, script, out)
				}
			}
		})
	}
	term.page.t = t
	if n := bait.caught.Load(); n > 0 {
		t.Errorf("%d connections reached a port of the host", n)
	}
	t.Run("kubectl listens nowhere else", func(t *testing.T) { testListeners(t, term) })
	if s.local(t).get("/").code != 200 {
		t.Error("the server does not answer any more")
	}
}

// secrets are texts that no learner may see, each under what it is, in the forms in which they may come out.
func (s *server) secrets() map[string]string {
	s.t.Helper()
	secrets := map[string]string{
		"the server's environment": hostSecret, "another's file": "s3cr3t-of-another", "a private key": "PRIVATE KEY", "the database": "SQLite format 3",
		"the database, encoded": base64.StdEncoding.EncodeToString([]byte("SQLite format 3\x00"))[:16], "the host's users": "root:x:0", "the server's user": fmt.Sprintf("uid=%d(", os.Getuid()), "the data folder's names": "token.key\n",
	}
	keys := s.files("token.key")
	if len(keys) != 1 {
		s.t.Fatalf("there should be one token.key: %d", len(keys))
	}
	for _, key := range keys {
		secrets["the token key"], secrets["the token key, encoded"] = string(key), base64.StdEncoding.EncodeToString(key)[:40]
		secrets["the token key in hex"] = hex.EncodeToString(key)
	}
	return secrets
}

// plant lays a file with a secret into another learner's home.
func plant(t *testing.T, s *server, learner, secret string) {
	t.Helper()
	home := filepath.Join(s.dir, "learners", learner, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "x"), []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A trap is a port of the host, on all of its addresses, that counts who connects.
type trap struct {
	port    string
	outside string // an address of this machine that is not loopback's; of documentation where it has none
	caught  atomic.Int64
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	bait := &trap{outside: "192.0.2.1"}
	_, bait.port, _ = net.SplitHostPort(l.Addr().String())
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			bait.outside = ip.IP.String()
		}
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			bait.caught.Add(1)
			conn.Close()
		}
	}()
	return bait
}

// testListeners: what a learner opens to the world is open to them alone.
func testListeners(t *testing.T, term *terminal) {
	term.page.t = t
	before := listening(t)
	out := term.run(`kubectl proxy --address=0.0.0.0 --port=18001 --accept-hosts='.*' >/dev/null 2>&1 &
for i in 1 2 3 4 5 6 7 8 9 10; do curl -sf localhost:18001/version && break; sleep 1; done
nc -l 18002 2>&1; python3 -m http.server 2>&1; jobs`)
	if !strings.Contains(out, "gitVersion") {
		t.Errorf("the proxy does not answer its own learner: %s", out)
	}
	for port := range listening(t) {
		if !before[port] {
			t.Errorf("something new listens on TCP: %s", port)
		}
	}
	term.run("kill %1")
}

// listening are the TCP addresses of the machine that somebody listens on near the ports of the test, in the kernel's hex.
func listening(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			fields := strings.Fields(string(line))
			if len(fields) > 3 && fields[3] == "0A" && (strings.HasSuffix(fields[1], ":4651") || strings.HasSuffix(fields[1], ":4652")) { // 18001 and 18002
				found[fields[1]] = true
			}
		}
	}
	return found
}
