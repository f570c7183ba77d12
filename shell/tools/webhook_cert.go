package tools

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"strings"
	"time"
)

// certDays is how long a certificate of `webhook cert` is valid unless told.
const certDays = 90

// webhookCert makes a certificate authority that signs one certificate, and forgets the authority's key.
func webhookCert(c *Call, args []string) error {
	f := c.flags()
	hosts := f.StringSlice("host", []string{"localhost"}, "name or address of the server; may be given again")
	dir := f.String("dir", ".", "folder to write to")
	days := f.Int("days", certDays, "how long it is valid")
	force := f.Bool("force", false, "also if there is one that is still good")
	rest, err := f.parseArgs(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("unexpected %q: hosts are given with --host", rest[0])
	}
	if *days < 1 || *days > 3650 {
		return usagef("--days is from 1 to 3650")
	}
	for _, host := range *hosts {
		if host == "" || strings.ContainsAny(host, ":/ ") && net.ParseIP(host) == nil {
			return usagef("%q is not a host: a name or an address, without https:// and without a port", host)
		}
	}
	in := func(name string) string { return c.path(*dir + "/" + name) }
	names := strings.Join(*hosts, ", ")
	if until, ok := c.goodCert(in, *hosts); ok && !*force {
		_, err := fmt.Fprintf(c.Stdout, "tls.crt is for %s and valid until %s: kept (--force makes a new one)\n", names, until.Format(time.DateOnly))
		return err
	}
	files, err := issue(*hosts, time.Now(), time.Duration(*days)*24*time.Hour)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		perm os.FileMode
	}{{"ca.crt", 0o644}, {"tls.crt", 0o644}, {"tls.key", 0o600}} {
		if err := c.Host.FS.WriteFile(in(file.name), files[file.name], file.perm); err != nil {
			return typed(file.name, err)
		}
	}
	_, err = fmt.Fprintf(c.Stdout, "tls.crt, tls.key: a certificate for %s and its key, valid for %s\nca.crt: who signed it; `base64 -w0 ca.crt` is the caBundle\n", names, counted(*days, "day"))
	return err
}

// goodCert tells whether there is a certificate for exactly these hosts, signed by ca.crt, with its key, and for a day yet.
func (c *Call) goodCert(in func(string) string, hosts []string) (until time.Time, ok bool) {
	text := map[string][]byte{}
	for _, name := range []string{"ca.crt", "tls.crt", "tls.key"} {
		var err error
		if text[name], err = c.Host.FS.ReadFile(in(name), 1<<20); err != nil {
			return until, false
		}
	}
	pair, err := tls.X509KeyPair(text["tls.crt"], text["tls.key"])
	if err != nil {
		return until, false
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text["ca.crt"])
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: time.Now().Add(24 * time.Hour)}); err != nil {
		return until, false
	}
	for _, host := range hosts {
		if pair.Leaf.VerifyHostname(host) != nil {
			return until, false
		}
	}
	return pair.Leaf.NotAfter, len(pair.Leaf.DNSNames)+len(pair.Leaf.IPAddresses) == len(slices.Compact(slices.Sorted(slices.Values(hosts))))
}

// issue returns the three files. A client looks for the host among the subject's alternative names; the common name has
// not counted for years.
func issue(hosts []string, now time.Time, valid time.Duration) (map[string][]byte, error) {
	// Each authority is another: with one name for all, an old caBundle would fail with a puzzle about signatures.
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	ca := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: fmt.Sprintf("webhook CA %x", serial.Bytes()[:3])},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(valid), KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: new(big.Int).Add(serial, big.NewInt(1)), Subject: pkix.Name{CommonName: hosts[0]},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range slices.Compact(slices.Sorted(slices.Values(hosts))) {
		if ip := net.ParseIP(host); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, host)
		}
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return nil, err
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	block := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	return map[string][]byte{"ca.crt": block("CERTIFICATE", caDER), "tls.crt": block("CERTIFICATE", leafDER), "tls.key": block("PRIVATE KEY", keyDER)}, nil
}
