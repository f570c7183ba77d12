package main

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	storagev1alpha1 "github.com/apilab/apilab/operator/api/v1alpha1"
	"github.com/apilab/apilab/operator/internal/controller"
)

// flaws are what goes wrong in operators, each alone in one that does everything else.
var flaws = map[string]func(*flawed) *flawed{
	// None: another right operator than the reference, so that the referee is not one for the reference's style alone.
	"create-or-update": func(f *flawed) *flawed { return f },
	// Compares two pointers to bool: they are never equal, so each pass updates the CronJob.
	"pointer-compare": func(f *flawed) *flawed { f.comparePointers = true; return f },
	// Writes the time of the pass into the status, and so wakes itself.
	"hot-loop": func(f *flawed) *flawed { f.stampStatus, f.wokenByStatus = true, true; return f },
	// The CronJob belongs to nobody.
	"no-owner": func(f *flawed) *flawed { f.noOwner = true; return f },
	// Is not woken by what happens to the CronJob.
	"no-owns": func(f *flawed) *flawed { f.noOwns = true; return f },
	// Creates the CronJob, and never looks at it again.
	"creates-only": func(f *flawed) *flawed { f.createsOnly = true; return f },
	// Follows the schedule alone.
	"ignores-suspend": func(f *flawed) *flawed { f.ignoresSuspend = true; return f },
	// Does not say which generation its status speaks of.
	"no-observed-generation": func(f *flawed) *flawed { f.noObservedGeneration = true; return f },
	// Says Ready before it has made anything, and also when that fails.
	"always-ready": func(f *flawed) *flawed { f.alwaysReady = true; return f },
	// Takes a conflict for somebody else's success.
	"gives-up-on-conflict": func(f *flawed) *flawed { f.givesUp = true; return f },
	// Puts the CronJob as it builds it, without a look at what others wrote into it.
	"overwrites": func(f *flawed) *flawed { f.overwrites = true; return f },
	// Cleans up, and never removes its finalizer.
	"finalizer-stays": func(f *flawed) *flawed { f.finalizerStays = true; return f },
	// Has no finalizer, and so leaves the catalog as it was.
	"no-finalizer": func(f *flawed) *flawed { f.noFinalizer = true; return f },
	// Writes the defaults that it filled in into the user's spec.
	"writes-defaults": func(f *flawed) *flawed { f.writesDefaults = true; return f },
	// Records no Events.
	"silent": func(f *flawed) *flawed { f.silent = true; return f },
	// Records an Event in each pass.
	"chatty": func(f *flawed) *flawed { f.chatty = true; return f },
}

// flawed is an operator in the style of create-or-update.
type flawed struct {
	controller.BackupPolicyReconciler
	old record.EventRecorder // the one that older operators use, which folds nothing into series

	comparePointers, stampStatus, wokenByStatus, noOwner, noOwns, createsOnly, ignoresSuspend, noObservedGeneration, alwaysReady,
	givesUp, overwrites, finalizerStays, noFinalizer, writesDefaults, silent, chatty bool
}

func (f *flawed) setup(mgr ctrl.Manager) error {
	f.old = mgr.GetEventRecorderFor("backup-operator") //lint:ignore SA1019 as in older operators
	var predicates []builder.ForOption
	if !f.wokenByStatus {
		predicates = append(predicates, builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	}
	b := ctrl.NewControllerManagedBy(mgr).Named("backuppolicy").For(&storagev1alpha1.BackupPolicy{}, predicates...)
	switch {
	case f.noOwns:
	case f.noOwner: // so that this flaw is the owner reference alone
		b = b.Watches(&batchv1.CronJob{}, handler.EnqueueRequestsFromMapFunc(policyOfLabel))
	default:
		b = b.Owns(&batchv1.CronJob{})
	}
	return b.Complete(f)
}

const policyLabel = "app.kubernetes.io/instance"

func policyOfLabel(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: o.GetLabels()[policyLabel]}}}
}

func (f *flawed) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	policy := &storagev1alpha1.BackupPolicy{}
	if err := f.Get(ctx, req.NamespacedName, policy); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !policy.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, f.finalize(ctx, policy)
	}
	if f.writesDefaults && len(policy.Spec.Targets) == 0 {
		policy.Spec.Targets = []storagev1alpha1.BackupTarget{{Namespace: policy.Namespace}}
		if err := f.Update(ctx, policy); err != nil {
			return ctrl.Result{}, err
		}
	}
	if !f.noFinalizer && controllerutil.AddFinalizer(policy, controller.Finalizer) {
		if err := f.Update(ctx, policy); err != nil {
			return ctrl.Result{}, err
		}
	}
	before := policy.DeepCopy()
	if f.alwaysReady {
		f.setStatus(policy, nil)
		if err := f.Status().Patch(ctx, policy, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, err
		}
		before = policy.DeepCopy()
	}
	err := f.catalog(ctx, policy)
	if err == nil {
		err = f.cronJob(ctx, policy)
	}
	f.setStatus(policy, err)
	if !equality.Semantic.DeepEqual(before.Status, policy.Status) {
		statusErr := f.Status().Update(ctx, policy)
		if f.givesUp && apierrors.IsConflict(statusErr) {
			return ctrl.Result{}, nil
		}
		if err == nil {
			err = statusErr
		}
	}
	if f.chatty {
		f.old.Eventf(policy, corev1.EventTypeNormal, "Reconciled", "The policy was reconciled at %s", time.Now())
	}
	return ctrl.Result{}, err
}

func (f *flawed) finalize(ctx context.Context, policy *storagev1alpha1.BackupPolicy) error {
	if !controllerutil.ContainsFinalizer(policy, controller.Finalizer) {
		return nil
	}
	entry := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: controller.CatalogNamespace, Name: controller.CatalogName(policy)}}
	if err := client.IgnoreNotFound(f.Delete(ctx, entry)); err != nil {
		return err
	}
	if f.finalizerStays {
		return nil
	}
	controllerutil.RemoveFinalizer(policy, controller.Finalizer)
	return client.IgnoreNotFound(f.Update(ctx, policy))
}

func (f *flawed) catalog(ctx context.Context, policy *storagev1alpha1.BackupPolicy) error {
	entry := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: controller.CatalogNamespace, Name: controller.CatalogName(policy)}}
	_, err := controllerutil.CreateOrUpdate(ctx, f.Client, entry, func() error {
		entry.Data = map[string]string{"namespace": policy.Namespace, "policy": policy.Name, "retentionDays": fmt.Sprint(policy.Spec.RetentionDays)}
		return nil
	})
	return err
}

func (f *flawed) cronJob(ctx context.Context, policy *storagev1alpha1.BackupPolicy) error {
	want := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: policy.Namespace, Name: controller.CronJobName(policy), Labels: map[string]string{policyLabel: policy.Name}},
		Spec: batchv1.CronJobSpec{
			Schedule: policy.Spec.Schedule, Suspend: ptr.To(ptr.Deref(policy.Spec.Suspend, false) && !f.ignoresSuspend),
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyOnFailure,
				Containers:    []corev1.Container{{Name: "backup", Image: controller.Image}},
			}}}},
		},
	}
	if !f.noOwner {
		if err := ctrl.SetControllerReference(policy, want, f.Scheme()); err != nil {
			return err
		}
	}
	have := &batchv1.CronJob{}
	err := f.Get(ctx, client.ObjectKeyFromObject(want), have)
	switch {
	case apierrors.IsNotFound(err):
		err := f.Create(ctx, want)
		if err == nil && !f.silent {
			f.Recorder.Eventf(policy, nil, corev1.EventTypeNormal, "CronJobCreated", "CreateCronJob", "CronJob %s was created", want.Name)
		}
		return err
	case err != nil:
		return err
	case f.createsOnly:
		return nil
	case f.overwrites:
		if have.Spec.Schedule == want.Spec.Schedule && *have.Spec.Suspend == *want.Spec.Suspend {
			return nil
		}
		return f.Update(ctx, want) // without a resourceVersion: whatever is there, this replaces it
	}
	differs := *want.Spec.Suspend != *have.Spec.Suspend || want.Spec.Schedule != have.Spec.Schedule
	if f.comparePointers {
		differs = want.Spec.Suspend != have.Spec.Suspend || want.Spec.Schedule != have.Spec.Schedule
	}
	if !differs {
		return nil
	}
	have.Spec.Schedule, have.Spec.Suspend = want.Spec.Schedule, want.Spec.Suspend
	return f.Update(ctx, have)
}

func (f *flawed) setStatus(policy *storagev1alpha1.BackupPolicy, err error) {
	ready := metav1.Condition{
		Type: storagev1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: storagev1alpha1.ReasonScheduled,
		Message: "Backups are scheduled.", ObservedGeneration: policy.Generation,
	}
	if err != nil && !f.alwaysReady {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, storagev1alpha1.ReasonFailed, err.Error()
	}
	policy.Status.ObservedGeneration = policy.Generation
	if f.noObservedGeneration {
		ready.ObservedGeneration, policy.Status.ObservedGeneration = 0, 0
	}
	if f.stampStatus {
		ready.Message = "Reconciled at " + time.Now().String()
	}
	policy.Status.CronJobName = controller.CronJobName(policy)
	meta.SetStatusCondition(&policy.Status.Conditions, ready)
}

// allReady stops when all policies of the namespace are Ready.
func allReady(mgr ctrl.Manager, namespace string, stop func()) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
		policies := &storagev1alpha1.BackupPolicyList{}
		if err := mgr.GetClient().List(ctx, policies, client.InNamespace(namespace)); err != nil || len(policies.Items) == 0 {
			return ctrl.Result{}, err
		}
		for _, policy := range policies.Items {
			if !meta.IsStatusConditionTrue(policy.Status.Conditions, storagev1alpha1.ConditionReady) {
				return ctrl.Result{}, nil
			}
		}
		stop()
		return ctrl.Result{}, nil
	})
}
