package controlplane

import (
	"context"
	"fmt"
	"os"

	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"

	"github.com/apilab/apilab/cluster/embedded/pki"
)

const schedulerConfig = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: %q, qps: 200, burst: 400}
`

// runScheduler runs kube-scheduler until ctx ends. It reads these settings from a file only: the flags that look like
// them are deprecated and not read when it is set up by its library.
func runScheduler(ctx context.Context, c *controlPlane) error {
	kubeconfig, err := c.kubeconfig(pki.Scheduler)
	if err != nil {
		return err
	}
	const file = "scheduler.yaml"
	if err := os.WriteFile(file, fmt.Appendf(nil, schedulerConfig, kubeconfig), 0o600); err != nil {
		return err
	}
	o := options.NewOptions()
	o.SecureServing.BindPort = 0
	o.ConfigFile = file
	config, scheduler, err := app.Setup(ctx, o)
	if err != nil {
		return err
	}
	return app.Run(ctx, config, scheduler)
}
