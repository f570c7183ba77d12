package control

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apilab/apilab/cluster"
)

type instance struct {
	err    error
	loaded []string
}

func (i *instance) SignInURL() (string, error) {
	return "http://127.0.0.1:1/signin/x", i.err
}
func (i *instance) Kubeconfig() ([]byte, error) {
	return []byte("kind: Config\n"), i.err
}
func (i *instance) Images() (cluster.Images, error)          { return i, i.err }
func (i *instance) Platform(context.Context) (string, error) { return "linux/arm64", nil }
func (i *instance) LoadImages(_ context.Context, archive string) error {
	i.loaded = append(i.loaded, archive)
	if archive == "" {
		return errors.New("the node's disk is full")
	}
	return nil
}

// serve returns when the instance answers.
func serve(t *testing.T, dir string, i Instance) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, dir, i) }()
	for { // the socket is there, and connected to, before it is listened to: there is nothing to wait on
		if _, err := SignInURL(t.Context(), dir); !errors.Is(err, ErrNotRunning) {
			break
		}
		select {
		case err := <-served:
			t.Fatal(err)
		case <-time.After(time.Millisecond):
		}
	}
	return func() error { cancel(); return <-served }
}

func TestCalls(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{
		"short path": t.TempDir(),
		"long path":  filepath.Join(t.TempDir(), strings.Repeat("long", 40)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			stop := serve(t, dir, &instance{})
			if url, err := SignInURL(t.Context(), dir); url != "http://127.0.0.1:1/signin/x" || err != nil {
				t.Errorf("SignInURL: %q, %v", url, err)
			}
			if text, err := Kubeconfig(t.Context(), dir); string(text) != "kind: Config\n" || err != nil {
				t.Errorf("Kubeconfig: %q, %v", text, err)
			}
			if err := stop(); err != nil {
				t.Errorf("Serve: %v", err)
			}
			if entries, _ := os.ReadDir(dir); len(entries) != 0 {
				t.Errorf("left behind: %v", entries)
			}
			if _, err := SignInURL(t.Context(), dir); !errors.Is(err, ErrNotRunning) {
				t.Errorf("when it stopped: %v", err)
			}
		})
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	i := &instance{}
	stop := serve(t, dir, i)
	if platform, err := Platform(t.Context(), dir); platform != "linux/arm64" || err != nil {
		t.Errorf("Platform: %q, %v", platform, err)
	}
	if err := LoadImages(t.Context(), dir, "/tmp/image.tar"); err != nil {
		t.Errorf("LoadImages: %v", err)
	}
	if err := LoadImages(t.Context(), dir, ""); err == nil || !strings.HasSuffix(err.Error(), "the node's disk is full") {
		t.Errorf("LoadImages that fails: %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if want := []string{"/tmp/image.tar", ""}; !slices.Equal(i.loaded, want) {
		t.Errorf("loaded %q, want %q", i.loaded, want)
	}
	if err := LoadImages(t.Context(), dir, "/tmp/image.tar"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("when it stopped: %v", err)
	}
}

func TestRefusalIsPassedOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stop := serve(t, dir, &instance{err: errors.New("no learner yet")})
	if _, err := Kubeconfig(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "no learner yet") {
		t.Errorf("error %v", err)
	}
	if err := LoadImages(t.Context(), dir, "/tmp/image.tar"); err == nil || !strings.Contains(err.Error(), "no learner yet") {
		t.Errorf("error %v", err)
	}
	_ = stop()
}

func TestSocketOfACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, socketName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := SignInURL(t.Context(), dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("nobody listens: %v", err)
	}
	_ = serve(t, dir, &instance{})()
}
