package controlplane

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/apilab/apilab/cluster/embedded/pki"
	"github.com/apilab/apilab/cluster/embedded/wire"
)

// poll is how often the start looks whether the next step can be taken; nothing polls once the cluster is ready.
const poll = 20 * time.Millisecond

// access is that of one of the identities.
func (c *controlPlane) access(name string) (*rest.Config, error) {
	ca, err := os.ReadFile(c.pki.Cert(pki.CA))
	if err != nil {
		return nil, err
	}
	cert, key, err := c.pki.Read(name)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            "https://" + c.listener.Addr().String(),
		TLSClientConfig: rest.TLSClientConfig{CAData: ca, CertData: cert, KeyData: key},
		QPS:             -1, // the server's priority and fairness is limit enough
	}, nil
}

// kubeconfig writes the access of one of the identities to a file, for components that read nothing else.
func (c *controlPlane) kubeconfig(name string) (path string, err error) {
	access, err := c.access(name)
	if err != nil {
		return "", err
	}
	file := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"apilab": {Server: access.Host, CertificateAuthorityData: access.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {ClientCertificateData: access.CertData, ClientKeyData: access.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: "apilab", AuthInfo: name}},
		CurrentContext: name,
	}
	path = name + ".kubeconfig"
	return path, clientcmd.WriteToFile(file, path)
}

type clients struct{ kube kubernetes.Interface }

func (c *controlPlane) newClients() (*clients, error) {
	access, err := c.access(pki.Admin)
	if err != nil {
		return nil, err
	}
	kube, err := kubernetes.NewForConfig(access)
	if err != nil {
		return nil, err
	}
	return &clients{kube: kube}, nil
}

// until polls ok; it returns the last reason why not when ctx ends.
func until(ctx context.Context, what string, ok func(context.Context) error) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		err := ok(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, err)
		case <-tick.C:
		}
	}
}

func (c *clients) waitForServer(ctx context.Context) error {
	return until(ctx, "the API server", func(ctx context.Context) error {
		_, err := c.kube.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// waitForBootstrap waits for all that the API server makes of itself, which /readyz includes.
func (c *clients) waitForBootstrap(ctx context.Context) error {
	return until(ctx, "the API server's bootstrap", func(ctx context.Context) error {
		return c.kube.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

// waitForControllers waits for what the controllers make of a namespace: the service account without which no pod is
// admitted, and the authority that pods mount.
func (c *clients) waitForControllers(ctx context.Context) error {
	return until(ctx, "the default service account", func(ctx context.Context) error {
		if _, err := c.kube.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return err
		}
		_, err := c.kube.CoreV1().ConfigMaps("default").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err
	})
}

func (c *clients) waitForNodes(ctx context.Context, nodes []wire.Node) error {
	return until(ctx, "the nodes", func(ctx context.Context) error {
		for _, n := range nodes {
			node, err := c.kube.CoreV1().Nodes().Get(ctx, n.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if !schedulable(node) {
				return fmt.Errorf("node %s is not ready", n.Name)
			}
		}
		return nil
	})
}

// schedulable tells whether pods can be placed on the node: it is Ready, and the taints of its start are gone.
func schedulable(node *corev1.Node) bool {
	for _, t := range node.Spec.Taints {
		if t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable {
			return false
		}
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
