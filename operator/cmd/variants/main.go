// Command variants runs the reference operator, or one with a known flaw. The referee's exercises are proved with it: each
// flaw has to be caught by the check that is there for it. It is no example, and never leaves the tests.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	storagev1alpha1 "github.com/apilab/apilab/operator/api/v1alpha1"
	"github.com/apilab/apilab/operator/internal/controller"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "variants:", err)
		os.Exit(1)
	}
}

func run() error {
	names := slices.Sorted(maps.Keys(flaws))
	variant := flag.String("variant", "", "the flaw; empty: none. One of "+strings.Join(names, ", "))
	away := flag.String("away", "", "a namespace: stop when all its policies are Ready for the first time, and start again --for later")
	pause := flag.Duration("for", 5*time.Second, "how long to stop")
	flag.Parse()
	if _, ok := flaws[*variant]; *variant != "" && !ok {
		return fmt.Errorf("there is no variant %q", *variant)
	}
	ctrl.SetLogger(zap.New())
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	rest.AddUserAgent(cfg, "backup-operator")
	ctx := ctrl.SetupSignalHandler()
	if *away != "" {
		if err := untilReady(ctx, cfg, *variant, *away); err != nil {
			return err
		}
		fmt.Println("stopped")
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(*pause):
		}
		fmt.Println("started again")
	}
	mgr, err := newManager(cfg, *variant)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func newManager(cfg *rest.Config, variant string) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(storagev1alpha1.AddToScheme(scheme))
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: scheme, Cache: controller.CacheOptions(), Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)}, // two in one process, one after the other
	})
	if err != nil {
		return nil, err
	}
	reconciler := controller.BackupPolicyReconciler{Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder("backup-operator")}
	if variant == "" {
		return mgr, reconciler.SetupWithManager(mgr)
	}
	return mgr, flaws[variant](&flawed{BackupPolicyReconciler: reconciler}).setup(mgr)
}

// untilReady runs a manager until the policies of the namespace are Ready.
func untilReady(ctx context.Context, cfg *rest.Config, variant, namespace string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	mgr, err := newManager(cfg, variant)
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(mgr).Named("away").For(&storagev1alpha1.BackupPolicy{}).
		Complete(allReady(mgr, namespace, stop))
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
