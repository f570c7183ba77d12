package pki

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
)

// check parses all key pairs and tells of the first that does not match, or was not signed by its authority. The
// components that read them would say so late, or only in their logs.
func (d Dir) check() error {
	authorities := map[string]*x509.Certificate{}
	for _, name := range []string{CA, FrontProxyCA} {
		cert, err := d.pair(name)
		if err != nil {
			return err
		}
		authorities[name] = cert
	}
	for _, l := range leaves {
		cert, err := d.pair(l.name)
		if err != nil {
			return err
		}
		if err := cert.CheckSignatureFrom(authorities[l.authority]); err != nil {
			return fmt.Errorf("%s: %w", d.Cert(l.name), err)
		}
	}
	return d.checkBareKey(ServiceAccount)
}

// pair parses a key pair.
func (d Dir) pair(name string) (*x509.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(d.Cert(name), d.Key(name))
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", d.Cert(name), d.Key(name), err)
	}
	return pair.Leaf, nil
}

func (d Dir) checkBareKey(name string) error {
	der, err := readPEM(d.Key(name))
	if err != nil {
		return err
	}
	key, err := x509.ParseECPrivateKey(der)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Key(name), err)
	}
	if der, err = readPEM(d.Public(name)); err != nil {
		return err
	}
	public, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Public(name), err)
	}
	if p, ok := public.(*ecdsa.PublicKey); !ok || !key.PublicKey.Equal(p) {
		return fmt.Errorf("%s is not the public part of %s", d.Public(name), d.Key(name))
	}
	return nil
}

func readPEM(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: not PEM", path)
	}
	return block.Bytes, nil
}
