// Package controller makes the world as BackupPolicies want it.
package controller

import (
	"context"

	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	storagev1alpha1 "github.com/apilab/apilab/operator/skeleton/api/v1alpha1"
)

// BackupPolicyReconciler brings the world one policy nearer to what it wants, at each call.
type BackupPolicyReconciler struct {
	client.Client // reads from the cache, writes to the API server
	Recorder      events.EventRecorder
}

// TODO(rbac): a marker for each thing that the operator does to the cluster. Then: make manifests
// +kubebuilder:rbac:groups=storage.example.com,resources=backuppolicies,verbs=get;list;watch

// Reconcile compares what the policy wants with what is there, and writes the difference. It is told which policy, and
// never what happened to it: everything that it needs to know it reads.
func (r *BackupPolicyReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	policy := &storagev1alpha1.BackupPolicy{}
	if err := r.Get(ctx, req.NamespacedName, policy); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err) // deleted since: there is nothing left to do
	}
	logf.FromContext(ctx).Info("Saw a policy", "schedule", policy.Spec.Schedule)

	// TODO(finalizer): if the policy is being deleted, clean up in the catalog, and let it go.
	// TODO(reconciler): make the CronJob <name>-backup as the policy wants it: it may be missing, or differ.
	// TODO(owner): the CronJob belongs to the policy.
	// TODO(status): say what you did, and of which generation.
	// TODO(events): tell it, where something was done.
	return ctrl.Result{}, nil
}

// CacheOptions says which objects the manager keeps in memory when they are read.
func CacheOptions() cache.Options {
	// TODO(finalizer): of the ConfigMaps, only those of the catalog.
	return cache.Options{}
}

// SetupWithManager says what wakes the controller.
func (r *BackupPolicyReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("backuppolicy").
		For(&storagev1alpha1.BackupPolicy{}).
		// TODO(owns): what happens to the CronJob is news as well.
		Complete(r)
}
