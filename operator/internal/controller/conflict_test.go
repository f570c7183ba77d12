package controller

import (
	"context"
	"errors"
	"testing"

	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	storagev1alpha1 "github.com/apilab/apilab/operator/api/v1alpha1"
)

// Somebody writes the policy between the read and the write of a pass: the API server refuses the write, another pass is
// asked for, and that one gets there.
func TestConflictBeginsAnew(t *testing.T) {
	t.Parallel()
	policy := &storagev1alpha1.BackupPolicy{}
	policy.Namespace, policy.Name = "bakery", "bagel"
	policy.Spec = storagev1alpha1.BackupPolicySpec{Schedule: "0 1 * * *", RetentionDays: 7}
	if err := k8s.Create(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k8s.Delete(context.Background(), policy) })
	cronJobIs(t, "bagel-backup", hasSchedule("0 1 * * *"))
	direct, err := client.NewWithWatch(config, client.Options{Scheme: k8s.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	raced := false
	racing := interceptor.NewClient(direct, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, o, opts...)
			if read, ok := o.(*storagev1alpha1.BackupPolicy); ok {
				read.Status = storagev1alpha1.BackupPolicyStatus{} // so that each pass has a status to write
			}
			return err
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			if !raced {
				raced = true
				patch(t, policy, `{"metadata":{"annotations":{"example.com/first":"me"}}}`)
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	})
	r := &BackupPolicyReconciler{Client: racing, Recorder: events.NewFakeRecorder(100)}
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(policy)}
	if result, err := r.Reconcile(t.Context(), request); err != nil || result.RequeueAfter == 0 || !raced {
		t.Fatalf("the pass that lost the race: %+v, %v; want another pass", result, err)
	}
	eventually(t, func(ctx context.Context) error {
		result, err := r.Reconcile(ctx, request)
		if err == nil && result.RequeueAfter > 0 {
			return errors.New("another conflict")
		}
		return err
	})
}
