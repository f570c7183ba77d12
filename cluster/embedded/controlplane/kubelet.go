package controlplane

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/apilab/apilab/cluster/embedded/pki"
)

const kubeletPort = 10250

// simulated is all that the stub kubelet says.
const simulated = "the pods of this cluster are simulated: no container runs, so there are no logs and nothing to exec into or forward to. Real containers need a cluster of the kind backend."

// startStubKubelet serves the kubelet API of every node on connections inside this process.
func startStubKubelet(keys pki.Dir) (*pipeListener, error) {
	cert, err := tls.LoadX509KeyPair(keys.Cert(pki.APIServer), keys.Key(pki.APIServer))
	if err != nil {
		return nil, err
	}
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{
		Handler:           http.HandlerFunc(answerSimulated),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{cert}},
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	go server.ServeTLS(l, "", "")
	return l, nil
}

// answerSimulated answers as a kubelet does that cannot. Of all codes, 400 is the one whose text kubectl prints as it is.
func answerSimulated(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusBadRequest)
	io.WriteString(w, simulated)
}

// A pipeListener accepts the connections that dial makes.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "kubelet" }
