package cli

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
)

// authorities are the certificates, in PEM, by which a program on another machine can verify the server's: none where machines
// trust it anyway, as this one does. They are those above it in its file; a file without any has but the certificate itself,
// and programs have to learn of the next one.
func (c *certificate) authorities(host string) []byte {
	pair, err := c.get(nil)
	if err != nil {
		return nil
	}
	return authorities(pair, host, nil)
}

func authorities(pair *tls.Certificate, host string, trusted *x509.CertPool) []byte {
	above := x509.NewCertPool()
	for _, der := range pair.Certificate[1:] {
		if cert, err := x509.ParseCertificate(der); err == nil {
			above.AddCert(cert)
		}
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil
	}
	if _, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Intermediates: above, Roots: trusted}); err == nil {
		return nil
	}
	chain := pair.Certificate
	if len(chain) > 1 {
		chain = chain[1:]
	}
	var file bytes.Buffer
	for _, der := range chain {
		_ = pem.Encode(&file, &pem.Block{Type: "CERTIFICATE", Bytes: der}) // a Buffer does not fail
	}
	return file.Bytes()
}
