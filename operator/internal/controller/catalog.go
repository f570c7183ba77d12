package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	storagev1alpha1 "github.com/apilab/apilab/operator/api/v1alpha1"
)

// CatalogNamespace is where the catalog of backups is kept: one ConfigMap for each policy of any namespace, which whoever
// restores a backup reads. It is outside of the policies' namespaces, where no owner reference reaches.
const CatalogNamespace = "backup-catalog"

const catalogLabel = "storage.example.com/catalog"

// CacheOptions keeps the cache small: reading one ConfigMap through it would otherwise watch, and hold in memory, all of
// the cluster's.
func CacheOptions() cache.Options {
	return cache.Options{ByObject: map[client.Object]cache.ByObject{
		&corev1.ConfigMap{}: {Namespaces: map[string]cache.Config{CatalogNamespace: {}}},
	}}
}

// CatalogName is the name of a policy's entry. A namespace has no dot in its name, so no two policies share one.
func CatalogName(policy *storagev1alpha1.BackupPolicy) string {
	return policy.Namespace + "." + policy.Name
}

func desiredCatalogEntry(policy *storagev1alpha1.BackupPolicy) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap(CatalogName(policy), CatalogNamespace).
		WithLabels(map[string]string{catalogLabel: "entry"}).
		WithData(map[string]string{
			"namespace":     policy.Namespace,
			"policy":        policy.Name,
			"retentionDays": fmt.Sprint(policy.Spec.RetentionDays),
			"storageClass":  string(policy.Spec.StorageClass),
		})
}

// deleteCatalogEntry succeeds when there is no entry any more, whoever deleted it.
func (r *BackupPolicyReconciler) deleteCatalogEntry(ctx context.Context, policy *storagev1alpha1.BackupPolicy) error {
	entry := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: CatalogNamespace, Name: CatalogName(policy)}}
	if err := r.Delete(ctx, entry); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete catalog entry: %w", err)
	}
	return nil
}

// policyOfEntry maps a change of a catalog entry to the policy that it is of.
func policyOfEntry(_ context.Context, entry client.Object) []reconcile.Request {
	data := entry.(*corev1.ConfigMap).Data
	if data["policy"] == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: data["namespace"], Name: data["policy"]}}}
}
