package controlplane

import (
	"context"
	"sync"

	apiextensionsscheme "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/scheme"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	"k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus"
	generatedopenapi "k8s.io/kubernetes/pkg/generated/openapi"

	"github.com/apilab/apilab/cluster/embedded/pki"
)

// runPolicyStatus runs the controller manager's controller of the status of admission policies until ctx ends. Upstream
// makes the schemas of all types for it at the start, which take 9 MB; here they come with the first policy.
func runPolicyStatus(ctx context.Context, c *controlPlane) error {
	access, err := c.access(pki.ControllerMgr)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(rest.AddUserAgent(access, names.ValidatingAdmissionPolicyStatusController))
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	controller, err := validatingadmissionpolicystatus.NewController(
		factory.Admissionregistration().V1().ValidatingAdmissionPolicies(),
		client.AdmissionregistrationV1().ValidatingAdmissionPolicies(),
		&validating.TypeChecker{
			SchemaResolver: lazyResolver(func() resolver.SchemaResolver {
				return resolver.NewDefinitionsSchemaResolver(generatedopenapi.GetOpenAPIDefinitions, scheme.Scheme, apiextensionsscheme.Scheme).
					Combine(&resolver.ClientDiscoveryResolver{Discovery: client.Discovery()})
			}),
			RestMapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery())),
		},
	)
	if err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	controller.Run(ctx, 1)
	return nil
}

// A schemaResolver is made when the first schema is asked for.
type schemaResolver func() resolver.SchemaResolver

func lazyResolver(make func() resolver.SchemaResolver) schemaResolver { return sync.OnceValue(make) }

func (r schemaResolver) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	return r().ResolveSchema(kind)
}
