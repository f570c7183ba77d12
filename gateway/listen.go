package gateway

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	portFile      = "port"
	preferredPort = 6443 // where an API server is expected
)

// ErrPortBusy says that another program listens on the port that was asked for.
var ErrPortBusy = errors.New("the port is in use by another program")

// listen opens the gateway's listener and remembers its port, so that a kubeconfig which a learner saved stays right.
func listen(dir string, asked int, log *slog.Logger) (net.Listener, error) {
	path := filepath.Join(dir, portFile)
	if asked == AnyPort {
		return listenOn(0)
	}
	if asked != 0 {
		l, err := listenOn(asked)
		if err != nil {
			return nil, err
		}
		return l, savePort(path, l)
	}
	last := lastPort(path)
	wanted := []int{preferredPort, 0}
	if last != 0 {
		wanted = append([]int{last}, wanted...)
	}
	for _, port := range wanted {
		l, err := listenOn(port)
		if errors.Is(err, ErrPortBusy) {
			if port == last {
				log.Warn("the gateway's port of last time is taken by another program: kubeconfig files saved before no longer work, get a new one with `apilab kubeconfig`", "port", last)
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		return l, savePort(path, l)
	}
	return nil, fmt.Errorf("listen on 127.0.0.1: %w", ErrPortBusy)
}

func listenOn(port int) (net.Listener, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen on 127.0.0.1:%d: %w", port, ErrPortBusy)
	}
	if err != nil {
		return nil, fmt.Errorf("open the gateway's port: %w", err)
	}
	return l, nil
}

// lastPort is 0 where none is known: the file is a convenience, and a damaged one is as good as none.
func lastPort(path string) int {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	port, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 16)
	if err != nil {
		return 0
	}
	return int(port)
}

func savePort(path string, l net.Listener) error {
	port := l.Addr().(*net.TCPAddr).Port
	if port == lastPort(path) {
		return nil
	}
	if err := writeFile(path, fmt.Appendln(nil, port)); err != nil {
		_ = l.Close()
		return err
	}
	return nil
}
