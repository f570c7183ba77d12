package controlplane

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	etcdkubernetes "go.etcd.io/etcd/client/v3/kubernetes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

// start starts etcd in the test's own folder.
func start(t *testing.T) (e etcd, stop func()) {
	t.Helper()
	e, err := startEtcd(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(e.Close)
	t.Cleanup(stop)
	return e, stop
}

// TestQuota fills a store, which then takes deletions and what these free.
func TestQuota(t *testing.T) {
	t.Chdir(t.TempDir())
	e, _ := start(t)
	const limit = 8 << 20
	e.connectInside(t.Context(), limit)
	store, err := newStoreClient(storagebackend.TransportConfig{})
	if err != nil {
		t.Fatal(err)
	}
	learner := request.WithUser(t.Context(), &user.DefaultInfo{Name: "learner"})
	big := make([]byte, 1<<20)
	for i := range big {
		big[i] = byte(rand.Int())
	}
	revisions := map[string]int64{}
	put := func(ctx context.Context, key string, value []byte) error {
		got, err := store.Kubernetes.OptimisticPut(ctx, key, value, revisions[key], etcdkubernetes.PutOptions{})
		if err == nil && !got.Succeeded {
			t.Fatalf("conflict at %s", key)
		}
		if err == nil {
			revisions[key] = got.Revision
			e.Server.Backend().ForceCommit() // as it does every 100 ms
		}
		return err
	}
	fill := func(ctx context.Context) (made int, err error) {
		for ; made < 2*limit/len(big); made++ {
			if err := put(ctx, fmt.Sprintf("/%d", len(revisions)), big); err != nil {
				return made, err
			}
		}
		return made, nil
	}

	// History is no burden: it goes when its room is needed.
	for range 3 * limit / len(big) {
		if err := put(learner, "/changing", big); err != nil {
			t.Fatalf("an object that changes: %v", err)
		}
	}
	first, err := fill(learner)
	if apierrors.ReasonForError(err) != "InsufficientStorage" || !strings.Contains(err.Error(), "Delete objects") {
		t.Fatalf("after %d objects: %v", first, err)
	}
	if first < 4 {
		t.Errorf("full with %d objects of 1 MiB in %d MiB", first, limit>>20)
	}
	if err := put(learner, "/1", big); err == nil {
		t.Error("a big update was taken")
	}
	if err := put(learner, "/1", []byte("without finalizers")); err != nil {
		t.Errorf("a small update: %v", err)
	}
	if _, err := fill(learner); err != nil && apierrors.ReasonForError(err) != "InsufficientStorage" {
		t.Error(err)
	}
	if more, err := fill(t.Context()); more == 0 || apierrors.ReasonForError(err) != "InsufficientStorage" {
		t.Errorf("the control plane wrote %d objects more: %v", more, err)
	}
	for key, revision := range revisions {
		if got, err := store.Kubernetes.OptimisticDelete(t.Context(), key, revision, etcdkubernetes.DeleteOptions{}); err != nil || !got.Succeeded {
			t.Fatalf("delete %s: %v, %v", key, got.Succeeded, err)
		}
	}
	clear(revisions)
	if again, err := fill(learner); again < first || apierrors.ReasonForError(err) != "InsufficientStorage" {
		t.Errorf("after the deletion of all, %d objects found room, %d before: %v", again, first, err)
	}
}

// TestAlarm starts a store whose quota was etcd's own, and exceeded.
func TestAlarm(t *testing.T) {
	t.Chdir(t.TempDir())
	before, stop := start(t)
	alarm := &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, MemberID: uint64(before.Server.MemberID()), Alarm: pb.AlarmType_NOSPACE}
	if _, err := before.Server.Alarm(t.Context(), alarm); err != nil {
		t.Fatal(err)
	}
	put := &pb.PutRequest{Key: []byte("key")}
	if _, err := before.Server.Put(t.Context(), put); err == nil {
		t.Fatal("the alarm means nothing")
	}
	stop()
	after, _ := start(t)
	if _, err := after.Server.Put(t.Context(), put); err != nil {
		t.Error(err)
	}
}
