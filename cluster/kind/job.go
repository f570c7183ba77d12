package kind

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
)

// Command is the argument that makes the binary a worker; a Provider starts itself so.
const Command = "kind-worker"

// A job is what a worker is told to do, one line of JSON on its standard input. One of the fields after Name is set.
type job struct {
	Engine  Engine    `json:"engine"`
	Name    string    `json:"name"` // of the cluster
	Create  *creation `json:"create,omitempty"`
	Load    string    `json:"load,omitempty"`    // archive of images to put onto all nodes
	Collect string    `json:"collect,omitempty"` // folder for the nodes' logs
}

type creation struct {
	Config     *v1alpha4.Cluster `json:"config"`
	Kubeconfig string            `json:"kubeconfig"` // file for the administrator's access
}

// A message is one line of a worker's standard output. One of its fields is set, or an error with what was said and by whom.
type message struct {
	Begin   string   `json:"begin,omitempty"` // a step, as kind announces it
	Line    string   `json:"line,omitempty"`  // for the log
	Error   string   `json:"error,omitempty"` // the job failed
	Command []string `json:"command,omitempty"`
	Output  string   `json:"output,omitempty"`
}

// grace is how long the engine's commands may take to end in good order. podman finishes what must not be half done.
const grace = 3 * time.Second

// A workshop runs jobs.
type workshop struct {
	executable string
	log        *slog.Logger
}

// do runs a job to its end. When ctx ends first, the worker and all commands that it runs are ended, and none is left.
func (w workshop) do(ctx context.Context, j job, begin func(step [2]string)) error {
	cmd := exec.Command(w.executable, Command)
	cmd.Env = environment(j.Engine)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var said bytes.Buffer // little, and only by a worker that goes wrong
	cmd.Stderr = &said
	cmd.WaitDelay = grace // a grandchild that holds it open must not keep us waiting
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}
	group := cmd.Process.Pid
	ended := make(chan struct{})
	var ending sync.WaitGroup
	ending.Add(1)
	unhook := context.AfterFunc(ctx, func() {
		defer ending.Done()
		_ = syscall.Kill(-group, syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(grace): // something holds the worker's output open, and would keep us waiting
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
	})
	if err := json.NewEncoder(input).Encode(j); err != nil {
		w.log.Warn("tell a worker its job", "err", err) // it has ended; why is known below
	}
	failure := w.follow(output, begin)
	close(ended)
	cancelled := !unhook()
	if cancelled {
		ending.Wait() // until the worker is waited for, its group is certain to be its own
	}
	exit := cmd.Wait()
	if cancelled {
		endGroup(group)
		return context.Cause(ctx)
	}
	if failure == nil && exit != nil {
		failure = newEngineError("", []string{"the worker ended"}, said.String(), exit)
	}
	return failure
}

// follow reads a worker's messages until it ends, and returns the error that it reported.
func (w workshop) follow(output io.Reader, begin func([2]string)) error {
	var failure error
	messages := bufio.NewReader(output)
	for {
		line, err := messages.ReadBytes('\n')
		if err != nil {
			return failure
		}
		var m message
		if json.Unmarshal(line, &m) != nil {
			w.log.Warn("a worker said what is no message", "line", string(line))
			continue
		}
		switch {
		case m.Begin != "":
			begin(stepOf(m.Begin))
		case m.Line != "":
			w.log.Debug("kind", "line", m.Line)
		case len(m.Command) > 0:
			failure = newEngineError(Engine(m.Command[0]), commandName(m.Command[1:]), m.Output, errors.New(m.Error))
		case m.Error != "":
			failure = errors.New(m.Error)
		}
	}
}

// commandName leaves of a command what tells it from others: what it runs in a node, if it does, else its verb.
func commandName(args []string) []string {
	for i, arg := range args {
		if arg == "kubeadm" && i+1 < len(args) {
			return []string{"exec kubeadm " + args[i+1]}
		}
	}
	return args
}

// endGroup waits for the rest of a group that was asked to end, and kills what does not.
func endGroup(group int) {
	for deadline := time.Now().Add(grace); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if syscall.Kill(-group, 0) != nil {
			return
		}
	}
	_ = syscall.Kill(-group, syscall.SIGKILL)
}

// environment is ours, but for the files of the user's that kind would write to.
func environment(e Engine) []string {
	env := []string{chosenBy + "=" + string(e)}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "KUBECONFIG=") && !strings.HasPrefix(v, chosenBy+"=") {
			env = append(env, v)
		}
	}
	return env
}
