package gateway

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	authorityFile = "ca.pem" // certificate and key
	authorityLife = 10 * 365 * 24 * time.Hour
	servingLife   = 90 * 24 * time.Hour
	// renewBefore leaves a serving certificate valid for whoever connected just before its renewal.
	renewBefore = 30 * 24 * time.Hour
	// backdate forgives a clock that was set back after the certificate was made.
	backdate = 24 * time.Hour
)

// An authority signs the gateway's serving certificate. It is kept on disk, because kubeconfigs carry its certificate; the
// serving certificate is made anew by each process and when it grows old.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
	pem  []byte // the certificate alone
	now  func() time.Time

	mu      sync.Mutex
	serving *tls.Certificate
}

// loadAuthority reads the CA in dir, or makes one where there is none or where it is about to expire.
func loadAuthority(dir string) (*authority, error) {
	path := filepath.Join(dir, authorityFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newAuthority(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the gateway's CA: %w", err)
	}
	pair, err := tls.X509KeyPair(data, data)
	if err != nil {
		return nil, fmt.Errorf("the gateway's CA in %s is damaged (%w): remove the file and get a new kubeconfig", path, err)
	}
	if time.Until(pair.Leaf.NotAfter) < servingLife {
		return newAuthority(path)
	}
	return authorityOf(pair.Leaf, pair.PrivateKey.(crypto.Signer)), nil
}

func newAuthority(path string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the gateway's CA: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          serial(),
		Subject:               pkix.Name{CommonName: "apilab gateway CA"},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(authorityLife),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the gateway's CA: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make the gateway's CA: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make the gateway's CA: %w", err)
	}
	a := authorityOf(cert, key)
	data := append([]byte{}, a.pem...)
	data = append(data, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})...)
	return a, writeFile(path, data)
}

func authorityOf(cert *x509.Certificate, key crypto.Signer) *authority {
	return &authority{
		cert: cert,
		key:  key,
		pem:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}),
		now:  time.Now,
	}
}

// certificate is tls.Config.GetCertificate.
func (a *authority) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if a.serving != nil && now.Before(a.serving.Leaf.NotAfter.Add(-renewBefore)) {
		return a.serving, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the gateway's certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial(),
		Subject:      pkix.Name{CommonName: "apilab gateway"},
		NotBefore:    now.Add(-backdate),
		NotAfter:     now.Add(servingLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{"localhost", "*" + serverNameSuffix},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("make the gateway's certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make the gateway's certificate: %w", err)
	}
	a.serving = &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
	return a.serving, nil
}

func serial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return n
}
