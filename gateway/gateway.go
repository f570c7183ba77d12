// Package gateway is the recording reverse proxy between a learner's clients and their API server. It authenticates
// the learner's token, forwards with the learner's identity, streams without buffering, and keeps a bounded ring of what
// passed. It knows nothing of lessons, checks or browsers, and the platform's own requests do not pass through it.
package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"sync"
	"time"

	"github.com/apilab/apilab/cluster"
)

const (
	// defaultWait covers a start from nothing and the healing of a control plane on a slow machine, and is still
	// short enough for someone who waits at a prompt.
	defaultWait = 10 * time.Second
	// drainTime is what requests under way get to finish when the gateway stops. Watches never finish by themselves.
	drainTime = time.Second
	// readHeaderTimeout bounds how long a client may take over its request line and headers.
	readHeaderTimeout = 30 * time.Second
	idleTimeout       = 2 * time.Minute
)

// Clusters is what the gateway needs to know of the learners' clusters; a *cluster.Manager is one. A learner's cluster
// has the learner's ID.
type Clusters interface {
	Get(id string) (cluster.Cluster, bool)                         // ready ones
	Claim(ctx context.Context, id string) (cluster.Cluster, error) // starts it if it is down, and waits until it is ready
	Status(id string) cluster.Status
	Use(id string) (release func()) // while it is in use it is not put to rest
}

// Options for New.
type Options struct {
	Dir      string   // folder of the gateway's own state: CA, token key, port; made if absent
	Clusters Clusters // where requests go
	Port     int      // 0: the port of last time, else 6443, else any free one
	// Default is the learner whose cluster judges a service account's token that comes without a TLS server name, as
	// from `curl -k https://127.0.0.1:6443`. Empty, where there is more than one learner: none.
	Default string
	// Generation is asked which generation of a learner's own tokens is valid; all others are revoked. Its error is
	// a Denied where the learner may not reach their cluster. Nil: 0 for everybody.
	Generation func(ctx context.Context, learner string) (int, error)
	Wait       time.Duration // how long a request waits for a cluster that is about to be ready; 0: 10 s
	Logger     *slog.Logger  // nil: none
}

// A Gateway serves all learners on one loopback listener, and at a public address beside the pages (Beside).
type Gateway struct {
	clusters   Clusters
	fallback   string // learner of Options.Default
	generation func(ctx context.Context, learner string) (int, error)
	wait       time.Duration
	log        *slog.Logger

	listener net.Listener
	ca       *authority
	tokens   tokenKey
	buffers  httputil.BufferPool
	crowd    crowd

	mu        sync.Mutex
	recorders map[string]*Recorder
	upstreams map[string]*upstream
	underway  map[*underway]bool
}

// AnyPort lets the system choose the port, for a gateway that nobody comes back to.
const AnyPort = -1

// New opens the listener on 127.0.0.1, so that Addr and Kubeconfig are right before Serve. A port that was asked for and
// is taken is an error that wraps ErrPortBusy.
func New(o Options) (*Gateway, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Wait == 0 {
		o.Wait = defaultWait
	}
	if o.Generation == nil {
		o.Generation = func(context.Context, string) (int, error) { return 0, nil }
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the gateway's folder: %w", err)
	}
	ca, err := loadAuthority(o.Dir)
	if err != nil {
		return nil, err
	}
	tokens, err := loadTokenKey(o.Dir)
	if err != nil {
		return nil, err
	}
	listener, err := listen(o.Dir, o.Port, o.Logger)
	if err != nil {
		return nil, err
	}
	return &Gateway{
		clusters:   o.Clusters,
		fallback:   o.Default,
		generation: o.Generation,
		wait:       o.Wait,
		log:        o.Logger,
		listener:   listener,
		ca:         ca,
		tokens:     tokens,
		buffers:    newBuffers(),
		recorders:  map[string]*Recorder{},
		upstreams:  map[string]*upstream{},
		underway:   map[*underway]bool{},
	}, nil
}

// Addr is the address that the gateway listens on, such as "127.0.0.1:6443".
func (g *Gateway) Addr() string { return g.listener.Addr().String() }

// CA is the certificate, in PEM, that clients verify the gateway with.
func (g *Gateway) CA() []byte { return g.ca.pem }

// Recorder keeps a learner's requests. It is made at the first call and lives as long as the gateway.
func (g *Gateway) Recorder(learner string) *Recorder {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, ok := g.recorders[learner]
	if !ok {
		r = newRecorder(defaultLimits)
		g.recorders[learner] = r
	}
	return r
}

// Serve answers requests until ctx ends, then gives those under way a second to finish, cuts the rest and returns nil.
// It serves once.
func (g *Gateway) Serve(ctx context.Context) error {
	requests, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(errStopped)
	server := g.server(g)
	server.BaseContext = func(net.Listener) context.Context { return requests }
	failed := make(chan error, 1)
	go func() { failed <- server.ServeTLS(g.listener, "", "") }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve the gateway: %w", err)
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(requests, drainTime)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		cut(errStopped) // also ends upgraded connections, which the server no longer knows of
		_ = server.Close()
	}
	g.closeUpstreams()
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the gateway: %w", err)
	}
	return nil
}

func (g *Gateway) server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		// A client that does not trust the CA, or a port scanner, is not worth a warning.
		ErrorLog: slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
		TLSConfig: &tls.Config{
			MinVersion:     tls.VersionTLS12,
			GetCertificate: g.ca.certificate,
		},
	}
}

// Close frees the port of a gateway that is not served.
func (g *Gateway) Close() error { return g.listener.Close() }
