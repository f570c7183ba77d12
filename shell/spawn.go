package shell

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
)

// spawnShell starts our shell. Its standard error is ours: what Go's runtime says of a crash is not for the learner.
func spawnShell(rt *runtime, s *settings, tty *os.File) (*process, error) {
	conf, err := s.send()
	if err != nil {
		return nil, err
	}
	defer conf.Close()
	p := &process{cmd: exec.Command(rt.path("bin", "shell")), last: &tail{}}
	p.cmd.Args = []string{"shell"}
	p.cmd.Dir = rt.home
	p.cmd.Env = []string{"PATH=" + rt.path("bin"), "HOME=" + rt.home, "TMPDIR=" + filepath.Join(rt.home, ".tmp"), "TERM=xterm-256color", "GOTRACEBACK=single", startFast}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, p.last
	p.cmd.ExtraFiles = []*os.File{conf}
	p.cmd.SysProcAttr = sessionLeader()
	p.cmd.WaitDelay = stopTime
	return p, p.cmd.Start()
}

// spawnHost starts the user's own shell, with the learner's kubeconfig.
func spawnHost(o *Options, rt *runtime, tty *os.File) (*process, error) {
	program := os.Getenv("SHELL")
	if program == "" {
		program = "/bin/sh"
	}
	p := &process{cmd: exec.Command(program), last: &tail{}}
	p.cmd.Args = []string{"-" + filepath.Base(program)} // a login shell
	if u, err := user.Current(); err == nil {
		p.cmd.Dir = u.HomeDir
	}
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "KUBECONFIG=") || strings.HasPrefix(kv, "APILAB_")
	})
	env = append(env, "TERM=xterm-256color", "KUBECONFIG="+kubeconfigPath(rt.home))
	if _, err := exec.LookPath("kubectl"); err != nil {
		env = append(env, "PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+rt.path("bin"))
	}
	for k, v := range o.Env {
		env = append(env, k+"="+v)
	}
	p.cmd.Env = env
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
	p.cmd.SysProcAttr = sessionLeader()
	return p, p.cmd.Start()
}
