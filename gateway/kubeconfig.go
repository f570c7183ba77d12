package gateway

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// contextName is the name of everything in the kubeconfig, recognisable beside a learner's other contexts.
const contextName = "apilab"

// An Address is where a gateway is reached from other machines, beside the pages.
type Address struct {
	// URL of the server, without a path. Where it is http, the gateway does TLS of its own on the same port (see SplitTLS):
	// clients send no token without TLS.
	URL string
	CA  []byte // certificates in PEM to verify the server's with; nil: those that clients trust anyway
}

// Kubeconfig is a file in YAML for the clients in a learner's terminals: context "apilab", namespace "default". It holds a
// token that is good on this machine alone.
func (g *Gateway) Kubeconfig(learner string) ([]byte, error) {
	return write(g.local(learner), g.tokens.token(credential{learner, inside}))
}

// OwnKubeconfig is the file with which any kubectl of the learner's own reaches their cluster, until its token is revoked.
// With the zero Address it is for a kubectl on this machine.
func (g *Gateway) OwnKubeconfig(ctx context.Context, learner string, at Address) ([]byte, error) {
	generation, err := g.generation(ctx, learner)
	if err != nil {
		return nil, fmt.Errorf("make a kubeconfig for %s: %w", learner, err)
	}
	server := g.local(learner)
	if at.URL != "" {
		if err := g.move(server, learner, at); err != nil {
			return nil, fmt.Errorf("make a kubeconfig for %s: %w", learner, err)
		}
	}
	return write(server, g.tokens.token(credential{learner, generation}))
}

// move makes a kubeconfig's cluster one at an address.
func (g *Gateway) move(server *clientcmdapi.Cluster, learner string, at Address) error {
	u, err := url.Parse(at.URL)
	if err != nil {
		return err
	}
	if u.Scheme == "https" {
		server.Server, server.TLSServerName, server.CertificateAuthorityData = at.URL+Prefix+g.tokens.address(learner), "", at.CA
		return nil
	}
	server.Server = "https://" + net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80")) + Prefix + g.tokens.address(learner)
	return nil
}

func (g *Gateway) local(learner string) *clientcmdapi.Cluster {
	return &clientcmdapi.Cluster{
		Server:                   "https://" + g.Addr(),
		TLSServerName:            g.tokens.serverName(learner),
		CertificateAuthorityData: g.ca.pem,
	}
}

func write(server *clientcmdapi.Cluster, token string) ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters[contextName] = server
	config.AuthInfos[contextName] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName, Namespace: "default"}
	config.CurrentContext = contextName
	data, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("write a kubeconfig: %w", err)
	}
	return data, nil
}
