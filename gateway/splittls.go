package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// handshake is the first byte of a TLS connection: a record of type handshake (RFC 8446, section 5.1). No HTTP request
// begins with it.
const handshake = 0x16

const (
	sortTime    = 10 * time.Second // for the first byte of a connection
	acceptPause = 100 * time.Millisecond
)

// SplitTLS parts the connections to one port, by their first byte: TLS for ServeTLS, all others for pages in plain HTTP.
// Closing either closes both.
func SplitTLS(port net.Listener) (plain, secure net.Listener) {
	s := &parted{Listener: port, closed: make(chan struct{})}
	p, t := &half{parted: s, conns: make(chan net.Conn)}, &half{parted: s, conns: make(chan net.Conn)}
	go s.accept(p.conns, t.conns)
	return p, t
}

// ServeTLS answers TLS clients of a port that SplitTLS parted, with the certificate of the gateway's own CA, until ctx ends;
// then it lets requests end for a second, cuts the rest, and returns nil.
func (g *Gateway) ServeTLS(ctx context.Context, secure net.Listener, handler http.Handler) error {
	server := g.server(handler)
	failed := make(chan error, 1)
	go func() { failed <- server.ServeTLS(secure, "", "") }()
	select {
	case err := <-failed:
		if !errors.Is(err, net.ErrClosed) { // the pages closed their half
			return fmt.Errorf("serve the gateway on the pages' port: %w", err)
		}
		<-ctx.Done()
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if server.Shutdown(drain) != nil {
		_ = server.Close()
	}
	return nil
}

type parted struct {
	net.Listener
	once   sync.Once
	closed chan struct{}
	err    error // of Accept; set before closed is
}

func (s *parted) Close() error {
	err := s.Listener.Close()
	s.end(net.ErrClosed)
	return err
}

func (s *parted) end(err error) {
	s.once.Do(func() {
		s.err = err
		close(s.closed)
	})
}

func (s *parted) accept(plain, secure chan<- net.Conn) {
	for {
		conn, err := s.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			s.end(err)
			return
		}
		if err != nil { // such as too many open files: it passes
			select {
			case <-time.After(acceptPause):
				continue
			case <-s.closed:
				return
			}
		}
		go s.sort(conn, plain, secure)
	}
}

// sort waits for a connection's first byte.
func (s *parted) sort(conn net.Conn, plain, secure chan<- net.Conn) {
	_ = conn.SetReadDeadline(time.Now().Add(sortTime))
	peeked := &peekedConn{conn, bufio.NewReaderSize(conn, 16)}
	first, err := peeked.reader.Peek(1)
	if err != nil {
		_ = conn.Close()
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	to := plain
	if first[0] == handshake {
		to = secure
	}
	select {
	case to <- peeked:
	case <-s.closed:
		_ = conn.Close()
	}
}

// A half is one kind of connections.
type half struct {
	*parted
	conns chan net.Conn
}

func (h *half) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.closed:
		return nil, h.err
	}
}

// A peekedConn is read from its first byte on again.
type peekedConn struct {
	net.Conn
	reader *bufio.Reader
}

func (c *peekedConn) Read(p []byte) (int, error) { return c.reader.Read(p) }
