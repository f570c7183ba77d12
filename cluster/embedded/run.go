package embedded

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/cluster/embedded/process"
	"github.com/apilab/apilab/cluster/embedded/wire"
	"github.com/apilab/apilab/cluster/limits"
)

// A run is the life of one control-plane process.
type run struct {
	process  *process.Process
	share    *limits.Share
	messages <-chan wire.Message // closed when the process has ended
	phase    string              // under way; "" before the first and when ready
	said     string              // the error that the process reported
}

// startRun starts a process that serves on socket, which it takes over.
func startRun(o Options, config wire.Config, share *limits.Share, socket *os.File) (*run, error) {
	read, write, err := os.Pipe()
	if err != nil {
		socket.Close()
		return nil, fmt.Errorf("open a pipe: %w", err)
	}
	input, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	child, err := process.Start(process.Options{
		Path:  o.Executable,
		Args:  []string{Command, config.ID}, // the id is for people who look at a list of processes
		Env:   environment(share.Memory()),
		Dir:   config.Dir,
		Files: []*os.File{wire.ListenerFD - 3: socket, wire.StatusFD - 3: write},
		Input: append(input, '\n'),
		Line:  func(line string) { o.Logger.Debug("control plane", "cluster", config.ID, "line", line) },
	})
	if err != nil {
		read.Close()
		return nil, err
	}
	share.Enter(child.Pid())
	messages := make(chan wire.Message, 16)
	go func() {
		defer close(messages)
		defer read.Close()
		lines := bufio.NewScanner(read)
		for lines.Scan() {
			var m wire.Message
			if json.Unmarshal(lines.Bytes(), &m) == nil {
				messages <- m
			}
		}
	}()
	return &run{process: child, share: share, messages: messages}, nil
}

// environment is all that a control plane gets of ours: nothing that could send its connections elsewhere (HTTPS_PROXY).
// Of the memory that it may take, garbage is collected in time for the rest: the pages of its files that wait for the disk.
func environment(memory int64) []string {
	env := []string{"GOTRACEBACK=single", "GODEBUG=adaptivestackstart=0"}
	if memory > 0 {
		env = append(env, fmt.Sprintf("GOMEMLIMIT=%d", memory/8*7))
	}
	for _, name := range []string{"TZ", "GODEBUG", "GOGC", "GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// follow tells of the phases until the cluster is ready. If it does not become so before ctx ends, the process is killed.
func (r *run) follow(ctx context.Context, progress func(cluster.Phase)) error {
	done := func() {
		if r.phase != "" {
			progress(cluster.Phase{Name: r.phase, Says: says(r.phase), Elapsed: time.Since(r.process.Started()).Round(time.Millisecond), Done: true})
		}
	}
	for {
		select {
		case m, ok := <-r.messages:
			switch {
			case !ok:
				return r.death(nil)
			case m.Ready:
				done()
				r.phase = ""
				return nil
			case m.Begin != "":
				done()
				r.phase = m.Begin
				progress(cluster.Phase{Name: m.Begin, Says: says(m.Begin)})
			case m.Error != "":
				r.said = m.Error
			}
		case <-ctx.Done():
			r.process.Kill()
			return r.death(context.Cause(ctx))
		}
	}
}

// death waits for the end of the process and says what it died of; why is the reason if it was us.
func (r *run) death(why error) error {
	for m := range r.messages {
		if m.Error != "" {
			r.said = m.Error
		}
	}
	exit := r.process.Err()
	if errors.Is(why, context.Canceled) {
		return why
	}
	if why != nil {
		r.said, exit = why.Error(), nil
	}
	death := newDeathError(r.phase, r.said, exit, r.process.Tail())
	if r.share.Exhausted() {
		death.Hint = fmt.Errorf("%w (%d MiB)", ErrMemory, r.share.Memory()>>20)
	}
	return death
}

func says(phase string) string {
	for _, p := range wire.Phases {
		if p.Name == phase {
			return p.Says
		}
	}
	return phase
}
