package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/crypto/acme/autocert"

	"github.com/apilab/apilab/cli/datadir"
	"github.com/apilab/apilab/server"
)

// publicFlags make a server of classes, and say how people reach it.
type publicFlags struct {
	listen     string
	cert, key  string
	domain     string // for which authority gives the certificate
	directory  string // of that authority
	plain      bool
	url        string
	proxies    []string
	unconfined bool

	authority *authority // set by public, with --acme-domain
}

func (o *publicFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&o.listen, "listen", "", "serve classes at this address, such as 0.0.0.0:8080 or :443: people with roles, who come from other machines")
	flags.StringVar(&o.cert, "tls-cert", "", "file with the certificate for HTTPS, and those between it and its root; read again when it changes")
	flags.StringVar(&o.key, "tls-key", "", "file with the certificate's private key")
	flags.StringVar(&o.domain, "acme-domain", "", "name of this machine for which Let's Encrypt gives a certificate; takes --listen :443, reachable from the internet")
	flags.StringVar(&o.directory, "acme-directory", autocert.DefaultACMEDirectory, "address at which another authority than Let's Encrypt has its ACME directory; this machine has to trust its certificate")
	flags.BoolVar(&o.plain, "plain-http", false, "serve HTTP beyond this machine: whoever is on the network in between can read along and take over sessions")
	flags.StringVar(&o.url, "public-url", "", "address that people type, such as https://lab.example.org, where it is not that of --listen")
	flags.StringSliceVar(&o.proxies, "trusted-proxy", nil, "address or network of a reverse proxy whose X-Forwarded-For is believed, such as 10.0.0.5 or 10.0.0.0/24")
	flags.BoolVar(&o.unconfined, "let-learners-harm-this-host", false, "serve classes also where the kernel does not close learners' shells in, and with clusters of real nodes, whose root a learner is")
}

// validate looks at what the flags say together.
func (o *publicFlags) validate(serve *serveOptions) error {
	if o.listen == "" {
		for flag, given := range map[string]bool{
			"tls-cert": o.cert != "", "tls-key": o.key != "", "acme-domain": o.domain != "", "acme-directory": o.otherAuthority(), "plain-http": o.plain,
			"public-url": o.url != "", "trusted-proxy": len(o.proxies) > 0, "let-learners-harm-this-host": o.unconfined,
		} {
			if given {
				return fmt.Errorf("--%s is for a server of classes: give it an address too, such as --listen :8080", flag)
			}
		}
		return nil
	}
	host, _, err := net.SplitHostPort(o.listen)
	switch {
	case err != nil:
		return fmt.Errorf("--listen: %q is no address: write it as HOST:PORT, or :PORT for all of this machine's addresses", o.listen)
	case serve.port != 0:
		return errors.New("--listen and --port exclude each other: --port is for one learner on this machine, --listen has its own port")
	case serve.shell == "host":
		return errors.New("--listen and --shell=host exclude each other: every learner would have your rights on this machine")
	case o.strangers() && serve.backends.provider == kindBackend:
		return errors.New("--listen and --provider kind exclude each other: a learner is root on the nodes of their cluster, which are privileged containers, and from there on this machine; " +
			"if you trust every learner with it, add --let-learners-harm-this-host")
	case (o.cert == "") != (o.key == ""):
		return errors.New("--tls-cert and --tls-key go together: give both")
	}
	ways := 0
	for _, given := range []bool{o.cert != "", o.domain != "", o.plain} {
		if given {
			ways++
		}
	}
	switch {
	case ways > 1:
		return errors.New("--tls-cert, --acme-domain and --plain-http exclude each other: choose one")
	case ways == 0 && !isLoopback(host):
		return errors.New("--listen beyond this machine takes one of --tls-cert with --tls-key, --acme-domain, or --plain-http (which others on the network can read)")
	case o.domain == "" && o.otherAuthority():
		return errors.New("--acme-directory goes with --acme-domain, the name that the certificate is for")
	case o.domain != "":
		if err := o.validateACME(); err != nil {
			return err
		}
	}
	if _, err := o.trusted(); err != nil {
		return err
	}
	u, err := o.address(o.listen)
	if err != nil {
		return err
	}
	if u.Scheme == "http" && (o.cert != "" || o.domain != "") {
		return fmt.Errorf("--public-url: %s is not HTTPS, which --tls-cert and --acme-domain serve: write it as https://%s", o.url, u.Host)
	}
	return nil
}

// otherAuthority tells whether the certificate is not to come from Let's Encrypt.
func (o *publicFlags) otherAuthority() bool {
	return o.directory != "" && o.directory != autocert.DefaultACMEDirectory
}

// strangers tells whether learners come who are not trusted with this machine.
func (o *publicFlags) strangers() bool { return o.listen != "" && !o.unconfined }

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func (o *publicFlags) trusted() ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range o.proxies {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			var ip netip.Addr
			if ip, err = netip.ParseAddr(text); err == nil {
				prefix, err = ip.Prefix(ip.BitLen())
			}
		}
		if err != nil {
			return nil, fmt.Errorf("--trusted-proxy: %q is no address and no network: write it as 10.0.0.5 or 10.0.0.0/24", text)
		}
		all = append(all, prefix.Masked())
	}
	return all, nil
}

// address is that which people type: what --public-url says, else one that follows from the others.
func (o *publicFlags) address(listening string) (*url.URL, error) {
	if o.url != "" {
		u, err := url.Parse(o.url)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
			return nil, fmt.Errorf("--public-url: %q is no address: write it as https://lab.example.org", o.url)
		}
		if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("--public-url: %s has a path: apilab has an address of its own, such as %s://%s", o.url, u.Scheme, u.Host)
		}
		return &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host)}, nil
	}
	if o.domain != "" {
		return &url.URL{Scheme: "https", Host: strings.ToLower(o.domain)}, nil
	}
	host, port, err := net.SplitHostPort(listening)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = ownAddress()
	}
	u := &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
	if o.cert != "" {
		u.Scheme = "https"
	}
	if u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	return u, nil
}

// ownAddress is one of this machine's that others in its network can use.
func ownAddress() string {
	all, _ := net.InterfaceAddrs()
	var other string
	for _, a := range all {
		network, ok := a.(*net.IPNet)
		switch {
		case !ok || network.IP.IsLoopback() || network.IP.IsLinkLocalUnicast():
		case network.IP.To4() != nil:
			return network.IP.String()
		default:
			other = network.IP.String()
		}
	}
	if name, err := os.Hostname(); other == "" && err == nil {
		return name
	}
	return other
}

// public is what the server is told; nil for the one of one learner.
func (o *publicFlags) public(dir *datadir.Dir) (*server.Public, error) {
	if o.listen == "" {
		return nil, nil
	}
	u, err := o.address(o.listen)
	if err != nil {
		return nil, err
	}
	p := &server.Public{URL: u, Unconfined: o.unconfined}
	if p.Proxies, err = o.trusted(); err != nil {
		return nil, err
	}
	if host, _, err := net.SplitHostPort(o.listen); err == nil && host != "" {
		if ip, err := netip.ParseAddr(host); err != nil || !ip.IsUnspecified() {
			p.Hosts = append(p.Hosts, host)
		}
	}
	if name, err := os.Hostname(); err == nil {
		p.Hosts = append(p.Hosts, name)
	}
	switch {
	case o.cert != "":
		c := &certificate{cert: o.cert, key: o.key}
		if _, err := c.get(nil); err != nil {
			return nil, err
		}
		p.TLS = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
		p.CA = func() []byte { return c.authorities(u.Hostname()) }
	case o.domain != "":
		o.authority = o.newAuthority(dir)
		p.TLS = o.authority.manager.TLSConfig()
		p.TLS.MinVersion = tls.VersionTLS12
		p.Hosts = append(p.Hosts, o.domain)
	}
	return p, nil
}

// welcomeAdmin announces a server of classes, and returns what tells where it is: with a link for the first admin where there
// was none before.
func (p *Program) welcomeAdmin(s *server.Server, dir *datadir.Dir) (greet, error) {
	if err := dir.Announce(s.PublicURL() + "/"); err != nil {
		return nil, err
	}
	link := ""
	if s.HasNewAdmin() {
		var err error
		if link, err = s.SignInURL(); err != nil {
			return nil, err
		}
	}
	return func(context.Context, bool, *slog.Logger) {
		io.WriteString(p.Stdout, publicGreeting(p.Version, s.PublicURL(), link, dir.Path))
	}, nil
}

func publicGreeting(version, address, link, dir string) string {
	flag := datadir.Flag(dir)
	admin := "  Admin        `apilab open" + flag + "` gives a sign-in link\n"
	if link != "" {
		admin = "  First admin  " + link + "  (once, within 10 minutes; `apilab open" + flag + "` gives another)\n"
	}
	return fmt.Sprintf("apilab %s serves classes at %s\n\n", version, address) + admin +
		"  Learners     " + address + "/join, with the code of their class\n" +
		"  Stop         Ctrl-C; classes, clusters and progress are kept in " + dir + "\n\n"
}
