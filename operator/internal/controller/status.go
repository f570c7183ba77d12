package controller

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	storagev1alpha1 "github.com/apilab/apilab/operator/api/v1alpha1"
)

// An outcome is what a pass came to, for the condition Ready.
type outcome struct {
	status  metav1.ConditionStatus
	reason  string
	message string
}

func done(policy *storagev1alpha1.BackupPolicy) outcome {
	if ptr.Deref(policy.Spec.Suspend, false) {
		return outcome{metav1.ConditionTrue, storagev1alpha1.ReasonSuspended, "No backups are made: the policy is suspended."}
	}
	message := fmt.Sprintf("CronJob %s makes a backup at %q.", CronJobName(policy), policy.Spec.Schedule)
	return outcome{metav1.ConditionTrue, storagev1alpha1.ReasonScheduled, message}
}

func notReady(reason, format string, args ...any) outcome {
	return outcome{metav1.ConditionFalse, reason, fmt.Sprintf(format, args...)}
}

// setStatus fills in the status of a pass over this generation of the policy. cronJob is nil where there is none of the
// policy's.
func setStatus(policy *storagev1alpha1.BackupPolicy, cronJob *batchv1.CronJob, o outcome) {
	status := &policy.Status
	status.ObservedGeneration = policy.Generation
	status.CronJobName = ""
	if cronJob != nil {
		status.CronJobName = cronJob.Name
		if last := cronJob.Status.LastSuccessfulTime; last != nil {
			status.LastBackupTime = last
		}
	}
	// lastTransitionTime moves only when the condition's status changes: SetStatusCondition sees to it.
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: storagev1alpha1.ConditionReady, Status: o.status, Reason: o.reason, Message: o.message,
		ObservedGeneration: policy.Generation,
	})
}
