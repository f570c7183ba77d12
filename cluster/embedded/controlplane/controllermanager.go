package controlplane

import (
	"context"
	"strings"

	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	garbagecollector "k8s.io/kubernetes/pkg/controller/garbagecollector/config"

	"github.com/apilab/apilab/cluster/embedded/pki"
)

// leftOut are the controllers that have nothing to do here. Each one that runs takes informers, workers and timers.
var leftOut = []string{
	names.PersistentVolumeAttachDetachController, // a simulated node's business; it alone wakes up ten times a second
	names.PersistentVolumeExpanderController,
	names.TTLController,
	names.ValidatingAdmissionPolicyStatusController,    // ours: see runPolicyStatus
	names.CertificateSigningRequestApprovingController, // of kubelets
	names.PodCertificateRequestCleanerController,
	names.KubeAPIServerClusterTrustBundlePublisherController,
	names.DeviceTaintEvictionController,
	names.LegacyServiceAccountTokenCleanerController, // of tokens that nobody has used for a year
}

// controllerManagerFlags are kube-controller-manager's. What is not set is upstream's default.
func (c *controlPlane) controllerManagerFlags(kubeconfig string) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--root-ca-file=" + c.pki.Cert(pki.CA),
		"--service-account-private-key-file=" + c.pki.Key(pki.ServiceAccount),
		// Of the signers, that of users alone: there are no kubelets to sign for, and each watches the files. See certificates.go.
		"--cluster-signing-kube-apiserver-client-cert-file=" + c.pki.Cert(pki.CA),
		"--cluster-signing-kube-apiserver-client-key-file=" + c.pki.Key(pki.CA),
		"--kube-api-qps=200",
		"--kube-api-burst=400",
		"--controllers=*,-" + strings.Join(leftOut, ",-"),
		// The kubelets are in this process. When they are late, it was frozen, and the monitor would wake up before them.
		"--node-monitor-grace-period=87600h",
	}
}

// runControllerManager runs kube-controller-manager until ctx ends.
func runControllerManager(ctx context.Context, c *controlPlane) error {
	kubeconfig, err := c.kubeconfig(pki.ControllerMgr)
	if err != nil {
		return err
	}
	o, err := options.NewKubeControllerManagerOptions()
	if err != nil {
		return err
	}
	known, disabled, aliases := app.KnownControllers(), app.ControllersDisabledByDefault(), app.ControllerAliases()
	flags := o.Flags(known, disabled, aliases)
	if err := parse(flags, c.controllerManagerFlags(kubeconfig)); err != nil {
		return err
	}
	o.ParsedFlags = &flags
	for _, resource := range seldom {
		name, group, _ := strings.Cut(resource, ".")
		o.GarbageCollectorController.GCIgnoredResources = append(o.GarbageCollectorController.GCIgnoredResources, garbagecollector.GroupResource{Group: group, Resource: name})
	}
	config, err := o.Config(ctx, known, disabled, aliases)
	if err != nil {
		return err
	}
	return app.Run(ctx, config.Complete())
}
