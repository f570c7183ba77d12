// Package controller makes the world as BackupPolicies want it: a CronJob beside each policy, and an entry in the catalog
// of backups.
package controller

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	storagev1alpha1 "github.com/apilab/apilab/operator/api/v1alpha1"
)

// Finalizer holds a policy that is being deleted until its entry in the catalog is gone.
const Finalizer = "storage.example.com/catalog"

// FieldManager is the name under which the controller applies. It must never change: what was applied under another name
// would be nobody's.
const FieldManager = "backup-operator"

// BackupPolicyReconciler brings the world one policy nearer to what it wants, at each call.
type BackupPolicyReconciler struct {
	client.Client // reads from the cache, writes to the API server
	Recorder      events.EventRecorder
}

// +kubebuilder:rbac:groups=storage.example.com,resources=backuppolicies,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=storage.example.com,resources=backuppolicies/status,verbs=patch
// +kubebuilder:rbac:groups=storage.example.com,resources=backuppolicies/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=cronjobs,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",namespace=backup-catalog,resources=configmaps,verbs=get;list;watch;create;patch;delete

// conflictPause is long enough for the cache to hear of the write that was first.
const conflictPause = 100 * time.Millisecond

// Reconcile compares what the policy wants with what is there, and writes the difference. It is told which policy, and
// never what happened to it: everything that it needs to know it reads.
func (r *BackupPolicyReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	policy := &storagev1alpha1.BackupPolicy{}
	if err := r.Get(ctx, req.NamespacedName, policy); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err) // deleted since: there is nothing left to do
	}
	var err error
	if policy.DeletionTimestamp.IsZero() {
		err = r.follow(ctx, policy)
	} else {
		err = r.finalize(ctx, policy)
	}
	if apierrors.IsConflict(err) {
		// What was read is not true any more, perhaps by our own last write. That is no failure: begin anew, from what is
		// true by then. To wait for news instead would be to wait for ever, where the news is none that wakes us.
		logf.FromContext(ctx).Info("Somebody was faster", "conflict", err.Error())
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	}
	return ctrl.Result{}, err
}

// follow makes the world as a policy wants it that is there to stay, and says so in its status.
func (r *BackupPolicyReconciler) follow(ctx context.Context, policy *storagev1alpha1.BackupPolicy) error {
	// First the finalizer, then what it stands for: in the other order the policy could go between the two.
	if err := r.addFinalizer(ctx, policy); err != nil {
		return err
	}
	before := policy.DeepCopy()
	cronJob, o, err := r.reconcile(ctx, policy)
	setStatus(policy, cronJob, o)
	if statusErr := r.patchStatus(ctx, before, policy); statusErr != nil {
		return statusErr
	}
	return err
}

// reconcile makes the CronJob and the catalog entry. The error is one that another attempt may mend, or a terminal one.
func (r *BackupPolicyReconciler) reconcile(ctx context.Context, policy *storagev1alpha1.BackupPolicy) (*batchv1.CronJob, outcome, error) {
	cronJob := &batchv1.CronJob{}
	err := r.Get(ctx, client.ObjectKey{Namespace: policy.Namespace, Name: CronJobName(policy)}, cronJob)
	switch {
	case apierrors.IsNotFound(err):
		cronJob = nil
	case err != nil:
		return nil, notReady(storagev1alpha1.ReasonFailed, "%v", err), fmt.Errorf("get CronJob: %w", err)
	case !metav1.IsControlledBy(cronJob, policy):
		// Not ours to change. When it is gone, nobody tells us, for it is not ours to watch either: come back.
		o := notReady(storagev1alpha1.ReasonNameTaken, "There is a CronJob %s that does not belong to this policy.", cronJob.Name)
		r.warn(policy, o)
		return nil, o, fmt.Errorf("the name of CronJob %s is taken", cronJob.Name)
	}
	if err := r.applyCatalogEntry(ctx, policy); err != nil {
		return r.failed(policy, cronJob, fmt.Errorf("apply catalog entry: %w", err))
	}
	if err := r.applyCronJob(ctx, policy, cronJob); err != nil {
		return r.failed(policy, cronJob, fmt.Errorf("apply CronJob: %w", err))
	}
	if cronJob == nil {
		cronJob = &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: CronJobName(policy)}}
	}
	return cronJob, done(policy), nil
}

// failed tells what can be mended by waiting from what cannot: the same spec would be refused again and again.
func (r *BackupPolicyReconciler) failed(policy *storagev1alpha1.BackupPolicy, cronJob *batchv1.CronJob, err error) (*batchv1.CronJob, outcome, error) {
	if apierrors.IsInvalid(err) {
		o := notReady(storagev1alpha1.ReasonRefused, "%v", err)
		r.warn(policy, o)
		return cronJob, o, reconcile.TerminalError(err)
	}
	return cronJob, notReady(storagev1alpha1.ReasonFailed, "%v", err), err
}

// applyCronJob sends the controller's opinion on the CronJob, unless the CronJob says that it has it already.
func (r *BackupPolicyReconciler) applyCronJob(ctx context.Context, policy *storagev1alpha1.BackupPolicy, current *batchv1.CronJob) error {
	desired := desiredCronJob(policy)
	if current != nil {
		// What we applied before and still own: a field that somebody else has changed since is theirs, and missing here.
		applied, err := batchv1ac.ExtractCronJob(current, FieldManager)
		if err != nil {
			return err
		}
		if equality.Semantic.DeepEqual(applied, desired) {
			return nil
		}
	}
	if err := r.Apply(ctx, desired, client.FieldOwner(FieldManager), client.ForceOwnership); err != nil {
		return err
	}
	logf.FromContext(ctx).Info("Applied CronJob", "cronJob", *desired.Name, "isNew", current == nil)
	reason := "CronJobChanged"
	if current == nil {
		reason = "CronJobCreated"
	}
	r.Recorder.Eventf(policy, nil, corev1.EventTypeNormal, reason, "ApplyCronJob", "CronJob %s has the schedule %q", *desired.Name, policy.Spec.Schedule)
	return nil
}

func (r *BackupPolicyReconciler) applyCatalogEntry(ctx context.Context, policy *storagev1alpha1.BackupPolicy) error {
	desired := desiredCatalogEntry(policy)
	current := &corev1.ConfigMap{}
	err := r.Get(ctx, client.ObjectKey{Namespace: CatalogNamespace, Name: CatalogName(policy)}, current)
	switch {
	case err == nil:
		applied, err := corev1ac.ExtractConfigMap(current, FieldManager)
		if err != nil {
			return err
		}
		if equality.Semantic.DeepEqual(applied, desired) {
			return nil
		}
	case !apierrors.IsNotFound(err):
		return err
	}
	return r.Apply(ctx, desired, client.FieldOwner(FieldManager), client.ForceOwnership)
}

// finalize cleans up what the garbage collector cannot, and then lets the policy go.
func (r *BackupPolicyReconciler) finalize(ctx context.Context, policy *storagev1alpha1.BackupPolicy) error {
	if !controllerutil.ContainsFinalizer(policy, Finalizer) {
		return nil // others may still hold it
	}
	if err := r.deleteCatalogEntry(ctx, policy); err != nil {
		return err
	}
	before := policy.DeepCopy()
	controllerutil.RemoveFinalizer(policy, Finalizer)
	// A policy that is gone was let go by the last pass, which this one's cache did not know yet.
	if err := client.IgnoreNotFound(r.Patch(ctx, policy, locked(before))); err != nil {
		return fmt.Errorf("remove finalizer: %w", err)
	}
	return nil
}

func (r *BackupPolicyReconciler) addFinalizer(ctx context.Context, policy *storagev1alpha1.BackupPolicy) error {
	before := policy.DeepCopy()
	if !controllerutil.AddFinalizer(policy, Finalizer) {
		return nil
	}
	if err := r.Patch(ctx, policy, locked(before)); err != nil {
		return fmt.Errorf("add finalizer: %w", err)
	}
	return nil
}

// patchStatus writes the status if the pass has changed it.
func (r *BackupPolicyReconciler) patchStatus(ctx context.Context, before, policy *storagev1alpha1.BackupPolicy) error {
	if equality.Semantic.DeepEqual(before.Status, policy.Status) {
		return nil
	}
	if err := r.Status().Patch(ctx, policy, locked(before)); err != nil {
		return fmt.Errorf("patch status: %w", err)
	}
	return nil
}

// locked is a merge patch of what has changed since before. A merge patch replaces lists whole, and finalizers and
// conditions are lists with several authors: so it holds only for the version that was read.
func locked(before *storagev1alpha1.BackupPolicy) client.Patch {
	return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
}

// warn records an Event for an outcome that the policy's status does not say yet.
func (r *BackupPolicyReconciler) warn(policy *storagev1alpha1.BackupPolicy, o outcome) {
	for _, c := range policy.Status.Conditions {
		if c.Type == storagev1alpha1.ConditionReady && c.Reason == o.reason && c.ObservedGeneration == policy.Generation {
			return
		}
	}
	r.Recorder.Eventf(policy, nil, corev1.EventTypeWarning, o.reason, "ApplyCronJob", "%s", o.message)
}

// SetupWithManager says what wakes the controller.
func (r *BackupPolicyReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("backuppolicy").
		// Our own writes to the status, and labels, do not move the generation; a deletion does.
		For(&storagev1alpha1.BackupPolicy{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&batchv1.CronJob{}).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(policyOfEntry)).
		Complete(r)
}
