package cluster

import "context"

// Logs is what a Cluster has beside, if its nodes keep logs.
type Logs interface {
	// CollectLogs writes the logs of the nodes, and of what runs in them, as files into a folder, which it makes.
	CollectLogs(ctx context.Context, dir string) error
}
