package cluster

import "context"

// Images is what a Cluster has beside, if its nodes run containers.
type Images interface {
	// Platform is what the nodes run programs of, such as "linux/amd64".
	Platform(ctx context.Context) (string, error)
	// LoadImages puts the images of an archive onto every node, so that Pods find them there without a registry. The
	// archive is a file as `docker save` writes it, or in the layout of OCI.
	LoadImages(ctx context.Context, archive string) error
}
