package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const (
	// etcdEndpoint is the socket in the working directory.
	etcdEndpoint = "unix://" + etcdSocket

	// A member alone elects itself after 1–5 ticks, so the tick is a part of every start; an idle etcd wakes up at each.
	etcdTick     = 100 * time.Millisecond
	etcdElection = 5 * etcdTick

	walSegment  = 4 << 20 // bytes, preallocated twice; upstream's 64 MB are for production's write rates
	raftEntries = 500     // read again at a start, at most
	defragment  = 64      // MiB of the file that must be free to rewrite it at a start
)

type etcd struct{ *embed.Etcd }

// startEtcd starts the store on the working directory and returns when it serves. Nothing is synced to the disk:
// the data survives the death of every process, and a cluster for learning need not survive a power cut.
func startEtcd(ctx context.Context) (etcd, error) {
	wal.SegmentSizeBytes = walSegment
	cfg := embed.NewConfig()
	cfg.Dir = etcdDir
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.New(zapcore.NewCore(
		zapcore.NewConsoleEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(os.Stderr), zap.ErrorLevel)))
	cfg.UnsafeNoFsync = true
	cfg.BackendBatchInterval = time.Second // what is not in its file yet is in its log; an idle etcd looks at each
	cfg.TickMs = uint(etcdTick.Milliseconds())
	cfg.ElectionMs = uint(etcdElection.Milliseconds())
	cfg.QuotaBackendBytes = -1 // none, see quota
	cfg.BootstrapDefragThresholdMegabytes = defragment
	cfg.SnapshotCount = raftEntries
	cfg.SnapshotCatchUpEntries = 1 // beside the last hundred, in memory; upstream keeps 5000 for members that are behind, and there are none
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
	if err := e.disarm(ctx); err != nil {
		e.Close()
		return etcd{}, fmt.Errorf("take back the alarm that it is full: %w", err)
	}
	return e, nil
}

// disarm ends the alarm of a store that has exceeded a quota of etcd's own, which refuses all writes.
func (e etcd) disarm(ctx context.Context) error {
	for _, alarm := range e.Server.Alarms() {
		if alarm.Alarm != pb.AlarmType_NOSPACE {
			continue
		}
		_, err := e.Server.Alarm(ctx, &pb.AlarmRequest{Action: pb.AlarmRequest_DEACTIVATE, MemberID: alarm.MemberID, Alarm: alarm.Alarm})
		if err != nil {
			return err
		}
	}
	return nil
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
