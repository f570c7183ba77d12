package kind

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// What the API server of a node is told about its connections to webhooks by URL, as those at localhost are. To it,
// localhost is its node; the learner's is here. Connections to nodes, pods and services go as they always do.
const (
	egressConfigFile = "egress.yaml"
	egressSocket     = "egress.sock"
	egressConfig     = `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: controlplane
  connection:
    proxyProtocol: HTTPConnect
    transport: {uds: {udsName: ` + mountPoint + `/` + egressSocket + `}}
`
)

// An egress answers an API server's wish to be connected. It listens on a unix socket in the folder that the nodes share
// with us, and knows only the learner's own listeners.
type egress struct {
	ports    string // folder of sockets, see cluster.Spec
	listener net.Listener
	path     string
	open     sync.WaitGroup
	end      context.CancelFunc
	life     context.Context
}

func startEgress(path, ports string) (*egress, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	address, done, err := shortPath(path)
	if err != nil {
		return nil, err
	}
	defer done()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false) // it would look for the address
	e := &egress{ports: ports, listener: listener, path: path}
	e.life, e.end = context.WithCancel(context.Background())
	e.open.Go(e.serve)
	return e, nil
}

// close ends all connections.
func (e *egress) close() {
	e.end()
	e.listener.Close()
	os.Remove(e.path)
	e.open.Wait()
}

func (e *egress) serve() {
	for {
		conn, err := e.listener.Accept()
		if err != nil {
			return
		}
		e.open.Go(func() {
			defer conn.Close()
			defer context.AfterFunc(e.life, func() { conn.Close() })()
			e.connect(conn)
		})
	}
}

// connect serves one CONNECT request. The reason of a refusal is its status, which ends up in the learner's error message.
func (e *egress) connect(conn net.Conn) {
	sent := bufio.NewReader(conn)
	request, err := http.ReadRequest(sent)
	if err != nil {
		return
	}
	target, err := e.dial(e.life, request.Method, request.Host)
	if err != nil {
		fmt.Fprintf(conn, "HTTP/1.1 502 %v\r\nContent-Length: 0\r\n\r\n", err)
		return
	}
	defer target.Close()
	defer context.AfterFunc(e.life, func() { target.Close() })()
	if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(target, sent)
		closeWrite(target)
	}()
	_, _ = io.Copy(conn, target)
	closeWrite(conn)
	<-ended
}

func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

func (e *egress) dial(ctx context.Context, method, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	switch {
	case method != http.MethodConnect:
		return nil, errors.New("this is for CONNECT alone")
	case err != nil:
		return nil, err
	case !loopback(host):
		return nil, fmt.Errorf("%s is not reachable by URL: the API server connects to what you run on localhost, or by a Service", address)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, fmt.Errorf("port %q of %s is not a number", port, host)
	}
	refused := fmt.Errorf("connection refused: nothing of yours listens on localhost:%s", port)
	if e.ports == "" {
		return nil, refused
	}
	short, done, err := shortPath(filepath.Join(e.ports, port+".sock"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, refused
	} else if err != nil {
		return nil, err
	}
	defer done()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", short)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, refused
	}
	return conn, err
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// shortest is what the address of a unix socket holds on every system, in bytes.
const shortest = 103

// shortPath returns a path of a socket that is short enough for its address: on Linux, where it is needed, through a
// descriptor of its folder.
func shortPath(path string) (short string, done func(), err error) {
	if len(path) <= shortest {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { dir.Close() }, nil
}
