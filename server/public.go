package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/apilab/apilab/shell"
)

// Public makes a server one of classes: for people with roles, who come from other machines.
type Public struct {
	URL   *url.URL // by which people reach it: scheme and host, no path
	Hosts []string // further host names that it answers to, without ports
	TLS   *tls.Config
	// CA returns the certificates in PEM that programs verify the server's with; nil: those that they trust anyway.
	CA func() []byte
	// Proxies are those whose X-Forwarded-For is believed.
	Proxies []netip.Prefix
	// Unconfined serves also where the kernel does not close learners' shells in.
	Unconfined bool
}

// Secure tells whether browsers come by HTTPS, be it a proxy's.
func (p *Public) Secure() bool { return p.URL.Scheme == "https" }

// origin is what browsers send as the origin of its pages.
func (p *Public) origin() string { return p.URL.Scheme + "://" + p.URL.Host }

// link is the address of a path for people.
func (p *Public) link(path string) string { return p.origin() + path }

// isPublic tells whether it is a server of classes, and not that of one learner on their own machine.
func (s *Server) isPublic() bool { return s.o.Public != nil }

// errOfClasses is for what only the server of one learner has.
var errOfClasses = errors.New("this apilab serves classes: each learner finds it on their own page, once signed in")

// checkConfined refuses to let strangers into shells that the kernel does not close in; try is shell.Confined.
func (s *Server) checkConfined(ctx context.Context, try func(context.Context, shell.Options) ([]string, error)) error {
	dir := filepath.Join(s.o.DataDir, "confined")
	defer os.RemoveAll(dir)
	gaps, err := try(ctx, shell.Options{
		Home: filepath.Join(dir, "home"), Ports: filepath.Join(dir, "ports"), GatewayAddr: s.gateway.Addr(), Executable: s.o.Executable,
	})
	if err != nil {
		return err
	}
	if len(gaps) == 0 {
		return nil
	}
	could := strings.Join(gaps, ", ")
	if s.o.Public.Unconfined {
		s.log.Warn("learners' shells are not closed in by the kernel", "could", could)
		return nil
	}
	return fmt.Errorf("this system does not close a learner's shell in: with a hole in the shell itself, a learner could %s; "+
		"serve on Linux 6.7 or later with Landlock enabled (`apilab doctor` looks), or, if you trust every learner with this machine, add --let-learners-harm-this-host", could)
}
