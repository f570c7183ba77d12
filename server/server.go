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
	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/gateway"
	"github.com/apilab/apilab/server/classroom"
	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/store"
	"github.com/apilab/apilab/shell"
)

// localLearner is the one learner of a server on a laptop.
const localLearner = "local"

// Options for New. Zero values are defaults where there is one.
type Options struct {
	DataDir  string            // absolute; made if absent, mode 0700
	Backends []cluster.Backend // kinds of clusters, at least one; learners begin with the first
	Clusters cluster.Options   // how they are looked after; Choices, Ports and Logger are the server's own
	// Listen is the pages' address, on loopback unless Public is set. Its port 0 is any free one. Default: 127.0.0.1:0.
	Listen string
	Public *Public // nil: for one learner on this machine
	// GatewayPort is the port of the API gateway; 0: that of last time, else 6443, else any free one.
	GatewayPort int
	// ContentDir has the folders content and exercises, which replace the built-in ones and are loaded again when they
	// change. Empty: the built-in ones.
	ContentDir string
	// NodeLogs is the folder where backends keep the logs of nodes that did not start, each in a folder that is named
	// after the cluster and the time: ID-20060102-150405. Empty: they keep none.
	NodeLogs   string
	Preview    bool   // pages load themselves again when the content changes, for its author
	HostShell  bool   // terminals run the learner's own $SHELL, not closed in
	Executable string // this program; default: os.Executable
	Version    string // of apilab
	// CommandFlags are what commands that ask this server need after their names, such as " --data-dir DIR".
	CommandFlags string
	Logger       *slog.Logger // default: none
}

// A Server serves the pages of one machine's learners, and their gateway.
type Server struct {
	o        Options
	log      *slog.Logger
	listener net.Listener
	http     *http.Server

	store    *store.Store
	local    store.Learner // who is not there on a server of classes
	newAdmin bool          // the first admin was made by New
	library  *shelf
	renderer *assets.Renderer
	assets   http.Handler
	clusters *cluster.Manager
	rooms    *classroom.Rooms // of the classes that instructors watch
	gateway  *gateway.Gateway

	shell shellStarter
	judge func(learner store.Learner, platform *rest.Config) hub.Session // judges exercises on a cluster

	cookie   string // its name
	attempts *attempts

	live   context.Context // ends when the server begins to stop: pages are told to go
	goAway context.CancelFunc
	pages  sync.WaitGroup // open websockets

	collecting sync.Mutex     // held while logs of nodes are collected
	removals   sync.WaitGroup // of what removed learners had
	clearing   sync.Mutex     // held by one of them at a time

	mu     sync.Mutex
	visits map[*visit]bool
	hubs   map[string]*hub.Hub
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
	s := &Server{o: o, log: o.Logger, attempts: newAttempts(), visits: make(map[*visit]bool), hubs: make(map[string]*hub.Hub)}
	s.shell, s.judge = s.startShell, s.startSession
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
	fallback := localLearner
	if s.isPublic() {
		fallback = ""
		_, s.newAdmin, err = s.store.EnsureAdmin(ctx, "Admin")
	} else {
		s.local, err = s.store.EnsureLearner(ctx, localLearner, "You")
	}
	if err != nil {
		return nil, err
	}
	s.rooms = classroom.NewRooms(s.store, s.lessons, s.reportHub, s.log)
	instance, err := s.store.Instance(ctx)
	if err != nil {
		return nil, err
	}
	s.cookie = s.cookieName(instance)
	if s.listener, err = listen(o.Listen, s.isPublic()); err != nil {
		return nil, err
	}
	if s.isPublic() && o.Public.URL.Port() == "0" { // any free one, which is known now
		_, port, _ := net.SplitHostPort(s.Addr())
		o.Public.URL.Host = net.JoinHostPort(o.Public.URL.Hostname(), port)
	}
	o.Clusters.Choices, o.Clusters.Ports, o.Clusters.Logger = s.store, s.portsDir, s.log
	s.clusters = cluster.NewManager(o.Backends, o.Clusters)
	s.gateway, err = gateway.New(gateway.Options{
		Dir: filepath.Join(o.DataDir, "gateway"), Clusters: s.clusters, Port: o.GatewayPort, Default: fallback,
		Generation: s.tokenGeneration, Logger: s.log})
	if err != nil {
		return nil, err
	}
	if s.isPublic() {
		if err := s.checkConfined(ctx, shell.Confined); err != nil {
			return nil, err
		}
	}
	s.http = &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	if s.isPublic() {
		s.http.TLSConfig = o.Public.TLS
	}
	return s, nil
}

// listen takes the pages' address. As long as there is but one learner, nothing beyond this machine is served.
func listen(address string, public bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w", address, err)
	}
	if !public && (host == "" || !isLoopback(address)) {
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

// PublicURL is the address by which people reach a server of classes, without a final slash.
func (s *Server) PublicURL() string { return s.o.Public.origin() }

// GatewayAddr is the address of the learners' API server as their kubectl sees it.
func (s *Server) GatewayAddr() string { return s.gateway.Addr() }

// SignInURL returns a new link that signs the local learner's browser in, or an admin's on a server of classes: once,
// within ten minutes.
func (s *Server) SignInURL() (string, error) {
	ctx := context.Background()
	if s.isPublic() {
		admin, _, err := s.store.EnsureAdmin(ctx, "Admin")
		if err != nil {
			return "", err
		}
		return s.signInLink(ctx, admin.ID, codeTime)
	}
	code, err := s.store.NewSignInCode(ctx, localLearner, codeTime)
	if err != nil {
		return "", err
	}
	link := url.URL{Scheme: "http", Host: s.Addr(), Path: "/signin/" + code}
	return link.String(), nil
}

// HasNewAdmin tells whether New has made the first admin, whom somebody has to let in.
func (s *Server) HasNewAdmin() bool { return s.newAdmin }

// signInLink returns a link that signs somebody in on a server of classes, once.
func (s *Server) signInLink(ctx context.Context, id string, lasts time.Duration) (string, error) {
	code, err := s.store.NewSignInCode(ctx, id, lasts)
	if err != nil {
		return "", err
	}
	return s.o.Public.link("/signin/" + code), nil
}

// Kubeconfig returns the file with which the local learner's own kubectl reaches their cluster.
func (s *Server) Kubeconfig() ([]byte, error) {
	if s.isPublic() {
		return nil, errOfClasses
	}
	return s.ownKubeconfig(context.Background(), localLearner)
}

// page begins every page.
func (s *Server) page(c echo.Context, title string) assets.Page {
	p := assets.NewPage(c.Request(), title)
	p.Version = s.o.Version
	who := learnerOf(c)
	p.Learner = who.Name
	if s.isPublic() && who.ID != "" {
		p.Account = &assets.Account{Name: who.Name, Teaches: who.Role.CanTeach(), Admin: who.Role == store.RoleAdmin}
	}
	return p
}

// plainPage begins a page that shows nothing of a cluster.
func (s *Server) plainPage(c echo.Context, title string) assets.Page {
	p := s.page(c, title)
	p.Learner = ""
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
