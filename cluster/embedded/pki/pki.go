// Package pki makes and keeps the certificates of one cluster: an authority of its own, the API server's certificate
// and one client certificate for each identity. Nothing of it is shared between clusters, so no learner's credentials
// open another's cluster.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/apilab/apilab/cluster/learner"
)

// The names of the key pairs: NAME.crt and NAME.key in the folder.
const (
	CA            = "ca"
	FrontProxyCA  = "front-proxy-ca"
	APIServer     = "apiserver"
	FrontProxy    = "front-proxy-client"
	Admin         = "admin"              // the platform
	Learner       = "learner"            // what the gateway forwards the learner's requests as
	ControllerMgr = "controller-manager" // kube-controller-manager
	Scheduler     = "scheduler"          // kube-scheduler
	Kubelet       = "kubelet"            // the simulated nodes' kubelets
)

// The service accounts' signing key is a bare pair: ServiceAccount.key and ServiceAccount.pub.
const ServiceAccount = "sa"

// lifetime of all certificates: a learner who comes back after years should not meet an expired one.
const lifetime = 20 * 365 * 24 * time.Hour

type leaf struct {
	name, authority string
	subject         pkix.Name
	server          bool
}

var leaves = []leaf{
	{name: APIServer, authority: CA, subject: pkix.Name{CommonName: "kube-apiserver"}, server: true},
	{name: FrontProxy, authority: FrontProxyCA, subject: pkix.Name{CommonName: "front-proxy-client"}},
	{name: Admin, authority: CA, subject: pkix.Name{CommonName: "apilab", Organization: []string{"system:masters"}}},
	{name: Learner, authority: CA, subject: pkix.Name{CommonName: learner.User, Organization: []string{learner.Group}}},
	{name: ControllerMgr, authority: CA, subject: pkix.Name{CommonName: "system:kube-controller-manager", Organization: []string{"system:masters"}}},
	{name: Scheduler, authority: CA, subject: pkix.Name{CommonName: "system:kube-scheduler", Organization: []string{"system:masters"}}},
	{name: Kubelet, authority: CA, subject: pkix.Name{CommonName: "apilab:kubelet", Organization: []string{"system:masters"}}},
}

// A Dir is a folder of key pairs, PEM files readable by their owner only.
type Dir string

// Cert and Key are the paths of a key pair's files.
func (d Dir) Cert(name string) string { return filepath.Join(string(d), name+".crt") }

// Key is the path of a private key.
func (d Dir) Key(name string) string { return filepath.Join(string(d), name+".key") }

// Public is the path of a bare public key.
func (d Dir) Public(name string) string { return filepath.Join(string(d), name+".pub") }

// Read returns the PEM texts of a key pair.
func (d Dir) Read(name string) (cert, key []byte, err error) {
	if cert, err = os.ReadFile(d.Cert(name)); err != nil {
		return nil, nil, err
	}
	key, err = os.ReadFile(d.Key(name))
	return cert, key, err
}

// ErrUnreadable is what Ensure's error wraps when a key pair is not what it was made as.
var ErrUnreadable = errors.New("certificates or keys are damaged")

// Ensure makes the folder with all its key pairs where it is missing; a folder is written whole or not at all. One that is
// there is checked. serviceIP is the address of the kubernetes service.
func (d Dir) Ensure(serviceIP net.IP) error {
	if _, err := os.Stat(string(d)); err == nil {
		if err := d.check(); err != nil {
			return fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		return nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	draft := Dir(string(d) + ".new")
	if err := os.RemoveAll(string(draft)); err != nil {
		return err
	}
	if err := os.MkdirAll(string(draft), 0o700); err != nil {
		return err
	}
	if err := draft.make(serviceIP); err != nil {
		return fmt.Errorf("make certificates: %w", err)
	}
	return os.Rename(string(draft), string(d))
}

type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func (d Dir) make(serviceIP net.IP) error {
	authorities := map[string]authority{}
	for _, name := range []string{CA, FrontProxyCA} {
		template := &x509.Certificate{
			Subject:               pkix.Name{CommonName: "apilab " + name},
			IsCA:                  true,
			BasicConstraintsValid: true,
			KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		}
		a, err := d.issue(name, template, authority{})
		if err != nil {
			return err
		}
		authorities[name] = a
	}
	for _, l := range leaves {
		template := &x509.Certificate{
			Subject:     l.subject,
			KeyUsage:    x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}
		if l.server {
			template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
			template.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
			template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, serviceIP}
		}
		if _, err := d.issue(l.name, template, authorities[l.authority]); err != nil {
			return err
		}
	}
	return d.bareKey(ServiceAccount)
}

// issue signs a certificate with a new key and writes both; without an issuer the certificate signs itself.
func (d Dir) issue(name string, template *x509.Certificate, issuer authority) (authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return authority{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return authority{}, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour) // clocks that were wrong a moment ago
	template.NotAfter = template.NotBefore.Add(lifetime)
	if issuer.key == nil {
		issuer = authority{cert: template, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer.cert, key.Public(), issuer.key)
	if err != nil {
		return authority{}, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return authority{}, err
	}
	if err := writePEM(d.Cert(name), "CERTIFICATE", der); err != nil {
		return authority{}, err
	}
	return authority{cert: cert, key: key}, writeKey(d.Key(name), key)
}

func (d Dir) bareKey(name string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := writePEM(d.Public(name), "PUBLIC KEY", public); err != nil {
		return err
	}
	return writeKey(d.Key(name), key)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
