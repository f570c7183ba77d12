package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"github.com/apilab/apilab/cli/datadir"
)

// An authority gives this server certificates by ACME (RFC 8555), which proves by TLS-ALPN on the port of the pages (RFC 8737)
// that the name is this machine's. They are kept in the data directory.
type authority struct {
	manager *autocert.Manager
	domain  string
}

// newAuthority is Let's Encrypt, or that which the flags name.
func (o *publicFlags) newAuthority(dir *datadir.Dir) *authority {
	domain := strings.ToLower(o.domain)
	return &authority{domain: domain, manager: &autocert.Manager{
		Prompt: autocert.AcceptTOS, HostPolicy: autocert.HostWhitelist(domain), Cache: autocert.DirCache(dir.Join("acme")),
		Client: &acme.Client{DirectoryURL: o.directory, UserAgent: "apilab"},
	}}
}

func (o *publicFlags) validateACME() error {
	if strings.ContainsAny(o.domain, ":/ ") || !strings.Contains(o.domain, ".") {
		return fmt.Errorf("--acme-domain: %q is no name of a machine: write it as lab.example.org", o.domain)
	}
	if u, err := url.Parse(o.directory); err != nil || u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("--acme-directory: %q is no HTTPS address: write it as https://ca.example.org/acme/directory", o.directory)
	}
	return nil
}

// An authority allows few attempts that fail, such as five in an hour.
const (
	firstRetry = 5 * time.Minute
	lastRetry  = 4 * time.Hour
)

// obtain gets the certificate when the server begins to serve, so that what hinders it stands in the log before the first
// learner comes. It tries until it has one, or ctx ends.
func (a *authority) obtain(ctx context.Context, log *slog.Logger) {
	hello := &tls.ClientHelloInfo{ServerName: a.domain, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}} // as browsers have it
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		got, err := a.manager.GetCertificate(hello)
		if err == nil {
			log.Info("certificate at hand", "name", a.domain, "issuer", got.Leaf.Issuer.CommonName, "until", got.Leaf.NotAfter.Format(time.DateOnly))
			return
		}
		log.Warn("no certificate yet, so that browsers cannot come in", "name", a.domain, "authority", a.manager.Client.DirectoryURL, "error", err, "next", pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}
