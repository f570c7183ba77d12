package controlplane

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/apilab/apilab/cluster/embedded/pki"
)

const kubeletPort = 10250

// simulated is all that the stub kubelet says.
const simulated = "the pods of this cluster are simulated: no container runs, so there are no logs and nothing to exec into or forward to. For real containers, switch to a kind cluster in the cluster menu."

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
// Who wanted a stream gets a Status: clients try to read one, as YAML too, and would take the sentence, which has a colon,
// for a Status without a message.
func answerSimulated(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") == "" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, simulated)
		return
	}
	status := apierrors.NewBadRequest(simulated).Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(status) // fails only where nobody listens any more
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
