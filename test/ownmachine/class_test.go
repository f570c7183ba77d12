package ownmachine

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apilab/apilab/cli/bench/browser"
	"github.com/apilab/apilab/cli/bench/subject"
)

// A class is one on a server of its own.
type class struct {
	*subject.Subject
	authorities *x509.CertPool // that its browsers trust
	admin       *browser.Browser
	path        string // of its pages
	code        string // join code
}

// ways are those in which a class server is reached.
var ways = map[string]func(*testing.T) *class{
	"TLS":        overTLS,
	"plain HTTP": func(t *testing.T) *class { return newClass(t, nil) },
}

// overTLS has a certificate that an authority signed which nobody knows.
func overTLS(t *testing.T) *class {
	t.Helper()
	cert, key, authorities := newCertificate(t)
	return newClass(t, authorities, "--tls-cert", cert, "--tls-key", key)
}

var joinCode = regexp.MustCompile(`\b[A-Z0-9]{4}-[A-Z0-9]{4}\b`)

func newClass(t *testing.T, authorities *x509.CertPool, flags ...string) *class {
	t.Helper()
	dir, err := os.MkdirTemp("", "apilab-ownmachine-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := &class{Subject: start(t, dir, append([]string{"--listen", "127.0.0.1:0"}, flags...)...), authorities: authorities}
	c.open(t)
	return c
}

// start starts a class server, and tells its log where the test fails.
func start(t *testing.T, dir string, flags ...string) *subject.Subject {
	t.Helper()
	server, err := subject.Start(t.Context(), binary, dir, append([]string{"--let-learners-harm-this-host"}, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the server's log:\n%s", server.Log())
		}
		server.Stop()
	})
	return server
}

// open signs the first admin in, who makes the class.
func (c *class) open(t *testing.T) {
	t.Helper()
	c.admin = c.browser(t)
	c.post(t, c.admin, c.Link, url.Values{})
	answer := c.post(t, c.admin, "/classes", url.Values{"name": {"Room 101"}, "capacity": {"10"}})
	c.path, c.code = strings.TrimSuffix(answer.URL.Path, "/join"), joinCode.FindString(string(answer.Body))
	if c.code == "" {
		t.Fatalf("the class shows no join code:\n%s", answer.Body)
	}
}

func (c *class) browser(t *testing.T) *browser.Browser {
	t.Helper()
	b, err := browser.New(c.Base)
	if err != nil {
		t.Fatal(err)
	}
	if c.authorities != nil {
		b.Trust(c.authorities)
	}
	t.Cleanup(b.Close)
	return b
}

func (c *class) post(t *testing.T, b *browser.Browser, path string, form url.Values) browser.Answer {
	t.Helper()
	answer, err := b.Post(t.Context(), path, form)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// A learner has joined the class, and has a machine of their own.
type learner struct {
	*class
	browser    *browser.Browser
	machine    string // folder
	kubeconfig string // file
}

// join lets a learner in, and waits for their cluster, which their page says the state of: kubectl tries for a minute alone.
func (c *class) join(t *testing.T, name, machine string) *learner {
	t.Helper()
	l := &learner{class: c, browser: c.browser(t), machine: machine}
	c.post(t, l.browser, "/join", url.Values{"code": {c.code}, "name": {name}})
	l.kubeconfig = filepath.Join(l.machine, "apilab.kubeconfig")
	l.download(t)
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Second) {
		out, ok := l.try(t, "get", "--raw", "/readyz")
		if ok {
			return l
		}
		if !strings.Contains(out, "try again") || time.Now().After(deadline) {
			t.Fatalf("the cluster of %s does not start: %s", name, out)
		}
	}
}

func (l *learner) download(t *testing.T) {
	t.Helper()
	answer, err := l.browser.Get(t.Context(), "/kubeconfig")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.kubeconfig, answer.Body, 0o600); err != nil {
		t.Fatal(err)
	}
}

// command is a program on the learner's machine.
func (l *learner) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = l.machine
	cmd.Env = []string{"HOME=" + l.machine, "KUBECONFIG=" + l.kubeconfig, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// try runs kubectl, and returns what it printed and whether it succeeded.
func (l *learner) try(t *testing.T, args ...string) (output string, ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := l.command(ctx, kubectl, args...).CombinedOutput()
	return string(out), err == nil
}

// run is try of what must succeed.
func (l *learner) run(t *testing.T, args ...string) string {
	t.Helper()
	out, ok := l.try(t, args...)
	if !ok {
		t.Fatalf("kubectl %s: %s", strings.Join(args, " "), out)
	}
	return out
}

// newCertificate makes an authority and a certificate for 127.0.0.1 in files, with the authority's after it.
func newCertificate(t *testing.T) (certFile, keyFile string, authorities *x509.CertPool) {
	t.Helper()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the room's CA"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	authorityKey := newKey(t)
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		t.Fatal(err)
	}
	key := newKey(t)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "the class server"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, authority, key.Public(), authorityKey)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	authorityPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authorityDER})
	chain := bytes.Join([][]byte{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leafDER}), authorityPEM}, nil)
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, text := range map[string][]byte{certFile: chain, keyFile: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	authorities = x509.NewCertPool()
	authorities.AppendCertsFromPEM(authorityPEM)
	return certFile, keyFile, authorities
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
