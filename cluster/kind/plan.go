package kind

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kind/pkg/apis/config/defaults"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
)

// DefaultImage is the node image of kind's release.
const DefaultImage = defaults.Image

// kubeadmPatch lets the API server find its egress: see egress.go. And nobody elects a leader where there is one of each: a
// cluster that was frozen would have lost it. It adds to what kind sets, where a merge patch would replace it.
const kubeadmPatch = `
- op: add
  path: /apiServer/extraArgs/-
  value: {name: egress-selector-config-file, value: ` + mountPoint + `/` + egressConfigFile + `}
- op: add
  path: /apiServer/extraVolumes
  value: [{name: apilab, hostPath: ` + mountPoint + `, mountPath: ` + mountPoint + `, readOnly: true, pathType: Directory}]
- op: add
  path: /controllerManager/extraArgs/-
  value: {name: leader-elect, value: "false"}
- op: add
  path: /scheduler/extraArgs
  value: [{name: leader-elect, value: "false"}]
`

// patience lets kubeadm wait on machines on which everybody starts a cluster at once; it has a minute for most of it.
const patience = `
kind: InitConfiguration
apiVersion: kubeadm.k8s.io/v1beta4
timeouts: {controlPlaneComponentHealthCheck: 8m, kubeletHealthCheck: 8m, kubernetesAPICall: 8m, tlsBootstrap: 8m}
`

// plan is kind's configuration of a cluster of n nodes, the first of which is the control plane. All is as kind makes it,
// which is as kubeadm does, but for our folder in each node and zones as the embedded clusters have them.
func plan(id string, n int, image string, f folder) *v1alpha4.Cluster {
	c := &v1alpha4.Cluster{
		TypeMeta: v1alpha4.TypeMeta{Kind: "Cluster", APIVersion: "kind.x-k8s.io/v1alpha4"},
		Name:     clusterName(id),
		// The address that the port is published on, for this machine alone.
		Networking:           v1alpha4.Networking{APIServerAddress: "127.0.0.1"},
		KubeadmConfigPatches: []string{patience, strings.Replace(patience, "InitConfiguration", "JoinConfiguration", 1)},
		KubeadmConfigPatchesJSON6902: []v1alpha4.PatchJSON6902{{
			Group: "kubeadm.k8s.io", Version: "v1beta4", Kind: "ClusterConfiguration", Patch: kubeadmPatch,
		}},
	}
	for i := range max(1, n) {
		role := v1alpha4.WorkerRole
		if i == 0 {
			role = v1alpha4.ControlPlaneRole
		}
		c.Nodes = append(c.Nodes, v1alpha4.Node{
			Role:        role,
			Image:       image,
			Labels:      map[string]string{"topology.kubernetes.io/zone": fmt.Sprintf("zone-%c", 'a'+i%2)},
			ExtraMounts: []v1alpha4.Mount{{HostPath: f.shared(), ContainerPath: mountPoint, Readonly: true}},
		})
	}
	return c
}
