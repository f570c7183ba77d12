package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"syscall"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/server/egressselector"
)

// An egress makes all the connections that an object in the cluster can make the API server open: to webhooks, to
// aggregated API servers, to nodes, pods and services. A learner writes these objects, and the server runs on somebody's
// machine, so it reaches only the learner's own listeners, which are unix sockets, and the stub kubelets.
type egress struct {
	ports   string        // folder of sockets, see cluster.Spec
	kubelet *pipeListener // answers for every node
}

func newEgress(c *controlPlane) (*egress, error) {
	kubelet, err := startStubKubelet(c.pki)
	if err != nil {
		return nil, fmt.Errorf("start the stub kubelet: %w", err)
	}
	return &egress{ports: c.config.Ports, kubelet: kubelet}, nil
}

func egressDialers(e *egress) map[egressselector.EgressType]utilnet.DialFunc {
	return map[egressselector.EgressType]utilnet.DialFunc{
		egressselector.Cluster:      e.dial,
		egressselector.ControlPlane: e.dial,
	}
}

// dial opens the connection, or refuses with a sentence that ends up in the learner's error message.
func (e *egress) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if !loopback(host) {
		if port == strconv.Itoa(kubeletPort) {
			return e.kubelet.dial(ctx)
		}
		return nil, fmt.Errorf("%s is not reachable: pods and services of this cluster are simulated, and its API server connects only to what you run on localhost", address)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, fmt.Errorf("port %q of %s is not a number", port, host)
	}
	conn, err := dialUnix(ctx, filepath.Join(e.ports, port+".sock"))
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) || e.ports == "" {
		return nil, fmt.Errorf("connection refused: nothing of yours listens on localhost:%s", port)
	}
	return conn, err
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
