package controlplane

import (
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
)

// Upstream watches each certificate's file for a new one, some of them twice, and each watch takes one of the few
// inotify instances that a user has (fs.inotify.max_user_instances, 128 on most machines). A class of sixty would not
// start. Ours never change while a control plane runs: it has read them, and that will do.

// reloadProxyCertificate is the aggregator's hook that watches the certificate it shows to other API servers.
const reloadProxyCertificate = "aggregator-reload-proxy-client-cert"

// stillCA and stillCertificate are what was read, without the methods by which upstream starts to watch the file.
type (
	stillCA struct {
		dynamiccertificates.CAContentProvider
	}
	stillCertificate struct {
		dynamiccertificates.CertKeyContentProvider
	}
)

func holdStill(config *genericapiserver.Config) {
	serving := config.SecureServing
	serving.Cert = stillCertificate{serving.Cert}
	serving.ClientCA = stillCA{serving.ClientCA}
	config.DisabledPostStartHooks.Insert(reloadProxyCertificate)
}

// holdTrustStill does the same for the authorities that the API server publishes in kube-system.
func holdTrustStill(config *controlplaneapiserver.Config) {
	trust := &config.Extra.ClusterAuthenticationInfo
	trust.ClientCA = stillCA{trust.ClientCA}
	trust.RequestHeaderCA = stillCA{trust.RequestHeaderCA}
}
