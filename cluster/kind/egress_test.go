package kind

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEgress(t *testing.T) {
	t.Parallel()
	ports := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(ports, "8443.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				all, _ := io.ReadAll(conn)
				fmt.Fprintf(conn, "you said %s", all)
			}()
		}
	}()
	// Longer than the address of a socket may be.
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, egressSocket)
	e, err := startEgress(path, ports)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()

	for address, want := range map[string]string{
		"localhost:8443":              "200 OK",
		"127.0.0.1:8443":              "200 OK",
		"[::1]:8443":                  "200 OK",
		"localhost:9999":              "nothing of yours listens on localhost:9999",
		"localhost:../../x":           "is not a number",
		"10.0.0.1:8443":               "is not reachable by URL",
		"metadata.google.internal:80": "is not reachable by URL",
	} {
		conn, answer := ask(t, path, "CONNECT "+address+" HTTP/1.1\r\nHost: "+address+"\r\n\r\n")
		if response, err := http.ReadResponse(answer, nil); err != nil && !strings.Contains(want, "number") {
			t.Errorf("%s: %v", address, err)
		} else if err == nil && !strings.Contains(response.Status, want) {
			t.Errorf("%s: %s", address, response.Status)
		} else if want == "200 OK" {
			io.WriteString(conn, "hello")
			conn.CloseWrite()
			if heard, _ := io.ReadAll(answer); string(heard) != "you said hello" {
				t.Errorf("%s: heard %q", address, heard)
			}
		}
		conn.Close()
	}
}

func ask(t *testing.T, path, request string) (*net.UnixConn, *bufio.Reader) {
	t.Helper()
	short, done, err := shortPath(path)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(conn, request)
	return conn, bufio.NewReader(conn)
}
