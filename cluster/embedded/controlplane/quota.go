package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	etcdkubernetes "go.etcd.io/etcd/client/v3/kubernetes"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// A quota bounds what the store holds. etcd's own measures the file, which does not shrink when objects are deleted,
// and once exceeded it refuses every write until an administrator compacts, defragments and disarms an alarm. This one
// measures what is in use, makes room itself, and leaves a way out when there is none: to delete, and to update a little,
// which is how finalizers, graceful deletion and the deletion of a namespace work.
type quota struct {
	etcd  etcd
	limit int64 // bytes for the learner's objects and the history

	// admitted are the bytes of objects since used was last brought up to date; the file tells of none until they are committed.
	admitted atomic.Int64

	mu        sync.Mutex
	compacted int64 // revision
	last      time.Time
}

const (
	// reserve is the part of the limit that only the control plane itself may use beyond it, to do its work in a full cluster.
	reserve = 4
	// smallUpdate is the size of an object, in bytes, up to which it may be updated in a full cluster.
	smallUpdate = 64 << 10
	// compactEvery is how often small updates to a full store may remove the history that they make.
	compactEvery = time.Second
	// settling is after how many transactions the pages that one has set free are counted.
	settling = 5
)

// admit returns an error for the API server's client if there is no room for an object of size bytes.
func (q *quota) admit(ctx context.Context, size int64, update bool) error {
	limit := q.limit
	if ofControlPlane(ctx) {
		limit += limit / reserve
	}
	if q.fits(size, limit) {
		return nil
	}
	small := update && size <= smallUpdate
	if err := q.dropHistory(ctx, small); err != nil {
		return fmt.Errorf("make room in the store: %w", err)
	}
	if small || q.fits(size, limit) {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure,
		Code:   http.StatusInsufficientStorage,
		Reason: "InsufficientStorage",
		Message: fmt.Sprintf("the cluster is full: its objects may take %d MiB. Delete objects that you do not need, and go on; or reset the cluster",
			q.limit>>20),
	}}
}

// ofControlPlane tells whether a write is made by a component or the platform.
func ofControlPlane(ctx context.Context) bool {
	who, ok := request.UserFrom(ctx)
	return !ok || slices.Contains(who.GetGroups(), user.SystemPrivilegedGroup)
}

// fits tells whether there is room for size bytes more, and counts them if so.
func (q *quota) fits(size, limit int64) bool {
	if q.used()+q.admitted.Add(size) <= limit {
		return true
	}
	q.etcd.Server.Backend().ForceCommit()
	q.admitted.Store(0)
	if q.used()+size > limit {
		return false
	}
	q.admitted.Add(size)
	return true
}

// used is how many bytes of the file are in use, without what is not committed yet.
func (q *quota) used() int64 { return q.etcd.Server.Backend().SizeInUse() }

// dropHistory compacts all that has been overwritten and deleted, if there is any; seldom means at most every compactEvery.
func (q *quota) dropHistory(ctx context.Context, seldom bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.etcd.Server.KV().Rev()
	if now == q.compacted || seldom && time.Since(q.last) < compactEvery {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // the next writer needs the room as well
	if _, err := q.etcd.Server.Compact(ctx, &pb.CompactionRequest{Revision: now, Physical: true}); err != nil && !errors.Is(err, mvcc.ErrCompacted) {
		return err
	}
	// Pages that a transaction of the file sets free are counted as such when the next ones have been committed, and the
	// readers of its time are gone.
	for range settling {
		put, err := q.etcd.Server.Put(ctx, &pb.PutRequest{Key: []byte("apilab/room")})
		if err != nil {
			return err
		}
		now = put.Header.Revision
		q.etcd.Server.Backend().ForceCommit()
	}
	q.compacted, q.last = now, time.Now()
	return nil
}

// bounded is the API server's way to etcd with the quota in it.
type bounded struct {
	etcdkubernetes.Interface
	quota *quota
}

func (b bounded) OptimisticPut(ctx context.Context, key string, value []byte, expectedRevision int64, opts etcdkubernetes.PutOptions) (etcdkubernetes.PutResponse, error) {
	if err := b.quota.admit(ctx, int64(len(key)+len(value)), expectedRevision != 0); err != nil {
		return etcdkubernetes.PutResponse{}, err
	}
	return b.Interface.OptimisticPut(ctx, key, value, expectedRevision, opts)
}
