//go:build !linux

package embedded_test

import (
	"net"
	"testing"
)

func listeners(t *testing.T) []net.TCPAddr {
	t.Skip("needs proc(5)")
	return nil
}

func children(t *testing.T, _ int) []int {
	t.Skip("needs proc(5)")
	return nil
}

func inotify(t *testing.T, _ *lab, _ string) { t.Skip("needs proc(5)") }
