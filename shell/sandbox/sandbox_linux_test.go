package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain: a sandbox cannot be left, so it is entered in a process of its own.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TEST_SANDBOX"); dir != "" {
		inside(dir, os.Getenv("TEST_PORT"))
		return
	}
	os.Exit(m.Run())
}

// inside tries things, and prints what works.
func inside(dir, port string) {
	var p int
	fmt.Sscan(port, &p)
	exe, _ := os.Executable()
	report, err := Enter(Settings{Home: filepath.Join(dir, "home"), Ports: filepath.Join(dir, "ports"), Pipes: filepath.Join(dir, "pipes"), Programs: []string{exe}, TCPPort: p, FileSize: 1 << 20})
	fmt.Println("landlock:", report.Landlock, err)
	try := func(what string, do func() error) {
		if do() == nil {
			fmt.Println(what)
		}
	}
	try("read home", func() error { _, err := os.ReadFile(filepath.Join(dir, "home", "f")); return err })
	try("write home", func() error { return os.WriteFile(filepath.Join(dir, "home", "g"), nil, 0o600) })
	try("move home", func() error {
		os.Mkdir(filepath.Join(dir, "home", "d"), 0o700)
		return os.Rename(filepath.Join(dir, "home", "g"), filepath.Join(dir, "home", "d", "g"))
	})
	try("read outside", func() error { _, err := os.ReadFile(filepath.Join(dir, "secret")); return err })
	try("read /etc/passwd", func() error { _, err := os.ReadFile("/etc/passwd"); return err })
	try("list /", func() error { _, err := os.ReadDir("/"); return err })
	try("read /proc/self/environ", func() error { _, err := os.ReadFile("/proc/self/environ"); return err })
	try("write outside", func() error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o600) })
	try("run a program", func() error { return exec.Command("/bin/true").Run() })
	try("run from home", func() error { return exec.Command(filepath.Join(dir, "home", "p")).Run() })
	try("pipe", func() error { return syscall.Mkfifo(filepath.Join(dir, "pipes", "p"), 0o600) })
	try("listen on a socket", func() error {
		l, err := net.Listen("unix", filepath.Join(dir, "ports", "1.sock"))
		if err == nil {
			l.Close()
		}
		return err
	})
	try("listen on TCP", func() error {
		var c net.ListenConfig
		c.SetMultipathTCP(false) // which the kernel does not restrict; nothing here listens on TCP
		_, err := c.Listen(context.Background(), "tcp", "127.0.0.1:0")
		return err
	})
	try("dial the gateway", func() error { _, err := net.Dial("tcp", "127.0.0.1:"+port); return err })
	try("dial another port", func() error { _, err := net.Dial("tcp", "127.0.0.1:"+os.Getenv("TEST_OTHER")); return err })
	try("null", func() error { return os.WriteFile("/dev/null", []byte("x"), 0) })
	try("run itself", func() error {
		again := exec.Command(exe, "-test.run", "XXX")
		again.Env = []string{"PATH="}
		return again.Run()
	})
}

func TestEnter(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("/var/tmp", "apilab-sandbox-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	for _, d := range []string{"home", "ports", "pipes"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"home/f": 0o600, "home/p": 0o700, "secret": 0o644} {
		if err := os.WriteFile(filepath.Join(base, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	port := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		_, p, _ := net.SplitHostPort(l.Addr().String())
		return p
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "TEST_SANDBOX="+base, "TEST_PORT="+port(), "TEST_OTHER="+port())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := string(out)
	if strings.HasPrefix(got, "landlock: false <nil>\n") {
		t.Skip("this kernel has no Landlock")
	}
	want := "landlock: true <nil>\nread home\nwrite home\nmove home\npipe\nlisten on a socket\ndial the gateway\nnull\nrun itself\n"
	if got != want {
		t.Errorf("works inside:\n%s\nwant:\n%s", got, want)
	}
}
