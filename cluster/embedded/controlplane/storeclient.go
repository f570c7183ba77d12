package controlplane

import (
	"context"
	_ "unsafe" // for go:linkname

	clientv3 "go.etcd.io/etcd/client/v3"
	etcdkubernetes "go.etcd.io/etcd/client/v3/kubernetes"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/feature"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

// newStoreClient is how the API server connects to etcd, once for each of its resource types. Upstream has no other way
// to pass it a client.
//
//go:linkname newStoreClient k8s.io/apiserver/pkg/storage/storagebackend/factory.newETCD3Client
var newStoreClient func(storagebackend.TransportConfig) (*etcdkubernetes.Client, error)

// connectInside lets the API server call etcd's functions instead of its socket: 68 connections with their buffers and a
// thousand goroutines fewer, and no encoding between the two. It is what etcd offers to programs that embed it (v3client).
// The API server's objects may take limit bytes.
func (e etcd) connectInside(ctx context.Context, limit int64) {
	bound := &quota{etcd: e, limit: limit}
	shared := v3client.New(e.Server)
	newStoreClient = func(storagebackend.TransportConfig) (*etcdkubernetes.Client, error) {
		c := &etcdkubernetes.Client{Client: clientv3.NewCtxClient(ctx)}
		c.KV, c.Maintenance = shared.KV, shared.Maintenance
		c.Watcher, c.Lease = sharedWatcher{shared.Watcher}, sharedLease{shared.Lease}
		c.Kubernetes = bounded{Interface: c, quota: bound}
		return c, nil
	}
	// The API server asks each endpoint of its client whether it can tell how far a watch is, and this client has none.
	feature.DefaultFeatureSupportChecker.CheckClient(ctx, endpoint{shared}, storage.RequestWatchProgress)
}

// sharedWatcher and sharedLease are one stream to etcd for all resource types; who closes its client closes that of none.
type (
	sharedWatcher struct{ clientv3.Watcher }
	sharedLease   struct{ clientv3.Lease }
)

func (sharedWatcher) Close() error { return nil }
func (sharedLease) Close() error   { return nil }

type endpoint struct{ client *clientv3.Client }

func (endpoint) Endpoints() []string { return []string{etcdEndpoint} }

func (e endpoint) Status(ctx context.Context, name string) (*clientv3.StatusResponse, error) {
	return e.client.Status(ctx, name)
}
