package embedded

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/apilab/apilab/cluster/embedded/controlplane"
	"github.com/apilab/apilab/cluster/embedded/wire"
)

// Command is the argument that makes the binary a control plane; a Provider starts itself so.
const Command = "control-plane"

// closeTime is how long a control plane may take to close its data when asked to stop.
const closeTime = 5 * time.Second

// Main is the program of a control-plane process: it runs one cluster until its parent is gone or asks it to stop. It
// returns the exit code. It is of no use by hand: its parent gives it sockets and a configuration.
func Main(ctx context.Context, _ []string) int {
	status := os.NewFile(wire.StatusFD, "status")
	socket := os.NewFile(wire.ListenerFD, "listener")
	listener, err := net.FileListener(socket)
	if err != nil {
		fmt.Fprintln(os.Stderr, "control-plane is started by apilab itself, not by hand")
		return 2
	}
	socket.Close()
	input := bufio.NewReader(os.Stdin)
	var config wire.Config
	if line, err := input.ReadBytes('\n'); err != nil {
		return 1 // the parent is gone already
	} else if err := json.Unmarshal(line, &config); err != nil {
		fmt.Fprintln(os.Stderr, "read configuration:", err)
		return 2
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	var mu sync.Mutex
	out := json.NewEncoder(status)
	report := func(m wire.Message) {
		mu.Lock()
		defer mu.Unlock()
		_ = out.Encode(m) // a parent that cannot be told is gone, which obey notices
	}
	go obey(input, stop, report)
	err = controlplane.Run(ctx, config, listener, report)
	if errors.Is(context.Cause(ctx), errAsked) {
		return 0
	}
	if err != nil {
		report(wire.Message{Error: err.Error()})
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}

var errAsked = errors.New("asked to stop")

// obey reads the parent's commands. When the parent is gone, so is this process, with nothing to wait for: etcd's data is
// safe at any moment.
func obey(input *bufio.Reader, stop context.CancelCauseFunc, report func(wire.Message)) {
	for {
		line, err := input.ReadString('\n')
		if errors.Is(err, io.EOF) || err != nil {
			os.Exit(1)
		}
		switch strings.TrimSpace(line) {
		case wire.Stop:
			stop(errAsked)
			time.AfterFunc(closeTime, func() { os.Exit(1) })
		case wire.Trim:
			controlplane.Trim()
			report(wire.Message{Trimmed: true})
		}
	}
}
