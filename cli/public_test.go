package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFlagsOfAPublicServer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		want string // in the error; "" for none
	}{
		"one learner":               {nil, ""},
		"behind a proxy":            {[]string{"--listen=127.0.0.1:8080", "--public-url=https://lab.example.org", "--trusted-proxy=127.0.0.1"}, ""},
		"on a network":              {[]string{"--listen=:8080", "--plain-http"}, ""},
		"with a certificate":        {[]string{"--listen=[::]:443", "--tls-cert=c", "--tls-key=k"}, ""},
		"with ACME":                 {[]string{"--listen=:443", "--acme-domain=lab.example.org"}, ""},
		"sandbox by name":           {[]string{"--listen=:8080", "--plain-http", "--shell=sandboxed"}, ""},
		"certificate, no address":   {[]string{"--tls-cert=c", "--tls-key=k"}, "is for a server of classes"},
		"ACME, no address":          {[]string{"--acme-domain=lab.example.org"}, "--acme-domain is for a server of classes"},
		"plain HTTP, no address":    {[]string{"--plain-http"}, "--plain-http is for a server of classes"},
		"public URL, no address":    {[]string{"--public-url=https://x.org"}, "--public-url is for a server of classes"},
		"proxy, no address":         {[]string{"--trusted-proxy=10.0.0.1"}, "--trusted-proxy is for a server of classes"},
		"harm, no address":          {[]string{"--let-learners-harm-this-host"}, "is for a server of classes"},
		"no port":                   {[]string{"--listen=0.0.0.0", "--plain-http"}, "write it as HOST:PORT"},
		"two ports":                 {[]string{"--listen=:8080", "--plain-http", "--port=8080"}, "--listen and --port exclude each other"},
		"kind clusters":             {[]string{"--listen=127.0.0.1:8080", "--provider=kind"}, "a learner is root on the nodes"},
		"the host's shell":          {[]string{"--listen=127.0.0.1:8080", "--shell=host"}, "--listen and --shell=host exclude each other"},
		"half a certificate":        {[]string{"--listen=:443", "--tls-cert=c"}, "go together"},
		"the other half":            {[]string{"--listen=:443", "--tls-key=k"}, "go together"},
		"certificate and plain":     {[]string{"--listen=:443", "--tls-cert=c", "--tls-key=k", "--plain-http"}, "choose one"},
		"certificate and ACME":      {[]string{"--listen=:443", "--tls-cert=c", "--tls-key=k", "--acme-domain=lab.example.org"}, "choose one"},
		"beyond, in no way":         {[]string{"--listen=:8080"}, "takes one of"},
		"beyond, by name":           {[]string{"--listen=lab.example.org:8080"}, "takes one of"},
		"beyond, behind a proxy":    {[]string{"--listen=10.0.0.2:8080", "--public-url=https://lab.example.org"}, "takes one of"},
		"ACME for an address":       {[]string{"--listen=:443", "--acme-domain=lab.example.org:443"}, "no name of a machine"},
		"with an ACME of one's own": {[]string{"--listen=:443", "--acme-domain=lab.example.org", "--acme-directory=https://ca.example.org/acme/directory"}, ""},
		"ACME without a name":       {[]string{"--listen=:443", "--plain-http", "--acme-directory=https://ca.example.org/acme/directory"}, "goes with --acme-domain"},
		"ACME without HTTPS":        {[]string{"--listen=:443", "--acme-domain=lab.example.org", "--acme-directory=http://ca.example.org"}, "no HTTPS address"},
		"ACME, no address at all":   {[]string{"--acme-directory=https://ca.example.org"}, "--acme-directory is for a server of classes"},
		"ACME for a short name":     {[]string{"--listen=:443", "--acme-domain=lab"}, "no name of a machine"},
		"public URL without HTTPS":  {[]string{"--listen=:443", "--tls-cert=c", "--tls-key=k", "--public-url=http://lab.example.org"}, "write it as https://lab.example.org"},
		"public URL with a path":    {[]string{"--listen=127.0.0.1:1", "--public-url=https://example.org/lab"}, "has a path"},
		"public URL of a file":      {[]string{"--listen=127.0.0.1:1", "--public-url=file:///lab"}, "is no address"},
		"public URL, host alone":    {[]string{"--listen=127.0.0.1:1", "--public-url=lab.example.org"}, "is no address"},
		"public URL with a name":    {[]string{"--listen=127.0.0.1:1", "--public-url=https://ada@lab.example.org"}, "is no address"},
		"a proxy by name":           {[]string{"--listen=127.0.0.1:1", "--trusted-proxy=proxy.example.org"}, "no address and no network"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := serveOptions{global: &global{}}
			cmd := (&Program{}).serveCommandOf(&o)
			if err := cmd.ParseFlags(tt.args); err != nil {
				t.Fatal(err)
			}
			err := o.public.validate(&o)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("%v is refused: %v", tt.args, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n")):
				t.Errorf("%v: %v, want %q", tt.args, err, tt.want)
			}
		})
	}
}

func TestPublicAddress(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]publicFlags{
		"http://192.0.2.1:8080":         {listen: "192.0.2.1:8080", plain: true},
		"http://192.0.2.1":              {listen: "192.0.2.1:80", plain: true},
		"https://lab.example.org":       {listen: "lab.example.org:443", cert: "c"},
		"https://[2001:db8::1]":         {listen: "[2001:db8::1]:443", cert: "c"},
		"https://lab.example.org:8443":  {listen: "lab.example.org:8443", cert: "c"},
		"https://acme.example.org":      {listen: ":443", domain: "ACME.example.org"},
		"https://front.example.org":     {listen: "127.0.0.1:8080", url: "https://Front.example.org/"},
		"http://front.example.org:8000": {listen: ":8080", plain: true, url: "http://front.example.org:8000"},
	} {
		if u, err := o.address(o.listen); err != nil || u.String() != want {
			t.Errorf("%+v is reached at %v, %v; want %s", o, u, err, want)
		}
	}
	o := publicFlags{listen: ":8080", plain: true}
	if u, err := o.address(o.listen); err != nil || u.Hostname() == "" || u.Hostname() == "127.0.0.1" || u.Port() != "8080" {
		t.Errorf("on all addresses it is reached at %v, %v", u, err)
	}
}

func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	o := publicFlags{proxies: []string{"10.0.0.5", "10.1.2.3/16", "2001:db8::1"}}
	got, err := o.trusted()
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.5/32"), netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("2001:db8::1/128")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func TestCertificateIsReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := &certificate{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	if _, err := c.get(nil); err == nil || !strings.Contains(err.Error(), "--tls-cert") {
		t.Errorf("without files: %v", err)
	}
	serial := func() int64 {
		t.Helper()
		c.looked = time.Time{} // a minute has passed
		pair, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.SerialNumber.Int64()
	}
	begin := time.Now().Add(-time.Hour)
	for n := range int64(2) {
		writeCertificate(t, c, n+1, begin.Add(time.Duration(n)*time.Minute))
		if got := serial(); got != n+1 {
			t.Errorf("certificate %d is given, want %d", got, n+1)
		}
	}
	writeFile(t, c.cert, "half a certificate")
	if got := serial(); got != 2 {
		t.Errorf("while the file is being written, certificate %d is given, want 2", got)
	}
}

// writeCertificate writes a certificate with a serial number, and its key.
func writeCertificate(t *testing.T, c *certificate, serial int64, at time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"lab.example.org"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, c.cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	writeFile(t, c.key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	if err := os.Chtimes(c.cert, at, at); err != nil {
		t.Fatal(err)
	}
	if _, err := tls.LoadX509KeyPair(c.cert, c.key); err != nil {
		t.Fatal(err)
	}
}

func TestPublicGreeting(t *testing.T) {
	t.Parallel()
	first := publicGreeting("v1", "https://lab.example.org", "https://lab.example.org/signin/x", "/lab")
	later := publicGreeting("v1", "https://lab.example.org", "", "/lab")
	for _, want := range []string{"serves classes at https://lab.example.org\n", "https://lab.example.org/join", "`apilab open --data-dir /lab`"} {
		if !strings.Contains(first, want) || !strings.Contains(later, want) {
			t.Errorf("no %q in\n%s%s", want, first, later)
		}
	}
	if !strings.Contains(first, "First admin  https://lab.example.org/signin/x") || strings.Contains(later, "/signin/") {
		t.Errorf("the first admin's link is not in the first greeting alone:\n%s%s", first, later)
	}
}
