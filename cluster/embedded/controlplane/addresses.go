package controlplane

import (
	"context"
	"fmt"
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// defaultPodCIDR is for pods on nodes without a range of their own, as those that a learner makes.
const defaultPodCIDR = "10.244.240.0/20"

// addresses gives pods their IP addresses, and knows those of the nodes. KWOK's own pools forget at a restart what they
// gave out before. The zero value for kube is not usable; see newAddresses.
type addresses struct {
	kube kubernetes.Interface

	mu    sync.Mutex
	nodes map[string]nodeAddress
	last  map[netip.Prefix]netip.Addr // given out last, per range
	used  map[netip.Addr]bool         // as of the last time that a range was used up, or the start
}

type nodeAddress struct {
	ip   string
	pods netip.Prefix
}

func newAddresses(kube kubernetes.Interface) *addresses {
	return &addresses{kube: kube, nodes: map[string]nodeAddress{}, last: map[netip.Prefix]netip.Addr{}}
}

// node returns the node's own address and the range of its pods.
func (a *addresses) node(ctx context.Context, name string) (nodeAddress, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lookup(ctx, name)
}

// pod returns the address of a pod: the one it has, else a free one of its node's range.
func (a *addresses) pod(ctx context.Context, pod *corev1.Pod) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	node, err := a.lookup(ctx, pod.Spec.NodeName)
	if err != nil {
		return "", err
	}
	if pod.Spec.HostNetwork {
		return node.ip, nil
	}
	if pod.Status.PodIP != "" {
		return pod.Status.PodIP, nil
	}
	if a.used == nil {
		if err := a.learn(ctx); err != nil {
			return "", err
		}
	}
	ip, wrapped := a.last[node.pods], false
	if !ip.IsValid() {
		ip = node.pods.Addr()
	}
	for {
		if ip = ip.Next(); node.pods.Contains(ip.Next()) {
			if !a.used[ip] {
				a.last[node.pods] = ip
				return ip.String(), nil
			}
			continue
		}
		if wrapped {
			return "", fmt.Errorf("no free pod address in %s", node.pods)
		}
		if err := a.learn(ctx); err != nil {
			return "", err
		}
		ip, wrapped = node.pods.Addr(), true
	}
}

// learn lists the addresses in use.
func (a *addresses) learn(ctx context.Context) error {
	list, err := a.kube.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the pods' addresses: %w", err)
	}
	a.used = map[netip.Addr]bool{}
	for _, pod := range list.Items {
		if ip, err := netip.ParseAddr(pod.Status.PodIP); err == nil {
			a.used[ip] = true
		}
	}
	return nil
}

func (a *addresses) lookup(ctx context.Context, name string) (nodeAddress, error) {
	if known, ok := a.nodes[name]; ok {
		return known, nil
	}
	node, err := a.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nodeAddress{}, err
	}
	found := nodeAddress{pods: netip.MustParsePrefix(defaultPodCIDR)}
	if prefix, err := netip.ParsePrefix(node.Spec.PodCIDR); err == nil {
		found.pods = prefix
	}
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			found.ip = address.Address
		}
	}
	if found.ip != "" {
		a.nodes[name] = found
	}
	return found, nil
}
