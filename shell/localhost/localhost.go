// Package localhost gives each learner a localhost of their own: what listens on localhost:PORT in a learner's shell is
// a unix socket PORT.sock in the learner's folder, and what dials localhost:PORT there dials that socket. It knows nothing
// of what is served.
package localhost

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Ports is one learner's localhost.
type Ports struct {
	dir string // short enough for a socket's path
}

// New uses the folder dir, whose path leaves room for "/65535.sock" in the 104 bytes that a unix socket's path may have.
func New(dir string) *Ports { return &Ports{dir: dir} }

// Is reports whether host names the learner's own machine.
func Is(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified())
}

func (p *Ports) path(port int) string {
	return filepath.Join(p.dir, strconv.Itoa(port)+".sock")
}

// Dial connects to a port; nobody listening is ECONNREFUSED.
func (p *Ports) Dial(ctx context.Context, port int) (net.Conn, error) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: addr(port), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	// A socket that is a symlink could be another learner's.
	if fi, err := os.Lstat(p.path(port)); err != nil || fi.Mode()&os.ModeSocket == 0 {
		return nil, refused
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", p.path(port))
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist) {
			return nil, refused
		}
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: addr(port), Err: errors.Unwrap(err)}
	}
	return conn, nil
}

// Listen takes a port, 0 for any free one. One that is taken is EADDRINUSE; a socket whose process has ended is not taken.
func (p *Ports) Listen(port int) (net.Listener, error) {
	if port == 0 {
		for port = 32768; port < 61000; port++ {
			if l, err := p.listen(port); err == nil {
				return l, nil
			}
		}
		return nil, fmt.Errorf("no free port")
	}
	if port < 1 || port > 65535 {
		return nil, &net.AddrError{Err: "invalid port", Addr: strconv.Itoa(port)}
	}
	return p.listen(port)
}

func (p *Ports) listen(port int) (net.Listener, error) {
	name := p.path(port)
	if conn, err := net.Dial("unix", name); err == nil {
		conn.Close()
		return nil, inUse(port)
	} else if errors.Is(err, syscall.ECONNREFUSED) {
		os.Remove(name) // its process was killed
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, inUse(port)
		}
		return nil, fmt.Errorf("listen on port %d: %w", port, err)
	}
	return &listener{l, port}, nil
}

func inUse(port int) error {
	return &net.OpError{Op: "listen", Net: "tcp", Addr: addr(port), Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
}

func addr(port int) net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}
}

// listener says that it is a TCP port.
type listener struct {
	net.Listener
	port int
}

func (l *listener) Addr() net.Addr { return addr(l.port) }
