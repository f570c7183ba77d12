package kind

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// An Engine is a container engine by the name of its program: docker, podman, nerdctl or finch.
type Engine string

// engines are what kind looks for, in its order, and how each begins its answer to -v.
var engines = []struct {
	name Engine
	says string
}{
	{"docker", "Docker version"},
	{"nerdctl", "nerdctl version"},
	{"finch", "finch version"},
	{"podman", "podman version"},
}

// chosenBy is the variable by which kind's users choose an engine.
const chosenBy = "KIND_EXPERIMENTAL_PROVIDER"

// Time limits of the engine's commands. A busy machine takes seconds for the shortest.
const (
	glance = 3 * time.Second  // to say its version
	quick  = 30 * time.Second // to look at containers
	slow   = 3 * time.Minute  // to stop, start or remove them
)

// Detect finds the engine to use: what kind's users chose, else the first installed one in kind's order. Of several, it is
// the first that works. A single one is not asked to do anything, so that a server's start does not wait for it: it may be
// found and not work.
func Detect(ctx context.Context) (Engine, error) {
	if name := os.Getenv(chosenBy); name != "" {
		if _, err := exec.LookPath(name); err != nil {
			return "", fmt.Errorf("%w: %s asks for %s, which is not installed", ErrNoEngine, chosenBy, name)
		}
		return Engine(name), nil
	}
	var installed []Engine
	for _, e := range engines {
		if out, err := e.name.run(ctx, glance, "-v"); err == nil && strings.HasPrefix(out, e.says) {
			installed = append(installed, e.name)
		}
	}
	if len(installed) == 0 {
		return "", ErrNoEngine
	}
	if len(installed) > 1 {
		for _, e := range installed {
			if _, err := e.run(ctx, glance, "ps", "--quiet"); err == nil {
				return e, nil
			}
		}
	}
	return installed[0], nil
}

// run runs one of the engine's commands and returns what it printed. A command that takes longer than limit is ended.
func (e Engine) run(ctx context.Context, limit time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &SilentError{Engine: e, After: limit})
	defer cancel()
	var out, problems bytes.Buffer
	cmd := e.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	switch {
	case err == nil:
		return out.String(), nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	default:
		if problems.Len() == 0 {
			problems = out
		}
		return "", newEngineError(e, args, problems.String(), err)
	}
}

// command is one of the engine's. It ends with ctx, and so does all that it started.
func (e Engine) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, string(e), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

// lines are the non-empty lines of a command's output.
func lines(out string) []string {
	var all []string
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}
