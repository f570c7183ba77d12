package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// scriptKubeconfig is where a script of Run finds its kubeconfig; only it does.
const scriptKubeconfig = "/run/kubeconfig"

// Run runs a script without a terminal, in the same sandbox as a terminal's shell: exercises' setup, solutions, checks.
// The script stops when ctx ends, then err is ctx's. A script that fails is no error, exit says so.
func Run(ctx context.Context, o Options, script string, stdout, stderr io.Writer) (exit int, err error) {
	if len(script) > maxScript {
		return 0, fmt.Errorf("run script: larger than %d MiB", maxScript>>20)
	}
	rt, err := newRuntime(&o)
	if err != nil {
		return 0, err
	}
	defer rt.close()
	s, err := rt.settings(&o)
	if err != nil {
		return 0, err
	}
	s.Script = script
	if len(o.Kubeconfig) > 0 {
		// Outside of the home: it may be the platform's, and the learner's terminals are open.
		name := rt.path("kube", "config")
		if err := os.Mkdir(rt.path("kube"), 0o700); err != nil {
			return 0, fmt.Errorf("run script: %w", err)
		}
		if err := os.WriteFile(name, o.Kubeconfig, 0o600); err != nil {
			return 0, fmt.Errorf("run script: %w", err)
		}
		s.Confine.Files = map[string]string{scriptKubeconfig: name}
		s.Sandbox.Folders = []string{rt.path("kube")} // kubectl config changes it
		s.Env = append(s.Env, "KUBECONFIG="+scriptKubeconfig)
	}
	edits, err := serveEdits(rt.path("control.sock"), o.OnEdit)
	if err != nil {
		return 0, err
	}
	defer edits.close()
	if o.OnEdit != nil {
		s.Control = rt.path("control.sock")
		s.Sandbox.Control = s.Control
	}
	s.Linger = o.Ended != nil
	conf, err := s.send()
	if err != nil {
		return 0, fmt.Errorf("run script: %w", err)
	}
	defer conf.Close()
	cmd := exec.CommandContext(ctx, rt.path("bin", "shell"))
	cmd.Args = []string{"shell"}
	cmd.Dir = rt.home
	cmd.Env = []string{"PATH=" + rt.path("bin"), "HOME=" + rt.home, "TMPDIR=" + filepath.Join(rt.home, ".tmp"), "GOTRACEBACK=single", startFast}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.ExtraFiles = []*os.File{conf}
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = stopTime
	ended := false
	if s.Linger {
		if ended, err = runLingering(cmd, o.Ended); ended && ctx.Err() != nil {
			err = nil // its jobs were to end
		}
	} else {
		err = cmd.Run()
	}
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	}
	var ee *exec.ExitError
	switch {
	case ctx.Err() != nil && !ended:
		return 0, ctx.Err()
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return 0, nil
	case errors.As(err, &ee):
		if ws, ok := ee.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return 128 + int(ws.Signal()), nil
		}
		return ee.ExitCode(), nil
	}
	return 0, fmt.Errorf("run script: %w", err)
}

// runLingering runs a script's shell, which tells the script's status on a pipe if it goes on for the sake of jobs.
func runLingering(cmd *exec.Cmd, tell func(exit int)) (ended bool, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return false, err
	}
	defer r.Close()
	cmd.ExtraFiles = append(cmd.ExtraFiles, w)
	err = cmd.Start()
	w.Close()
	if err != nil {
		return false, err
	}
	var status [1]byte
	if _, err := io.ReadFull(r, status[:]); err == nil {
		ended = true
		tell(int(status[0]))
	}
	return ended, cmd.Wait()
}
