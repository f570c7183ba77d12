package assets

import (
	"fmt"
	"io"
	"time"
)

// NodeLogs is the page with the logs of a cluster's nodes.
type NodeLogs struct {
	Page
	At     time.Time // of their collection
	Failed bool      // of nodes that did not start; otherwise of the cluster that runs
	Files  []LogFile // by path
}

// A LogFile is one of the logs.
type LogFile struct {
	Link  // the title is its path
	Bytes int64
}

// Size is the file's in words.
func (f LogFile) Size() string {
	const kib = 1 << 10
	if f.Bytes < 1000*kib {
		return fmt.Sprintf("%d KiB", (f.Bytes+kib-1)/kib)
	}
	return fmt.Sprintf("%.1f MiB", float64(f.Bytes)/(kib*kib))
}

// NodeLogs writes the page with the logs of a cluster's nodes.
func (r *Renderer) NodeLogs(w io.Writer, p NodeLogs) error { return r.page(w, "nodelogs", p) }
