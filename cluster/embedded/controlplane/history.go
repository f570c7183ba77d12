package controlplane

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// firstRevision is where the history of a cluster without a template begins; what is older has been compacted.
const firstRevision = 100

// ownKeys are what a template's cluster had of its own: its nodes, what they and its server held, and all that names its
// certificates. The controllers of a new cluster make their own.
var ownKeys = []string{
	"/registry/minions/",
	"/registry/csinodes/",
	"/registry/events/",
	"/registry/leases/",
	"/registry/configmaps/default/kube-root-ca.crt",
	"/registry/configmaps/kube-node-lease/kube-root-ca.crt",
	"/registry/configmaps/kube-public/kube-root-ca.crt",
	"/registry/configmaps/kube-system/kube-root-ca.crt",
	"/registry/configmaps/kube-system/extension-apiserver-authentication",
}

// beginHistory gives the store of a new cluster a past that is compacted: its objects then have resource versions of a
// few hundred, and a watch from version 1 is answered 410 Gone, as on any cluster that has lived. A store that is
// neither empty nor a copy of a template is left alone.
func (e etcd) beginHistory(ctx context.Context, template bool) error {
	kv := e.Server
	got, err := kv.Range(ctx, &pb.RangeRequest{Key: []byte{0}, RangeEnd: []byte{0}, Limit: 1, KeysOnly: true})
	if err != nil {
		return err
	}
	revision := got.Header.Revision
	if !template && revision >= firstRevision {
		return nil
	}
	if template {
		for _, key := range ownKeys {
			gone, err := kv.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte(key), RangeEnd: []byte(clientv3.GetPrefixRangeEnd(key))})
			if err != nil {
				return err
			}
			revision = gone.Header.Revision
		}
	}
	for key := []byte("apilab/history"); revision < firstRevision; {
		if _, err := kv.Put(ctx, &pb.PutRequest{Key: key}); err != nil {
			return err
		}
		gone, err := kv.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: key})
		if err != nil {
			return err
		}
		revision = gone.Header.Revision
	}
	_, err = kv.Compact(ctx, &pb.CompactionRequest{Revision: revision, Physical: true})
	return err
}
