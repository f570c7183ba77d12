package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/spf13/pflag"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	extensionsopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	cliflag "k8s.io/component-base/cli/flag"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	aggregatoropenapi "k8s.io/kube-aggregator/pkg/generated/openapi"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
	generatedopenapi "k8s.io/kubernetes/pkg/generated/openapi"
	rbac "k8s.io/kubernetes/pkg/registry/rbac/rest"
	scheduling "k8s.io/kubernetes/pkg/registry/scheduling/rest"

	"github.com/apilab/apilab/cluster/embedded/pki"
)

// ServiceIP is the address of the kubernetes service, the first of serviceCIDR.
var ServiceIP = net.IPv4(10, 96, 0, 1)

const serviceCIDR = "10.96.0.0/16"

// seldom are resource types that nobody here lists again and again: their requests go to the store, which is in this
// process, without a cache that takes 20 goroutines and a timer for each.
var seldom = []string{
	"clustertrustbundles.certificates.k8s.io", "podcertificaterequests.certificates.k8s.io",
	"csinodes.storage.k8s.io", "csidrivers.storage.k8s.io", "csistoragecapacities.storage.k8s.io", "volumeattachments.storage.k8s.io",
	"devicetaintrules.resource.k8s.io", "runtimeclasses.node.k8s.io", "leasecandidates.coordination.k8s.io",
	"ipaddresses.networking.k8s.io", "servicecidrs.networking.k8s.io",
}

// flags are kube-apiserver's. What is not set is upstream's default.
func (c *controlPlane) flags() []string {
	return []string{
		"--etcd-servers=" + etcdEndpoint,
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none", // without it, a machine with no network and no default route fails to start
		"--client-ca-file=" + c.pki.Cert(pki.CA),
		"--tls-cert-file=" + c.pki.Cert(pki.APIServer),
		"--tls-private-key-file=" + c.pki.Key(pki.APIServer),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + c.pki.Public(pki.ServiceAccount),
		"--service-account-signing-key-file=" + c.pki.Key(pki.ServiceAccount),
		"--requestheader-client-ca-file=" + c.pki.Cert(pki.FrontProxyCA),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + c.pki.Cert(pki.FrontProxy),
		"--proxy-client-key-file=" + c.pki.Key(pki.FrontProxy),
		"--authorization-mode=RBAC",
		"--allow-privileged=true",
		"--kubelet-preferred-address-types=InternalIP,Hostname",
		"--service-cluster-ip-range=" + serviceCIDR,
		"--profiling=false",
		"--etcd-count-metric-poll-period=0", // a goroutine for each resource type, which counts the objects every minute
		// Two goroutines for each resource type, which read all keys again and again: one for the seats of requests in
		// priority and fairness, one to find errors in upstream's cache. And what several API servers tell each other
		// through the store, every 10 s: this one is alone.
		"--feature-gates=SizeBasedListCostEstimate=false,DetectCacheInconsistency=false,UnknownVersionInteroperabilityProxy=false,APIServerIdentity=false",
		"--watch-cache-sizes=" + strings.Join(seldom, "#0,") + "#0",
	}
}

// newAPIServer prepares kube-apiserver with all its parts, as app.Run does, but for one thing: every connection that
// it makes on behalf of an object in the cluster goes through our dialer. See egress.
func newAPIServer(c *controlPlane) (*apiServer, error) {
	o := options.NewServerRunOptions()
	o.SecureServing.Listener = c.listener
	o.SecureServing.BindPort = c.listener.Addr().(*net.TCPAddr).Port
	if err := parse(o.Flags(), c.flags()); err != nil {
		return nil, err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	if err := o.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, err
	}
	completed, err := o.Complete(context.Background())
	if err != nil {
		return nil, err
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return nil, utilerrors.NewAggregate(errs)
	}
	if completed.InformerName, err = cache.NewInformerName("kube-apiserver"); err != nil {
		return nil, err
	}
	dialer, err := newEgress(c)
	if err != nil {
		return nil, fmt.Errorf("prepare egress: %w", err)
	}
	config, err := newAPIServerConfig(completed, dialer, c.config.Bootstrapped)
	if err != nil {
		return nil, err
	}
	final, err := config.Complete()
	if err != nil {
		return nil, err
	}
	chain, err := app.CreateServerChain(final)
	if err != nil {
		return nil, err
	}
	kube, ok := chain.GenericAPIServer.NextDelegate().(*genericapiserver.GenericAPIServer)
	if !ok {
		return nil, errors.New("kube-apiserver is not where it was in the chain of servers")
	}
	generic := config.KubeAPIs.ControlPlane.Generic
	if err := serveDocuments(kube, generic); err != nil {
		return nil, err
	}
	prepared, err := chain.PrepareRun()
	if err != nil {
		return nil, err
	}
	// The documents have been made of these; 7 MB. Who still wants them calls GetDefinitions. The function is one that
	// upstream puts there, and holds them, too.
	generic.OpenAPIV3Config.Definitions = nil
	generic.OpenAPIV3Config.GetOperationIDAndTagsFromRoute = nil
	forgetInstallation(kube)
	return &apiServer{run: prepared.Run}, nil
}

type apiServer struct {
	run func(context.Context) error
}

func (s *apiServer) Run(ctx context.Context) error { return s.run(ctx) }

// newAPIServerConfig follows app.NewConfig. It differs in the egress selector, which upstream can only read from a file,
// and in that a server whose store has the default objects does not wait for their reconciliation: see lateHooks.
func newAPIServerConfig(o options.CompletedOptions, dialer *egress, bootstrapped bool) (*app.Config, error) {
	generic, informers, storage, err := controlplaneapiserver.BuildGenericConfig(
		o.CompletedOptions,
		[]*runtime.Scheme{legacyscheme.Scheme, apiextensions.Scheme, aggregatorscheme.Scheme},
		controlplane.DefaultAPIResourceConfigSource(),
		generatedopenapi.GetOpenAPIDefinitions,
		o.InformerName,
	)
	if err != nil {
		return nil, err
	}
	holdStill(generic)
	generic.EgressSelector = dialer.selector()
	generic.BuildHandlerChainFunc = nameComponents(generic.BuildHandlerChainFunc)
	if bootstrapped {
		for _, late := range lateHooks {
			name, _, err := late.PostStartHook()
			if err != nil {
				return nil, err
			}
			generic.DisabledPostStartHooks.Insert(name)
		}
	}

	kube, services, admission, err := app.CreateKubeAPIServerConfig(o, generic, informers, storage)
	if err != nil {
		return nil, err
	}
	shared := &kube.ControlPlane
	holdTrustStill(shared)
	extensions, err := controlplaneapiserver.CreateAPIExtensionsConfig(*shared.Generic, shared.VersionedInformers, admission, o.CompletedOptions, o.MasterCount,
		services, webhook.NewDefaultAuthenticationInfoResolverWrapper(shared.ProxyTransport, shared.Generic.EgressSelector, shared.Generic.LoopbackClientConfig, shared.Generic.TracerProvider))
	if err != nil {
		return nil, err
	}
	extensions.GenericConfig.LoopbackClientConfig = retryConflicts(extensions.GenericConfig.LoopbackClientConfig)
	aggregator, err := controlplaneapiserver.CreateAggregatorConfig(*shared.Generic, o.CompletedOptions, shared.VersionedInformers, services, shared.ProxyTransport, shared.Extra.PeerProxy, admission)
	if err != nil {
		return nil, err
	}
	extensions.GenericConfig.OpenAPIConfig = describing(shared.Generic.OpenAPIConfig, extensionsopenapi.GetOpenAPIDefinitions)
	aggregator.GenericConfig.OpenAPIConfig = describing(shared.Generic.OpenAPIConfig, aggregatoropenapi.GetOpenAPIDefinitions)
	shared.Generic.SkipOpenAPIInstallation = true // not the others', which copied this configuration: see serveDocuments
	return &app.Config{Options: o, KubeAPIs: kube, ApiExtensions: extensions, Aggregator: aggregator}, nil
}

// lateHooks are the parts of the API server's start that each begin with a pause of a second, and then make default
// objects what they should be: roles and priority classes. Where these exist, that can be done once the cluster is in use.
var lateHooks = []genericapiserver.PostStartHookProvider{rbac.RESTStorageProvider{}, scheduling.RESTStorageProvider{}}

func (c *controlPlane) runLateHooks(ctx context.Context) error {
	access, err := c.access(pki.Admin)
	if err != nil {
		return err
	}
	for _, late := range lateHooks {
		name, hook, err := late.PostStartHook()
		if err != nil {
			return err
		}
		if err := hook(genericapiserver.PostStartHookContext{LoopbackClientConfig: access, Context: ctx}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (e *egress) selector() *egressselector.EgressSelector {
	return egressselector.NewEgressSelectorWithMap(egressDialers(e))
}

// parse sets options by their flags.
func parse(sets cliflag.NamedFlagSets, args []string) error {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, set := range sets.FlagSets {
		all.AddFlagSet(set)
	}
	return all.Parse(args)
}
