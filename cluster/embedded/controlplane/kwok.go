package controlplane

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	"sigs.k8s.io/kwok/pkg/utils/client"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"

	"github.com/apilab/apilab/cluster/embedded/kubeversion"
	"github.com/apilab/apilab/cluster/embedded/pki"
)

// kwokVersion is that of sigs.k8s.io/kwok in go.mod; a test compares them.
const kwokVersion = "v0.8.0"

// startNodes starts KWOK's controllers as the kubelets of all nodes, those too that the learner makes. They run until ctx ends.
func startNodes(ctx context.Context, c *controlPlane) error {
	kubeconfig, err := c.kubeconfig(pki.Kubelet)
	if err != nil {
		return err
	}
	set, err := client.NewClientset("", kubeconfig)
	if err != nil {
		return err
	}
	access, err := set.ToRESTConfig()
	if err != nil {
		return err
	}
	access.UserAgent = "kubelet/" + kubeversion.Version + " (simulated by kwok " + kwokVersion + ")"
	dynamic, err := set.ToDynamicClient()
	if err != nil {
		return err
	}
	mapper, err := set.ToRESTMapper()
	if err != nil {
		return err
	}
	typed, err := kubernetes.NewForConfig(access)
	if err != nil {
		return err
	}
	events := record.NewBroadcaster(record.WithContext(ctx))
	events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: typed.CoreV1().Events("")})
	pods := newPodSimulator(clock.RealClock{}, newAddresses(typed), events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kubelet"}))
	controller, err := controllers.NewController(controllers.Config{
		Clock:                         clock.RealClock{},
		DynamicClient:                 dynamic,
		RESTClient:                    typed.CoreV1().RESTClient(),
		RESTMapper:                    mapper,
		TypedClient:                   typed,
		ManageAllNodes:                true,
		NodePort:                      kubeletPort,
		CIDR:                          defaultPodCIDR,
		LocalStages:                   stages(),
		FuncMap:                       gotpl.FuncMap{"PodStatus": pods.render, "NodeStatus": renderNode},
		PodPlayStageParallelism:       4,
		NodePlayStageParallelism:      1,
		NodeLeaseDurationSeconds:      nodeLeaseSeconds,
		NodeLeaseParallelism:          1,
		PodsOnNodeSyncParallelism:     1,
		EnablePodsOnNodeSyncListPager: true,
		ID:                            "apilab",
	})
	if err != nil {
		return err
	}
	return controller.Start(ctx)
}

// A stage is a step that KWOK takes with an object once all of its conditions hold.
type stage struct {
	name  string
	when  []string // jq expressions that are true
	after string   // jq expression of a duration ("300ms") or a time; empty: at once
	event *internalversion.StageEvent
	patch string // template of the status; empty: none
	gone  bool   // delete the object
}

func (s stage) build(kind string) *internalversion.Stage {
	out := &internalversion.Stage{ObjectMeta: metav1.ObjectMeta{Name: s.name}}
	out.Spec.ResourceRef = internalversion.StageResourceRef{APIGroup: "v1", Kind: kind}
	out.Spec.Selector = &internalversion.StageSelector{}
	for _, when := range s.when {
		out.Spec.Selector.MatchExpressions = append(out.Spec.Selector.MatchExpressions, internalversion.MatchExpression{
			JQ: &internalversion.SelectorJQ{Key: when, Operator: internalversion.SelectorOpIn, Values: []string{"true"}},
		})
	}
	if s.after != "" {
		out.Spec.Delay = &internalversion.StageDelay{DurationFrom: &internalversion.ExpressionFrom{JQ: &internalversion.ExpressionJQ{Expression: s.after}}}
	}
	if s.event != nil {
		out.Spec.Steps = append(out.Spec.Steps, internalversion.StageStep{Event: s.event})
	}
	if s.patch != "" {
		out.Spec.Steps = append(out.Spec.Steps, internalversion.StageStep{Patch: &internalversion.StagePatch{Subresource: "status", Root: "status", Template: s.patch}})
	}
	if s.gone {
		out.Spec.Steps = append(out.Spec.Steps, internalversion.StageStep{Delete: true})
	}
	return out
}

func stages() map[internalversion.StageResourceRef][]*internalversion.Stage {
	out := map[internalversion.StageResourceRef][]*internalversion.Stage{}
	for kind, list := range map[string][]stage{"Node": nodeStages, "Pod": podStages} {
		for _, s := range list {
			built := s.build(kind)
			out[built.Spec.ResourceRef] = append(out[built.Spec.ResourceRef], built)
		}
	}
	return out
}
