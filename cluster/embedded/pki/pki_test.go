package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apilab/apilab/cluster/learner"
)

func TestIdentities(t *testing.T) {
	t.Parallel()
	serviceIP := net.IPv4(10, 96, 0, 1)
	dir := Dir(filepath.Join(t.TempDir(), "pki"))
	if err := dir.Ensure(serviceIP); err != nil {
		t.Fatal(err)
	}
	for _, l := range leaves {
		leaf := load(t, dir, l.name)
		usage := x509.ExtKeyUsageClientAuth
		if l.server {
			usage = x509.ExtKeyUsageServerAuth
		}
		for _, authority := range []string{CA, FrontProxyCA} {
			roots := x509.NewCertPool()
			roots.AddCert(load(t, dir, authority))
			_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{usage}})
			if ok := authority == l.authority; ok != (err == nil) {
				t.Errorf("%s against %s: %v", l.name, authority, err)
			}
		}
	}
	server := load(t, dir, APIServer)
	for _, host := range []string{"127.0.0.1", "::1", "localhost", serviceIP.String(), "kubernetes.default.svc"} {
		if err := server.VerifyHostname(host); err != nil {
			t.Error(err)
		}
	}
	who := load(t, dir, Learner).Subject
	if who.CommonName != learner.User || !slices.Equal(who.Organization, []string{learner.Group}) {
		t.Errorf("the learner is %s", who)
	}
}

func load(t *testing.T, dir Dir, name string) *x509.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(dir.Cert(name), dir.Key(name))
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}

func TestKeptAndPrivate(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := Dir(filepath.Join(root, "pki"))
	for range 2 {
		if err := dir.Ensure(net.IPv4(10, 96, 0, 1)); err != nil {
			t.Fatal(err)
		}
	}
	first := load(t, dir, CA)
	if err := dir.Ensure(net.IPv4(10, 96, 0, 1)); err != nil {
		t.Fatal(err)
	}
	if !first.Equal(load(t, dir, CA)) {
		t.Error("an authority that exists was replaced")
	}
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is readable by others: %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestHalfMade(t *testing.T) {
	t.Parallel()
	dir := Dir(filepath.Join(t.TempDir(), "pki"))
	if err := os.MkdirAll(string(dir)+".new", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(string(dir)+".new/ca.crt", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dir.Ensure(net.IPv4(10, 96, 0, 1)); err != nil {
		t.Fatal(err)
	}
	load(t, dir, CA)
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir, other := Dir(filepath.Join(root, "pki")), Dir(filepath.Join(root, "other"))
	for _, d := range []Dir{dir, other} {
		if err := d.Ensure(net.IPv4(10, 96, 0, 1)); err != nil {
			t.Fatal(err)
		}
	}
	good := os.DirFS(string(dir))
	for name, spoil := range map[string]func(Dir) error{
		"garbled key":         func(d Dir) error { return os.WriteFile(d.Key(CA), []byte("garbage"), 0o600) },
		"empty certificate":   func(d Dir) error { return os.Truncate(d.Cert(Learner), 0) },
		"no key":              func(d Dir) error { return os.Remove(d.Key(Scheduler)) },
		"another pair's key":  func(d Dir) error { return os.Rename(d.Key(Admin), d.Key(CA)) },
		"no public key":       func(d Dir) error { return os.Remove(d.Public(ServiceAccount)) },
		"garbled signing key": func(d Dir) error { return os.WriteFile(d.Key(ServiceAccount), []byte("garbage"), 0o600) },
		"another signing key": func(d Dir) error { return os.Rename(d.Key(Admin), d.Key(ServiceAccount)) },
		"another authority": func(d Dir) error {
			if err := os.Link(other.Key(CA), d.Key(CA)+".new"); err != nil {
				return err
			}
			if err := os.Rename(d.Key(CA)+".new", d.Key(CA)); err != nil {
				return err
			}
			if err := os.Remove(d.Cert(CA)); err != nil {
				return err
			}
			return os.Link(other.Cert(CA), d.Cert(CA))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spoilt := Dir(filepath.Join(t.TempDir(), "pki"))
			if err := os.CopyFS(string(spoilt), good); err != nil {
				t.Fatal(err)
			}
			if err := spoilt.Ensure(net.IPv4(10, 96, 0, 1)); err != nil {
				t.Fatalf("before: %v", err)
			}
			if err := spoil(spoilt); err != nil {
				t.Fatal(err)
			}
			if err := spoilt.Ensure(net.IPv4(10, 96, 0, 1)); !errors.Is(err, ErrUnreadable) {
				t.Errorf("got %v", err)
			}
		})
	}
}
