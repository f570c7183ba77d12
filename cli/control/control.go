// Package control is how the other apilab commands talk to the instance that runs on a data directory: HTTP over a unix
// socket in that directory, which only its owner can open. It knows nothing of what the instance does.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/apilab/apilab/cluster"
)

const socketName = "control.sock"

// ErrNotRunning says that no instance listens in the data directory.
var ErrNotRunning = errors.New("apilab is not running on this data directory: start it with `apilab`")

// An Instance is what a running apilab answers for; a *server.Server is one.
type Instance interface {
	SignInURL() (string, error)  // an address that signs the local learner in, once
	Kubeconfig() ([]byte, error) // the file for the local learner's own kubectl
	// Images are those of the nodes of the local learner's cluster; the error says why there are none, and what to do.
	Images() (cluster.Images, error)
}

type signIn struct {
	URL string `json:"url"`
}

type nodes struct {
	Platform string `json:"platform"`
}

type load struct {
	Archive string `json:"archive"` // absolute
}

// Serve answers for the instance until ctx ends. The caller holds the data directory, so a socket that is there already was
// left by a crash.
func Serve(ctx context.Context, dir string, instance Instance) error {
	path := filepath.Join(dir, socketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the control socket of an earlier run: %w", err)
	}
	var listener net.Listener
	err := withShortPath(dir, func(short string) (err error) {
		listener, err = net.Listen("unix", filepath.Join(short, socketName))
		return err
	})
	if err != nil {
		return fmt.Errorf("open the control socket: %w", err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) // it knows the short path alone
	defer os.Remove(path)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /signin", func(w http.ResponseWriter, _ *http.Request) {
		url, err := instance.SignInURL()
		answer(w, err, func() { _ = json.NewEncoder(w).Encode(signIn{url}) })
	})
	mux.HandleFunc("GET /kubeconfig", func(w http.ResponseWriter, _ *http.Request) {
		text, err := instance.Kubeconfig()
		answer(w, err, func() { _, _ = w.Write(text) })
	})
	mux.HandleFunc("GET /nodes", func(w http.ResponseWriter, r *http.Request) {
		images, err := instance.Images()
		var platform string
		if err == nil {
			platform, err = images.Platform(r.Context())
		}
		answer(w, err, func() { _ = json.NewEncoder(w).Encode(nodes{platform}) })
	})
	mux.HandleFunc("POST /images", func(w http.ResponseWriter, r *http.Request) {
		var l load
		err := json.NewDecoder(r.Body).Decode(&l)
		var images cluster.Images
		if err == nil {
			images, err = instance.Images()
		}
		if err == nil {
			err = images.LoadImages(r.Context(), l.Archive)
		}
		answer(w, err, func() {})
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the control socket: %w", err)
	}
	return nil
}

func answer(w http.ResponseWriter, err error, write func()) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write()
}

// SignInURL asks the instance on a data directory for an address that signs in, once.
func SignInURL(ctx context.Context, dir string) (url string, err error) {
	body, err := call(ctx, dir, http.MethodPost, "/signin", nil, callTimeout)
	if err != nil {
		return "", err
	}
	var s signIn
	if err := json.Unmarshal(body, &s); err != nil {
		return "", fmt.Errorf("understand the running apilab: %w", err)
	}
	return s.URL, nil
}

// Kubeconfig asks the instance on a data directory for the local learner's kubeconfig.
func Kubeconfig(ctx context.Context, dir string) ([]byte, error) {
	return call(ctx, dir, http.MethodGet, "/kubeconfig", nil, callTimeout)
}

// Platform asks the instance on a data directory what the nodes of the local learner's cluster run programs of.
func Platform(ctx context.Context, dir string) (string, error) {
	body, err := call(ctx, dir, http.MethodGet, "/nodes", nil, callTimeout)
	if err != nil {
		return "", err
	}
	var n nodes
	if err := json.Unmarshal(body, &n); err != nil {
		return "", fmt.Errorf("understand the running apilab: %w", err)
	}
	return n.Platform, nil
}

// LoadImages has the instance on a data directory put the images of an archive onto the nodes of the local learner's cluster.
func LoadImages(ctx context.Context, dir, archive string) error {
	body, err := json.Marshal(load{archive})
	if err != nil {
		return err
	}
	_, err = call(ctx, dir, http.MethodPost, "/images", body, loadTimeout)
	return err
}

const (
	callTimeout = 10 * time.Second
	loadTimeout = 10 * time.Minute // an image of gigabytes, onto several nodes
	maxAnswer   = 1 << 20
)

func call(ctx context.Context, dir, method, path string, body []byte, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (conn net.Conn, err error) {
			err = withShortPath(dir, func(short string) (err error) {
				conn, err = new(net.Dialer).DialContext(ctx, "unix", filepath.Join(short, socketName))
				return err
			})
			return conn, err
		},
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://apilab"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := (&http.Client{Transport: transport}).Do(r)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, ErrNotRunning
	case err != nil:
		return nil, fmt.Errorf("ask the running apilab: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("ask the running apilab: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the running apilab says: %s", bytes.TrimSpace(text))
	}
	return text, nil
}
