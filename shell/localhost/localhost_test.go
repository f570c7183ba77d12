package localhost

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestPorts(t *testing.T) {
	t.Parallel()
	p := New(t.TempDir())
	if _, err := p.Dial(t.Context(), 8001); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nobody listens: %v", err)
	}
	l, err := p.Listen(8001)
	if err != nil {
		t.Fatal(err)
	}
	if l.Addr().String() != "127.0.0.1:8001" {
		t.Errorf("address %s", l.Addr())
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(c, "hello")
			c.Close()
		}
	}()
	c, err := p.Dial(t.Context(), 8001)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(c); string(b) != "hello" {
		t.Errorf("got %q", b)
	}
	if _, err := p.Listen(8001); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a second listener: %v", err)
	}
	l.Close()
	if l, err = p.Listen(8001); err != nil {
		t.Errorf("after closing: %v", err)
	} else {
		l.Close()
	}
	for _, port := range []int{-1, 65536} {
		if _, err := p.Listen(port); err == nil {
			t.Errorf("listens on %d", port)
		}
	}
	any, err := p.Listen(0)
	if err != nil || any.Addr().(*net.TCPAddr).Port == 0 {
		t.Errorf("any port: %v", err)
	} else {
		any.Close()
	}
}

// The socket of a killed process is no listener, a symlink is nobody's socket.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := New(dir)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "8001.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := p.Dial(context.Background(), 8001); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial: %v", err)
	}
	again, err := p.Listen(8001)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := os.Symlink(filepath.Join(dir, "8001.sock"), filepath.Join(dir, "9.sock")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Dial(context.Background(), 9); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial of a symlink: %v", err)
	}
}

func TestIs(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST.": true, "a.localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "[::1]": true, "0.0.0.0": true, "::ffff:127.0.0.1": true,
		"localhost.example.com": false, "10.0.0.1": false, "example.com": false, "": false, "169.254.169.254": false,
	} {
		if got := Is(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}
