package gateway

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// contextName is the name of everything in the kubeconfig, recognisable beside a learner's other contexts.
const contextName = "apilab"

// Kubeconfig is a file in YAML with which any kubectl reaches the learner's cluster: context "apilab", namespace
// "default". It holds the learner's token.
func (g *Gateway) Kubeconfig(learner string) ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters[contextName] = &clientcmdapi.Cluster{
		Server:                   "https://" + g.Addr(),
		TLSServerName:            g.tokens.serverName(learner),
		CertificateAuthorityData: g.ca.pem,
	}
	config.AuthInfos[contextName] = &clientcmdapi.AuthInfo{Token: g.tokens.token(learner)}
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName, Namespace: "default"}
	config.CurrentContext = contextName
	data, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("write a kubeconfig: %w", err)
	}
	return data, nil
}
