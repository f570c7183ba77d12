package controlplane

import (
	"context"
	"log/slog"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	utilwait "k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/apilab/apilab/cluster/embedded/pki"
)

// learnerBinding makes the learner's group cluster-admin.
func learnerBinding() *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: pki.LearnersGroup},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: pki.LearnersGroup}},
	}
}

// ensureLearner makes the binding what it should be. The role of a binding cannot be changed, so one of another role is replaced.
func (c *clients) ensureLearner(ctx context.Context) error {
	bindings, want := c.kube.RbacV1().ClusterRoleBindings(), learnerBinding()
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

// keepLearner restores the binding whenever the learner changes or deletes it, until ctx ends: they could not do so
// themselves, and would be locked out of a cluster that is all theirs.
func (c *clients) keepLearner(ctx context.Context) {
	restore := func() {
		backoff := utilwait.Backoff{Duration: poll, Factor: 2, Steps: 10}
		var last error
		err := utilwait.ExponentialBackoffWithContext(ctx, backoff, func(ctx context.Context) (bool, error) {
			last = c.ensureLearner(ctx)
			return last == nil, nil
		})
		if err != nil && ctx.Err() == nil {
			slog.Error("restore the learner's rights", "err", last)
		}
	}
	name := fields.OneTermEqualSelector(metav1.ObjectNameField, pki.LearnersGroup)
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(c.kube.RbacV1().RESTClient(), "clusterrolebindings", metav1.NamespaceAll, name),
		ObjectType:    &rbacv1.ClusterRoleBinding{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { restore() }, // one that the learner made in its place
			UpdateFunc: func(any, any) { restore() },
			DeleteFunc: func(any) { restore() },
		},
	})
	informer.RunWithContext(ctx)
}
