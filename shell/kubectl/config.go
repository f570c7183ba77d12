package kubectl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/apilab/apilab/shell/localhost"
)

// kubeconfigs checks the files that the kubeconfigs in use name: kubectl reads them as it loads those.
func (k *confined) kubeconfigs(c *cobra.Command) error {
	var files []string
	if f := c.Flag("kubeconfig"); f != nil && f.Value.String() != "" {
		files = []string{f.Value.String()}
	} else if list := os.Getenv("KUBECONFIG"); list != "" {
		files = filepath.SplitList(list)
	} else {
		files = []string{filepath.Join(k.Home, ".kube", "config")}
	}
	for _, name := range files {
		if err := k.kubeconfig(name); err != nil {
			return err
		}
	}
	return nil
}

// kubeconfig checks one. name is what kubectl opens: a checked real path, or relative to the working folder.
func (k *confined) kubeconfig(name string) error {
	abs, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	virtual := abs
	for v, real := range k.Files {
		if real == abs {
			virtual = v
		}
	}
	if _, err := k.fs.Real(virtual); err != nil {
		return absent(k.fs.Virtual(name)) // to the vfs, what leads out is not there; to kubectl it is
	}
	data, err := k.fs.ReadFile(virtual, 1<<20)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil // kubectl says so itself, if it minds
		}
		return fmt.Errorf("kubeconfig: %w", err)
	}
	conf, err := clientcmd.Load(data)
	if err != nil {
		return nil //nolint:nilerr // kubectl tells of it, and reads nothing else then
	}
	var refs []string
	for _, cl := range conf.Clusters {
		refs = append(refs, cl.CertificateAuthority)
	}
	for _, u := range conf.AuthInfos {
		refs = append(refs, u.ClientCertificate, u.ClientKey, u.TokenFile)
	}
	for _, ref := range refs {
		if ref == "" {
			continue
		}
		at := ref
		if !filepath.IsAbs(at) {
			at = filepath.Join(filepath.Dir(abs), at)
		}
		real, err := k.fs.Real(at)
		if err != nil {
			return fmt.Errorf("the kubeconfig names the file %q, which does not exist", ref)
		}
		if real != at {
			return fmt.Errorf("the kubeconfig names the file %q: write it relative to the kubeconfig", ref)
		}
	}
	return nil
}

// wrap is called with each configuration before it is used. It ends the process where that is not allowed.
func (k *confined) wrap(c *rest.Config) *rest.Config {
	switch {
	case c.ExecProvider != nil:
		cmdutil.CheckErr(fmt.Errorf("the kubeconfig wants to run %q for credentials: no programs can be run in this shell", c.ExecProvider.Command))
	case c.AuthProvider != nil:
		cmdutil.CheckErr(fmt.Errorf("the kubeconfig wants the auth provider %q, which is not available in this shell", c.AuthProvider.Name))
	case c.Proxy != nil:
		cmdutil.CheckErr(errors.New("the kubeconfig wants a proxy-url: proxies are not available in this shell"))
	}
	if err := k.server(c.Host); err != nil {
		cmdutil.CheckErr(err)
	}
	// Upgraded connections (exec, attach, port-forward) would ask the environment for a proxy.
	c.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	c.Dial = k.dial
	return c
}

// server checks where a configuration leads to. Upgraded connections are dialled by libraries without our dialer, so
// what is not the API server is refused here, and not only as it is dialled.
func (k *confined) server(host string) error {
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	u, err := url.Parse(host)
	if err != nil {
		return fmt.Errorf("the kubeconfig's server is not a URL: %w", err)
	}
	if k.isGateway(u.Host) || localhost.Is(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("only your own API server (https://%s) and localhost can be reached from this shell, not %s", k.Gateway, u.Host)
}

func (k *confined) isGateway(addr string) bool {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || k.Gateway == "" {
		return false
	}
	_, own, _ := net.SplitHostPort(k.Gateway)
	return addr == k.Gateway || port == own && localhost.Is(host)
}

// upgrades refuses upgraded connections to a port of the learner's own: the libraries would dial the host's.
func (k *confined) upgrades(c *rest.Config) error {
	u, err := url.Parse(c.Host)
	if err == nil && !k.isGateway(u.Host) {
		return fmt.Errorf("this command needs the API server itself (https://%s), it does not work through %s", k.Gateway, u.Host)
	}
	return err
}

// dial connects to the API server or to a port of the learner's.
func (k *confined) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	if k.isGateway(addr) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", k.Gateway)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(port)
	if err != nil || !localhost.Is(host) {
		return nil, &net.DNSError{Err: "no such host: only your API server and localhost can be reached from this shell", Name: host, IsNotFound: true}
	}
	return k.ports.Dial(ctx, n)
}

// closeDefaults takes the network from everything that uses the default client: -f URL, and kustomize.
func (k *confined) closeDefaults() {
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t.DialContext = k.dial
		t.DialTLSContext = nil
		t.Proxy = nil
	}
}
