package gateway

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// keyPair is a client certificate that anybody could have made.
func (b *bench) keyPair(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

func open(t *testing.T, o Options) *Gateway {
	t.Helper()
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

func TestKubeconfigStaysRightOverRestarts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "gateway")
	first := open(t, Options{Dir: dir})
	before, err := first.OwnKubeconfig(t.Context(), "local", Address{})
	if err != nil {
		t.Fatal(err)
	}
	_ = first.Close()
	after, err := open(t, Options{Dir: dir}).OwnKubeconfig(t.Context(), "local", Address{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", entry.Name(), info.Mode(), err)
		}
	}
}

func TestPortOfLastTimeIsTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := open(t, Options{Dir: dir}) // keeps its port
	var log bytes.Buffer
	second := open(t, Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if first.Addr() == second.Addr() {
		t.Fatal("two listeners on one port")
	}
	if !strings.Contains(log.String(), "apilab kubeconfig") {
		t.Errorf("the log says %q", log.String())
	}
	port := first.listener.Addr().(*net.TCPAddr).Port
	if _, err := New(Options{Dir: dir, Port: port}); !errors.Is(err, ErrPortBusy) {
		t.Errorf("a port asked for that is taken: %v", err)
	}
}

func TestDamagedState(t *testing.T) {
	t.Parallel()
	for file, fatal := range map[string]bool{authorityFile: true, tokenKeyFile: true, portFile: false} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_ = open(t, Options{Dir: dir}).Close()
			path := filepath.Join(dir, file)
			if err := os.WriteFile(path, []byte("damaged"), 0o600); err != nil {
				t.Fatal(err)
			}
			g, err := New(Options{Dir: dir})
			if !fatal {
				if err != nil {
					t.Fatal(err)
				}
				_ = g.Close()
			} else if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "remove the file") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestServingCertificateIsRenewed(t *testing.T) {
	t.Parallel()
	a, err := loadAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	first, err := a.certificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := a.certificate(nil); again != first {
		t.Error("it is made anew for each connection")
	}
	a.now = func() time.Time { return time.Now().Add(servingLife - renewBefore + time.Minute) }
	second, err := a.certificate(nil)
	if err != nil || second == first || !second.Leaf.NotAfter.After(first.Leaf.NotAfter) {
		t.Fatalf("not renewed: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.pem)
	for _, name := range []string{"127.0.0.1", "::1", "localhost", "local-0123456789abcdef.apilab.internal"} {
		if _, err := second.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: a.now()}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
