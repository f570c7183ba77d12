// Package server is what a browser talks to: the pages, the websocket, and the sign-in. It joins the other rooms per
// learner (package hub), and knows nothing of how any of them works inside.
package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/gateway"
	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/store"
)

// localLearner is the one learner of a server on a laptop.
const localLearner = "local"

// Options for New. Zero values are defaults where there is one.
type Options struct {
	DataDir  string            // absolute; made if absent, mode 0700
	Backends []cluster.Backend // kinds of clusters, at least one; learners begin with the first
	Clusters cluster.Options   // how they are looked after; Choices, Ports and Logger are the server's own
	// Listen is the pages' address, on loopback. Its port 0 is any free one. Default: 127.0.0.1:0.
	Listen string
	// GatewayPort is the port of the API gateway; 0: that of last time, else 6443, else any free one.
	GatewayPort int
	// ContentDir has the folders content and exercises, which replace the built-in ones and are loaded again when they
	// change. Empty: the built-in ones.
	ContentDir string
	// NodeLogs is the folder where backends keep the logs of nodes that did not start, each in a folder that is named
	// after the cluster and the time: ID-20060102-150405. Empty: they keep none.
	NodeLogs   string
	Preview    bool         // pages load themselves again when the content changes, for its author
	HostShell  bool         // terminals run the learner's own $SHELL, not closed in
	Executable string       // this program; default: os.Executable
	Version    string       // of apilab
	Logger     *slog.Logger // default: none
}

// A Server serves the pages of one machine's learners, and their gateway.
type Server struct {
	o        Options
	log      *slog.Logger
	listener net.Listener
	http     *http.Server

	store    *store.Store
	local    store.Learner
	library  *shelf
	renderer *assets.Renderer
	assets   http.Handler
	clusters *cluster.Manager
	gateway  *gateway.Gateway
	address  gateway.Address // at which learners' own machines find it; zero: this machine's

	shell shellStarter

	cookie string // its name, of this data folder: browsers share cookies among the ports of a machine

	live   context.Context // ends when the server begins to stop: pages are told to go
	goAway context.CancelFunc
	pages  sync.WaitGroup // open websockets

	collecting sync.Mutex // held while logs of nodes are collected

	mu   sync.Mutex
	open map[string]int // websockets by learner
	hubs map[string]*hub.Hub
}

// New opens the data folder, the content and both listeners, so that the addresses are known and every mistake is told
// before anything starts. Serve, once, does the rest. Who does not call Serve calls Close.
func New(o Options) (_ *Server, err error) {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Executable == "" {
		if o.Executable, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find this program's file: %w", err)
		}
	}
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	s := &Server{o: o, log: o.Logger, open: make(map[string]int), hubs: make(map[string]*hub.Hub)}
	s.shell = s.startShell
	s.live, s.goAway = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			s.Close()
		}
	}()

	if s.renderer, err = assets.Open(); err != nil {
		return nil, err
	}
	s.assets = s.renderer.Files()
	if s.library, err = openShelf(o.ContentDir, s.log); err != nil {
		return nil, err
	}
	ctx := context.Background()
	if s.store, err = store.Open(ctx, filepath.Join(o.DataDir, "apilab.db")); err != nil {
		return nil, err
	}
	if s.local, err = s.store.EnsureLearner(ctx, localLearner, "You"); err != nil {
		return nil, err
	}
	instance, err := s.store.Instance(ctx)
	if err != nil {
		return nil, err
	}
	s.cookie = "apilab-session-" + instance
	if s.listener, err = listen(o.Listen); err != nil {
		return nil, err
	}
	o.Clusters.Choices, o.Clusters.Ports, o.Clusters.Logger = s.store, s.portsDir, s.log
	s.clusters = cluster.NewManager(o.Backends, o.Clusters)
	s.gateway, err = gateway.New(gateway.Options{
		Dir: filepath.Join(o.DataDir, "gateway"), Clusters: s.clusters, Port: o.GatewayPort, Default: localLearner,
		Generation: s.tokenGeneration, Logger: s.log})
	if err != nil {
		return nil, err
	}
	s.http = &http.Server{
		Handler:           s.routes(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// listen takes the pages' address. As long as there is but one learner, nothing beyond this machine is served.
func listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w", address, err)
	}
	if host == "" || !isLoopback(address) {
		return nil, fmt.Errorf("the address %q is not on this machine's loopback; use one such as 127.0.0.1:8080", address)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w; choose another port, or 0 for any free one", err)
	}
	return listener, nil
}

// Addr is the address that pages are served on, such as "127.0.0.1:8080".
func (s *Server) Addr() string { return s.listener.Addr().String() }

// GatewayAddr is the address of the learners' API server as their kubectl sees it.
func (s *Server) GatewayAddr() string { return s.gateway.Addr() }

// SignInURL returns a new link that signs the local learner's browser in: once, within ten minutes.
func (s *Server) SignInURL() (string, error) {
	code, err := s.store.NewSignInCode(context.Background(), localLearner, codeTime)
	if err != nil {
		return "", err
	}
	link := url.URL{Scheme: "http", Host: s.Addr(), Path: "/signin/" + code}
	return link.String(), nil
}

// Kubeconfig returns the file with which the local learner's own kubectl reaches their cluster.
func (s *Server) Kubeconfig() ([]byte, error) { return s.ownKubeconfig(context.Background(), localLearner) }

// page begins every page.
func (s *Server) page(c echo.Context, title string) assets.Page {
	p := assets.NewPage(c.Request(), title)
	p.Version = s.o.Version
	p.Learner = learnerOf(c).Name
	return p
}

// html answers with a page that is rendered whole before its first byte is sent, so that a mistake in it still can
// become an error page.
func (s *Server) html(c echo.Context, code int, render func(*bytes.Buffer) error) error {
	var body bytes.Buffer
	if err := render(&body); err != nil {
		return err
	}
	return c.HTMLBlob(code, body.Bytes())
}

// Close frees what New took, for a server that is not served.
func (s *Server) Close() error {
	s.goAway()
	var errs []error
	if s.library != nil {
		errs = append(errs, s.library.Close())
	}
	if s.gateway != nil {
		errs = append(errs, s.gateway.Close())
	}
	if s.clusters != nil {
		errs = append(errs, s.clusters.Close(context.Background()))
	}
	if s.listener != nil {
		errs = append(errs, s.listener.Close())
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	return errors.Join(errs...)
}

func newRequestID() string { return rand.Text()[:8] }
