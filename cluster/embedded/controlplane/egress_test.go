package controlplane

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEgress(t *testing.T) {
	t.Parallel()
	ports := filepath.Join(t.TempDir(), strings.Repeat("a-folder-with-a-long-name-", 8)) // longer than a socket's address may be
	if err := os.Mkdir(ports, 0o700); err != nil {
		t.Fatal(err)
	}
	listenAt(t, ports, "8443.sock", "own")
	host, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	kubelet := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	defer kubelet.Close()
	go serveWord(kubelet, "kubelet")

	e := &egress{ports: ports, kubelet: kubelet}
	for _, c := range []struct{ address, reaches, refused string }{
		{"localhost:8443", "own", ""},
		{"127.0.0.1:8443", "own", ""},
		{"127.9.9.9:8443", "own", ""},
		{"[::1]:8443", "own", ""},
		{"localhost:8444", "", "nothing of yours listens on localhost:8444"},
		{host.Addr().String(), "", "nothing of yours listens"},
		{"172.18.0.11:10250", "kubelet", ""},
		{"172.18.0.11:80", "", "not reachable"},
		{"10.96.0.10:443", "", "not reachable"},
		{"169.254.169.254:80", "", "not reachable"},
		{"example.com:443", "", "not reachable"},
		{"0.0.0.0:8443", "", "not reachable"},
		{"[::ffff:127.0.0.1]:8443", "own", ""},
		{"localhost:../8443", "", "not a number"},
		{"localhost:99999", "", "not a number"},
		{"localhost", "", "missing port"},
	} {
		conn, err := e.dial(t.Context(), "tcp", c.address)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v, want %q", c.address, err, c.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.address, err)
			continue
		}
		word, err := io.ReadAll(conn)
		conn.Close()
		if string(word) != c.reaches || err != nil {
			t.Errorf("%s reaches %q, %v, want %q", c.address, word, err, c.reaches)
		}
	}

	none := &egress{kubelet: kubelet}
	if _, err := none.dial(context.Background(), "tcp", "localhost:8443"); err == nil {
		t.Error("a learner without ports reached something")
	}
}

// listenAt listens on a socket of any path length.
func listenAt(t *testing.T, dir, name, word string) {
	t.Helper()
	short, err := os.MkdirTemp("/tmp", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	if err := os.Symlink(dir, filepath.Join(short, "d")); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(short, "d", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go serveWord(l, word)
}

func serveWord(l net.Listener, word string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		io.WriteString(conn, word)
		conn.Close()
	}
}
