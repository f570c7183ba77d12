package controlplane

import (
	"context"
	"sync"
	_ "unsafe" // for go:linkname

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	etcdkubernetes "go.etcd.io/etcd/client/v3/kubernetes"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy/adapter"
	"google.golang.org/grpc"
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
	watches := unwaiting{adapter.WatchServerToWatchClient(v3rpc.NewWatchServer(e.Server))}
	newStoreClient = func(storagebackend.TransportConfig) (*etcdkubernetes.Client, error) {
		c := &etcdkubernetes.Client{Client: clientv3.NewCtxClient(ctx)}
		c.KV, c.Maintenance = shared.KV, shared.Maintenance
		c.Watcher, c.Lease = clientv3.NewWatchFromWatchClient(watches, c.Client), sharedLease{shared.Lease}
		c.Kubernetes = bounded{Interface: c, quota: bound}
		return c, nil
	}
	// The API server asks each endpoint of its client whether it can tell how far a watch is, and this client has none.
	feature.DefaultFeatureSupportChecker.CheckClient(ctx, endpoint{shared}, storage.RequestWatchProgress)
}

// sharedLease is that of all resource types; who closes its client closes it for none.
type sharedLease struct{ clientv3.Lease }

func (sharedLease) Close() error { return nil }

// unwaiting is a way to etcd's watches on which who sends does not wait until it is received. Upstream's client both sends
// and receives in one goroutine, as a connection has room for what it sends, and upstream's pipe within a process has none:
// the server that waits to be heard does not listen, so that each would wait for the other for ever.
type unwaiting struct{ pb.WatchClient }

func (c unwaiting) Watch(ctx context.Context, o ...grpc.CallOption) (pb.Watch_WatchClient, error) {
	stream, err := c.WatchClient.Watch(ctx, o...)
	if err != nil {
		return nil, err
	}
	s := &unwaitingStream{Watch_WatchClient: stream, more: make(chan struct{}, 1)}
	go s.pass()
	return s, nil
}

type unwaitingStream struct {
	pb.Watch_WatchClient
	more chan struct{} // something waits

	mu      sync.Mutex
	waiting []*pb.WatchRequest
}

func (s *unwaitingStream) Send(r *pb.WatchRequest) error {
	s.mu.Lock()
	s.waiting = append(s.waiting, r)
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return nil
}

// pass passes requests on, in their order, until the stream ends; the client then hears of its end from Recv.
func (s *unwaitingStream) pass() {
	for {
		select {
		case <-s.more:
		case <-s.Context().Done():
			return
		}
		s.mu.Lock()
		waiting := s.waiting
		s.waiting = nil
		s.mu.Unlock()
		for _, r := range waiting {
			if s.Watch_WatchClient.Send(r) != nil {
				return
			}
		}
	}
}

type endpoint struct{ client *clientv3.Client }

func (endpoint) Endpoints() []string { return []string{etcdEndpoint} }

func (e endpoint) Status(ctx context.Context, name string) (*clientv3.StatusResponse, error) {
	return e.client.Status(ctx, name)
}
