package controller

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	storagev1alpha1 "github.com/apilab/apilab/operator/api/v1alpha1"
)

// Image is what the CronJob runs.
const Image = "registry.example.com/backup-tool:1.4"

// CronJobName is the name of the CronJob that makes a policy's backups.
func CronJobName(policy *storagev1alpha1.BackupPolicy) string { return policy.Name + "-backup" }

// desiredCronJob is the controller's whole opinion on the CronJob of a policy, and nothing beyond it: a field that is not
// set here is left to whoever sets it. It depends on nothing but the policy.
func desiredCronJob(policy *storagev1alpha1.BackupPolicy) *batchv1ac.CronJobApplyConfiguration {
	labels := map[string]string{
		"app.kubernetes.io/name":       "backup",
		"app.kubernetes.io/instance":   policy.Name,
		"app.kubernetes.io/managed-by": "backup-operator",
	}
	owner := metav1ac.OwnerReference().
		WithAPIVersion(storagev1alpha1.GroupVersion.String()).WithKind("BackupPolicy").
		WithName(policy.Name).WithUID(policy.UID).
		WithController(true).WithBlockOwnerDeletion(true)
	container := corev1ac.Container().WithName("backup").WithImage(Image).WithArgs(backupArgs(policy)...)
	return batchv1ac.CronJob(CronJobName(policy), policy.Namespace).
		WithLabels(labels).
		WithOwnerReferences(owner).
		WithSpec(batchv1ac.CronJobSpec().
			WithSchedule(policy.Spec.Schedule).
			WithTimeZone("Etc/UTC").
			WithSuspend(ptr.Deref(policy.Spec.Suspend, false)).
			WithJobTemplate(batchv1ac.JobTemplateSpec().WithSpec(batchv1ac.JobSpec().
				WithTemplate(corev1ac.PodTemplateSpec().WithSpec(corev1ac.PodSpec().
					WithRestartPolicy(corev1.RestartPolicyOnFailure).
					WithContainers(container))))))
}

func backupArgs(policy *storagev1alpha1.BackupPolicy) []string {
	args := []string{
		fmt.Sprintf("--retention-days=%d", policy.Spec.RetentionDays),
		fmt.Sprintf("--storage-class=%s", policy.Spec.StorageClass),
	}
	targets := policy.Spec.Targets
	if len(targets) == 0 {
		targets = []storagev1alpha1.BackupTarget{{Namespace: policy.Namespace}}
	}
	for _, target := range targets {
		what := []string{target.Namespace}
		if ptr.Deref(target.IncludeSecrets, false) {
			what = append(what, "secrets")
		}
		args = append(args, "--target="+strings.Join(what, "+"))
	}
	return args
}
