package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/netip"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/apilab/apilab/cluster/embedded/kubeversion"
	"github.com/apilab/apilab/cluster/embedded/wire"
)

// nodeLeaseSeconds is how long a node's lease lasts. A kubelet's is 40 s and renewed every 10 s; an idle cluster should
// not write to its store that often.
const nodeLeaseSeconds = 240

// ensureNodes makes the nodes that are missing, as a kubelet registers itself. One that is there stays as it is: its
// labels and taints are the learner's.
func (c *clients) ensureNodes(ctx context.Context, nodes []wire.Node) error {
	for _, n := range nodes {
		_, err := c.kube.CoreV1().Nodes().Create(ctx, newNode(n), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// nodeRoom is the capacity of a simulated node.
var nodeRoom = corev1.ResourceList{
	corev1.ResourceCPU:              resource.MustParse("8"),
	corev1.ResourceMemory:           resource.MustParse("16Gi"),
	corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
	corev1.ResourcePods:             resource.MustParse("110"),
}

func newNode(n wire.Node) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: n.Name,
			Labels: map[string]string{
				corev1.LabelHostname:     n.Name,
				corev1.LabelOSStable:     "linux",
				corev1.LabelArchStable:   runtime.GOARCH,
				corev1.LabelTopologyZone: n.Zone,
			},
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
		},
		Spec: corev1.NodeSpec{PodCIDR: n.PodCIDR, PodCIDRs: []string{n.PodCIDR}},
		Status: corev1.NodeStatus{
			Capacity:        nodeRoom,
			Allocatable:     nodeRoom,
			Addresses:       nodeAddresses(n.Name, n.Address),
			DaemonEndpoints: kubeletEndpoint,
			NodeInfo:        nodeInfo(),
			Conditions:      nodeConditions(metav1.Now()),
		},
	}
}

var kubeletEndpoint = corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: kubeletPort}}

func nodeAddresses(name, ip string) []corev1.NodeAddress {
	return []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}, {Type: corev1.NodeHostName, Address: name}}
}

// inventAddress gives a node an address of its own, from its name. Nothing is ever dialled there.
func inventAddress(name string) string {
	h := fnv.New32a()
	h.Write([]byte(name))
	sum := h.Sum32()
	return netip.AddrFrom4([4]byte{172, 19, byte(sum >> 8), byte(sum)}).String()
}

func nodeInfo() corev1.NodeSystemInfo {
	return corev1.NodeSystemInfo{
		OperatingSystem:         "linux",
		Architecture:            runtime.GOARCH,
		OSImage:                 "simulated",
		KernelVersion:           "simulated",
		ContainerRuntimeVersion: "kwok://" + kwokVersion,
		KubeletVersion:          kubeversion.Version,
	}
}

// renderNode is the function NodeStatus of the stages' templates: the status of a node that the learner made, in JSON.
// What the learner gave it is kept.
func renderNode(object any) (string, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return "", err
	}
	node := &corev1.Node{}
	if err := json.Unmarshal(raw, node); err != nil {
		return "", fmt.Errorf("decode node: %w", err)
	}
	patch := map[string]any{"conditions": nodeConditions(metav1.Now()), "nodeInfo": nodeInfo()}
	if len(node.Status.Capacity) == 0 {
		patch["capacity"], patch["allocatable"] = nodeRoom, nodeRoom
	}
	if len(node.Status.Addresses) == 0 {
		patch["addresses"] = nodeAddresses(node.Name, inventAddress(node.Name))
		patch["daemonEndpoints"] = kubeletEndpoint
	}
	out, err := json.Marshal(patch)
	return string(out), err
}

// nodeConditions are those of a kubelet that is well.
func nodeConditions(now metav1.Time) []corev1.NodeCondition {
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: now, LastTransitionTime: now}
	}
	return []corev1.NodeCondition{
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", fmt.Sprintf("simulated kubelet %s is posting ready status", kwokVersion)),
	}
}
