package controller

import (
	"context"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	storagev1alpha1 "github.com/apilab/apilab/operator/api/v1alpha1"
)

// What belongs to somebody else stays theirs, and the policy says so.
func TestForeignCronJobIsLeftAlone(t *testing.T) {
	t.Parallel()
	foreign := &batchv1.CronJob{}
	foreign.Namespace, foreign.Name = "bakery", "zopf-backup"
	foreign.Spec.Schedule = "1 1 1 1 *"
	foreign.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = "Never"
	foreign.Spec.JobTemplate.Spec.Template.Spec.Containers = []corev1.Container{{Name: "theirs", Image: "registry.example.com/theirs:1"}}
	if err := k8s.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k8s.Delete(context.Background(), foreign) })
	newPolicy(t, "zopf", map[string]any{"schedule": "0 5 * * *", "retentionDays": 14})
	policy := &storagev1alpha1.BackupPolicy{}
	eventually(t, func(ctx context.Context) error {
		if err := k8s.Get(ctx, client.ObjectKey{Namespace: "bakery", Name: "zopf"}, policy); err != nil {
			return err
		}
		c := meta.FindStatusCondition(policy.Status.Conditions, storagev1alpha1.ConditionReady)
		if c == nil || c.Reason != storagev1alpha1.ReasonNameTaken {
			return fmt.Errorf("the condition is %v", c)
		}
		return nil
	})
	cronJobIs(t, "zopf-backup", hasSchedule("1 1 1 1 *"))
}
