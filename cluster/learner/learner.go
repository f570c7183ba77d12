// Package learner keeps the learner's rights in their cluster: the identity that the gateway forwards their requests with
// is the administrator of a cluster that is all theirs, by a binding as kubeadm makes one for its administrators.
package learner

import (
	"context"
	"log/slog"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/tools/cache"
)

// The learner's identity. Membership of system:masters would put it beyond RBAC.
const (
	User  = "learner"
	Group = "apilab:learners"
)

// Binding makes the learner's group cluster-admin.
func Binding() *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: Group},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: Group}},
	}
}

// Ensure makes the binding what it should be. The role of a binding cannot be changed, so one of another role is replaced.
func Ensure(ctx context.Context, client rbacclient.RbacV1Interface) error {
	bindings, want := client.ClusterRoleBindings(), Binding()
	_, err := bindings.Create(ctx, want, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	has, err := bindings.Get(ctx, want.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	switch {
	case has.RoleRef != want.RoleRef:
		if err := bindings.Delete(ctx, want.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(has.UID))}); err != nil {
			return err
		}
		_, err = bindings.Create(ctx, want, metav1.CreateOptions{})
	case !equality.Semantic.DeepEqual(has.Subjects, want.Subjects):
		has.Subjects = want.Subjects
		_, err = bindings.Update(ctx, has, metav1.UpdateOptions{})
	}
	return err
}

// Keep restores the binding whenever the learner changes or deletes it, until ctx ends: they could not do so themselves,
// and would be locked out. backoff is how often a restoration is tried.
func Keep(ctx context.Context, client rbacclient.RbacV1Interface, backoff wait.Backoff, log *slog.Logger) {
	restore := func() {
		var last error
		err := wait.ExponentialBackoffWithContext(ctx, backoff, func(ctx context.Context) (bool, error) {
			last = Ensure(ctx, client)
			return last == nil, nil
		})
		if err != nil && ctx.Err() == nil {
			log.Error("restore the learner's rights", "err", last)
		}
	}
	name := fields.OneTermEqualSelector(metav1.ObjectNameField, Group)
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(client.RESTClient(), "clusterrolebindings", metav1.NamespaceAll, name),
		ObjectType:    &rbacv1.ClusterRoleBinding{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { restore() }, // one that the learner made in its place
			UpdateFunc: func(any, any) { restore() },
			DeleteFunc: func(any) { restore() },
		},
	})
	informer.RunWithContext(ctx)
}
