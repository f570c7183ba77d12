package kind

import (
	"context"
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
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"github.com/apilab/apilab/cluster/learner"
)

// The identities, as the embedded clusters have them. The platform's group is beyond RBAC, so that no learner locks it out.
var (
	platformSubject = pkix.Name{CommonName: "apilab", Organization: []string{"system:masters"}}
	learnerSubject  = pkix.Name{CommonName: learner.User, Organization: []string{learner.Group}}
)

// access fills in the description of a new cluster how it is reached, and by whom. kubeadm's authority signs for it; its
// key is forgotten again.
func (e Engine) access(ctx context.Context, f folder, controlPlane string, d *description) error {
	config, err := clientcmd.LoadFromFile(f.kubeconfig())
	if err != nil {
		return fmt.Errorf("read the access that kind wrote: %w", err)
	}
	for _, c := range config.Clusters {
		d.Server = c.Server
	}
	cert, err := e.run(ctx, quick, "exec", controlPlane, "cat", "/etc/kubernetes/pki/ca.crt")
	if err != nil {
		return err
	}
	key, err := e.run(ctx, quick, "exec", controlPlane, "cat", "/etc/kubernetes/pki/ca.key")
	if err != nil {
		return err
	}
	ca, err := parseAuthority([]byte(cert), []byte(key))
	if err != nil {
		return fmt.Errorf("read the cluster's certificate authority: %w", err)
	}
	d.CA = []byte(cert)
	if d.Platform, err = ca.sign(platformSubject); err != nil {
		return err
	}
	d.Learner, err = ca.sign(learnerSubject)
	return err
}

type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func parseAuthority(cert, key []byte) (authority, error) {
	certs, err := certutil.ParseCertsPEM(cert)
	if err != nil {
		return authority{}, err
	}
	private, err := keyutil.ParsePrivateKeyPEM(key)
	if err != nil {
		return authority{}, err
	}
	signer, ok := private.(crypto.Signer)
	if !ok {
		return authority{}, errors.New("its key cannot sign")
	}
	return authority{certs[0], signer}, nil
}

// sign makes a client certificate that lasts as long as the authority.
func (a authority) sign(subject pkix.Name) (keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return keyPair{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    time.Now().Add(-time.Hour), // clocks of virtual machines lag
		NotAfter:     a.cert.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.cert, key.Public(), a.key)
	if err != nil {
		return keyPair{}, fmt.Errorf("sign a certificate: %w", err)
	}
	private, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return keyPair{}, err
	}
	return keyPair{Cert: pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: der}), Key: private}, nil
}

// config is the access with one of the key pairs.
func (d description) config(k keyPair) *rest.Config {
	return &rest.Config{
		Host:            d.Server,
		TLSClientConfig: rest.TLSClientConfig{CAData: d.CA, CertData: k.Cert, KeyData: k.Key},
		QPS:             -1, // the API server's priority and fairness is limit enough
	}
}
