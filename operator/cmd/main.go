// Command manager runs the controllers of the backup operator until it is told to stop.
package main

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	storagev1alpha1 "github.com/apilab/apilab/operator/api/v1alpha1"
	"github.com/apilab/apilab/operator/internal/controller"
)

const name = "backup-operator"

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

func run() error {
	var metrics, probes string
	var elect bool
	flag.StringVar(&metrics, "metrics-bind-address", "0", "address of the metrics, such as :8080; 0 serves none")
	flag.StringVar(&probes, "health-probe-bind-address", "0", "address of /healthz and /readyz, such as :8081; 0 serves none")
	flag.BoolVar(&elect, "leader-elect", false, "work only while holding the lease, so that of several copies one works")
	options := zap.Options{}
	options.BindFlags(flag.CommandLine) // beside --kubeconfig, which controller-runtime brings
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&options)))

	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find a cluster: %w", err)
	}
	rest.AddUserAgent(config, name) // who we are, in the API server's audit log
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(storagev1alpha1.AddToScheme(scheme))
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme,
		Cache:                  controller.CacheOptions(),
		Metrics:                metricsserver.Options{BindAddress: metrics},
		HealthProbeBindAddress: probes,
		LeaderElection:         elect,
		LeaderElectionID:       name + ".storage.example.com",

		LeaderElectionReleaseOnCancel: true, // nothing runs after the manager has stopped
	})
	if err != nil {
		return fmt.Errorf("set up the manager: %w", err)
	}
	reconciler := &controller.BackupPolicyReconciler{Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder(name)}
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("set up the controller: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add health check: %w", err)
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add readiness check: %w", err)
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}
