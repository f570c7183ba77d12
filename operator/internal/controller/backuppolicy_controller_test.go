package controller

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The tests know what a policy is to look like and what is to become of it, and nothing of how it is done: policies are
// unstructured here, so that this file compiles whatever the types are.

var policyKind = schema.GroupVersionKind{Group: "storage.example.com", Version: "v1alpha1", Kind: "BackupPolicy"}

// eventually tries until it holds, and fails the test with what it said last when it does not within ten seconds.
func eventually(t *testing.T, holds func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		err := holds(ctx)
		if err == nil {
			return
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("after ten seconds: %v", err)
		}
	}
}

// newPolicy creates a policy of that name, which goes with the test.
func newPolicy(t *testing.T, name string, spec map[string]any) *unstructured.Unstructured {
	t.Helper()
	policy := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	policy.SetGroupVersionKind(policyKind)
	policy.SetNamespace("bakery")
	policy.SetName(name)
	if err := k8s.Create(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k8s.Delete(context.Background(), policy) })
	return policy
}

func patch(t *testing.T, o client.Object, body string) {
	t.Helper()
	if err := k8s.Patch(t.Context(), o, client.RawPatch(types.MergePatchType, []byte(body))); err != nil {
		t.Fatal(err)
	}
}

// cronJobIs waits for a CronJob of that name and says what it is not.
func cronJobIs(t *testing.T, name string, is func(*batchv1.CronJob) error) *batchv1.CronJob {
	t.Helper()
	cronJob := &batchv1.CronJob{}
	eventually(t, func(ctx context.Context) error {
		if err := k8s.Get(ctx, client.ObjectKey{Namespace: "bakery", Name: name}, cronJob); err != nil {
			return err
		}
		return is(cronJob)
	})
	return cronJob
}

func hasSchedule(want string) func(*batchv1.CronJob) error {
	return func(c *batchv1.CronJob) error {
		if c.Spec.Schedule != want {
			return fmt.Errorf("the schedule is %q; want %q", c.Spec.Schedule, want)
		}
		return nil
	}
}

func isSuspended(want bool) func(*batchv1.CronJob) error {
	return func(c *batchv1.CronJob) error {
		if got := c.Spec.Suspend != nil && *c.Spec.Suspend; got != want {
			return fmt.Errorf("suspend is %t; want %t", got, want)
		}
		return nil
	}
}

func TestCronJobFollowsThePolicy(t *testing.T) {
	t.Parallel()
	policy := newPolicy(t, "rye", map[string]any{"schedule": "0 2 * * *", "retentionDays": 14})
	cronJobIs(t, "rye-backup", hasSchedule("0 2 * * *"))
	patch(t, policy, `{"spec":{"schedule":"30 3 * * *"}}`)
	cronJobIs(t, "rye-backup", hasSchedule("30 3 * * *"))
	patch(t, policy, `{"spec":{"suspend":true}}`)
	cronJobIs(t, "rye-backup", isSuspended(true))
	patch(t, policy, `{"spec":{"suspend":false}}`)
	cronJobIs(t, "rye-backup", isSuspended(false))
}

func TestCronJobBelongsToThePolicy(t *testing.T) {
	t.Parallel()
	policy := newPolicy(t, "pumpernickel", map[string]any{"schedule": "45 2 * * *", "retentionDays": 14})
	cronJobIs(t, "pumpernickel-backup", func(c *batchv1.CronJob) error {
		if owner := metav1.GetControllerOf(c); owner == nil || owner.UID != policy.GetUID() {
			return fmt.Errorf("the controller of the CronJob is %v", owner)
		}
		return nil
	})
}

func TestCronJobIsHealed(t *testing.T) {
	t.Parallel()
	newPolicy(t, "focaccia", map[string]any{"schedule": "20 4 * * *", "retentionDays": 14})
	first := cronJobIs(t, "focaccia-backup", hasSchedule("20 4 * * *")).DeepCopy()
	if err := k8s.Delete(t.Context(), first, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
	second := cronJobIs(t, "focaccia-backup", func(c *batchv1.CronJob) error {
		if c.UID == first.UID {
			return fmt.Errorf("it is still the first one")
		}
		return nil
	})
	patch(t, second, `{"spec":{"schedule":"* * * * *"}}`)
	cronJobIs(t, "focaccia-backup", hasSchedule("20 4 * * *"))
}

func TestStatusSpeaksOfTheGeneration(t *testing.T) {
	t.Parallel()
	policy := newPolicy(t, "ciabatta", map[string]any{"schedule": "15 1 * * *", "retentionDays": 14})
	isReady := func(want string) {
		t.Helper()
		eventually(t, func(ctx context.Context) error {
			if err := k8s.Get(ctx, client.ObjectKeyFromObject(policy), policy); err != nil {
				return err
			}
			if observed, _, _ := unstructured.NestedInt64(policy.Object, "status", "observedGeneration"); observed != policy.GetGeneration() {
				return fmt.Errorf("observedGeneration is %d, the generation is %d", observed, policy.GetGeneration())
			}
			conditions, _, _ := unstructured.NestedSlice(policy.Object, "status", "conditions")
			for _, c := range conditions {
				if c := c.(map[string]any); c["type"] == "Ready" && c["status"] == want && c["observedGeneration"] == policy.GetGeneration() {
					return nil
				}
			}
			return fmt.Errorf("no condition says that Ready is %s: %v", want, conditions)
		})
	}
	isReady("True")
	patch(t, policy, `{"spec":{"schedule":"61 * * * *"}}`) // the CRD takes it, CronJobs do not
	isReady("False")
	patch(t, policy, `{"spec":{"schedule":"16 1 * * *"}}`)
	isReady("True")
}

func TestCatalogIsCleanedUp(t *testing.T) {
	t.Parallel()
	policy := newPolicy(t, "brioche", map[string]any{"schedule": "10 2 * * *", "retentionDays": 14})
	entry := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "backup-catalog", Name: "bakery.brioche"}}
	eventually(t, func(ctx context.Context) error { return k8s.Get(ctx, client.ObjectKeyFromObject(entry), entry) })
	if err := k8s.Delete(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	for _, o := range []client.Object{entry, policy} {
		eventually(t, func(ctx context.Context) error {
			err := k8s.Get(ctx, client.ObjectKeyFromObject(o), o)
			if apierrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("%s is still there (%v)", o.GetName(), err)
		})
	}
}

func TestNothingIsWrittenWhenNothingChanged(t *testing.T) {
	t.Parallel()
	policy := newPolicy(t, "croissant", map[string]any{"schedule": "0 0 * * 1", "retentionDays": 14})
	cronJob := cronJobIs(t, "croissant-backup", hasSchedule("0 0 * * 1"))
	time.Sleep(time.Second) // for what comes after: the status, and the pass that its news begins
	versions := func() string {
		t.Helper()
		for _, o := range []client.Object{policy, cronJob} {
			if err := k8s.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
				t.Fatal(err)
			}
		}
		return policy.GetResourceVersion() + " " + cronJob.GetResourceVersion()
	}
	before := versions()
	time.Sleep(2 * time.Second)
	if after := versions(); after != before {
		t.Errorf("in two seconds in which nothing happened the versions went from %s to %s", before, after)
	}
}
