package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

const (
	// etcdEndpoint is the socket in the working directory.
	etcdEndpoint = "unix://" + etcdSocket

	// A member alone elects itself after 1–5 ticks, so the tick is a part of every start; an idle etcd wakes up at each.
	etcdTick     = 100 * time.Millisecond
	etcdElection = 5 * etcdTick

	etcdQuota   = 512 << 20 // bytes; what a learner may store
	walSegment  = 4 << 20   // bytes, preallocated twice; upstream's 64 MB are for production's write rates
	raftEntries = 500       // kept in memory before they are snapshot

	// firstRevision is where a new cluster's history begins; what is older has been compacted.
	firstRevision = 100
)

type etcd struct{ *embed.Etcd }

// startEtcd starts the store on the working directory and returns when it serves. Nothing is synced to the disk:
// the data survives the death of every process, and a cluster for learning need not survive a power cut.
func startEtcd(ctx context.Context) (etcd, error) {
	wal.SegmentSizeBytes = walSegment
	cfg := embed.NewConfig()
	cfg.Dir = etcdDir
	cfg.LogLevel = "error"
	cfg.UnsafeNoFsync = true
	cfg.TickMs = uint(etcdTick.Milliseconds())
	cfg.ElectionMs = uint(etcdElection.Milliseconds())
	cfg.QuotaBackendBytes = etcdQuota
	cfg.SnapshotCount = raftEntries
	cfg.EnableGRPCGateway = false
	client, peer := url.URL{Scheme: "unix", Host: etcdSocket}, url.URL{Scheme: "unix", Host: peerSocket}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)

	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return etcd{}, err
	}
	e := etcd{server}
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		return etcd{}, err
	case <-ctx.Done():
		server.Close()
		return etcd{}, ctx.Err()
	}
	if err := e.beginHistory(ctx); err != nil {
		server.Close()
		return etcd{}, fmt.Errorf("begin the history: %w", err)
	}
	return e, nil
}

// beginHistory gives an empty store a past that is compacted: the first objects of a cluster then have resource versions
// of a few hundred, and a watch from version 1 is answered 410 Gone, as on any cluster that has lived.
func (e etcd) beginHistory(ctx context.Context) error {
	kv := e.Server
	got, err := kv.Range(ctx, &pb.RangeRequest{Key: []byte{0}, RangeEnd: []byte{0}, Limit: 1, KeysOnly: true})
	if err != nil || got.Header.Revision >= firstRevision {
		return err
	}
	key := []byte("apilab/history")
	for revision := got.Header.Revision; revision < firstRevision; {
		put, err := kv.Put(ctx, &pb.PutRequest{Key: key})
		if err != nil {
			return err
		}
		revision = put.Header.Revision
	}
	deleted, err := kv.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: key})
	if err != nil {
		return err
	}
	_, err = kv.Compact(ctx, &pb.CompactionRequest{Revision: deleted.Header.Revision, Physical: true})
	return err
}

// wait returns when the store stopped by itself, or ctx ended.
func (e etcd) wait(ctx context.Context) error {
	select {
	case err := <-e.Err():
		return err
	case <-e.Server.StopNotify():
		return errors.New("server stopped")
	case <-ctx.Done():
		return nil
	}
}
