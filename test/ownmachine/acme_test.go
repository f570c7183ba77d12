package ownmachine

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apilab/apilab/cli/bench/subject"
)

const (
	// Pebble is the ACME authority that Let's Encrypt gives to those who test clients. It asks a DNS server of its own.
	pebble     = "github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.3"
	pebblesDNS = "github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv@v2.10.3"

	domain = "lab.example.org"
)

// A class server gets its certificate from an authority that has made sure of its name, and keeps it.
func TestAnAuthorityGivesTheCertificate(t *testing.T) {
	a := startAuthority(t)
	dir := t.TempDir()
	server := a.serve(t, dir)
	first := a.visit(t)
	if name := first.Issuer.CommonName; !strings.HasPrefix(name, "Pebble Intermediate") {
		t.Errorf("the certificate is by %q", name)
	}
	waitFor(t, "the log to tell of the certificate", func() error { return says(server, "certificate at hand") })
	if _, err := tls.Dial("tcp", a.address, &tls.Config{ServerName: "other.example.org", RootCAs: a.roots}); err == nil {
		t.Error("the server has a certificate of a name that is not its own")
	}
	server.Stop()
	a.stop()
	a.serve(t, dir)
	if again := a.visit(t); !again.Equal(first) {
		t.Error("the certificate was not kept")
	}
}

// An authority that does not answer is named in the log, with what hinders.
func TestAnAuthorityIsNotThere(t *testing.T) {
	a := &authority{directory: "https://" + freeAddress(t) + "/dir", address: freeAddress(t)}
	server := a.serve(t, t.TempDir())
	waitFor(t, "the log to tell that there is no certificate", func() error {
		for _, word := range []string{"no certificate yet", a.directory, "connection refused"} {
			if err := says(server, word); err != nil {
				return err
			}
		}
		return nil
	})
}

func says(server *subject.Subject, word string) error {
	if !strings.Contains(server.Log(), word) {
		return fmt.Errorf("%q is not in the log:\n%s", word, server.Log())
	}
	return nil
}

func waitFor(t *testing.T, what string, done func() error) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		err := done()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s: %v", patience, what, err)
		}
	}
}

// An authority is a running Pebble, for a class server that is reached at an address.
type authority struct {
	directory string
	address   string // host and port
	roots     *x509.CertPool
	stop      func()
}

func startAuthority(t *testing.T) *authority {
	t.Helper()
	bin := t.TempDir()
	for _, program := range []string{pebble, pebblesDNS} {
		install := exec.Command("go", "install", program)
		install.Env = append(os.Environ(), "GOBIN="+bin)
		if out, err := install.CombinedOutput(); err != nil {
			t.Fatalf("go install %s: %v\n%s", program, err, out)
		}
	}
	certificate, key, own := newCertificate(t)
	t.Setenv("SSL_CERT_FILE", certificate) // the server's machine trusts the authority's own pages
	a := &authority{address: freeAddress(t)}
	dns, pages, management := freeAddress(t), freeAddress(t), freeAddress(t)
	a.directory = "https://" + pages + "/dir"
	_, port, err := net.SplitHostPort(a.address)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(bin, "config.json")
	text, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": pages, "managementListenAddress": management, "certificate": certificate, "privateKey": key,
		"tlsPort": json.Number(port), "keyAlgorithm": "ecdsa",
		"profiles": map[string]any{"default": map[string]any{"description": "for servers", "validityPeriod": 7776000}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, bin, "pebble-challtestsrv", "-dnsserver", dns, "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "",
		"-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "", "-management", freeAddress(t))
	a.stop = run(t, bin, "pebble", "-config", config, "-dnsserver", dns, "-strict")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: own}}}
	waitFor(t, "the authority", func() error {
		response, err := client.Get("https://" + management + "/roots/0")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		root, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		a.roots = x509.NewCertPool()
		if !a.roots.AppendCertsFromPEM(root) {
			return fmt.Errorf("no root in %q", root)
		}
		return nil
	})
	return a
}

// run runs a program until the test's end, or until stop.
func run(t *testing.T, dir, name string, args ...string) (stop func()) {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, filepath.Join(dir, name), args...)
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	stop = func() {
		end()
		<-ended
	}
	t.Cleanup(func() {
		stop()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s says:\n%s", name, text)
		}
		log.Close()
	})
	return stop
}

// serve starts a class server whose certificate the authority gives.
func (a *authority) serve(t *testing.T, dir string) *subject.Subject {
	t.Helper()
	_, port, err := net.SplitHostPort(a.address)
	if err != nil {
		t.Fatal(err)
	}
	return start(t, dir, "--listen", a.address, "--public-url", "https://"+net.JoinHostPort(domain, port),
		"--acme-domain", domain, "--acme-directory", a.directory, "--log-level", "info")
}

// visit loads the page to join a class as a browser does that trusts the authority, and returns the server's certificate.
func (a *authority) visit(t *testing.T) *x509.Certificate {
	t.Helper()
	here := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", a.address)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: here, TLSClientConfig: &tls.Config{RootCAs: a.roots}, DisableKeepAlives: true}}
	_, port, err := net.SplitHostPort(a.address)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Get("https://" + net.JoinHostPort(domain, port) + "/join")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the page to join a class: %s", response.Status)
	}
	return response.TLS.PeerCertificates[0]
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
