//go:build !linux

package controlplane

import (
	"context"
	"net"
	"os"
	"path/filepath"
)

// dialUnix dials a socket of any path length: relative to the working directory where that is shorter.
func dialUnix(ctx context.Context, path string) (net.Conn, error) {
	if dir, err := os.Getwd(); err == nil {
		if relative, err := filepath.Rel(dir, path); err == nil && len(relative) < len(path) {
			path = relative
		}
	}
	var d net.Dialer
	return d.DialContext(ctx, "unix", path)
}
