package shell

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/apilab/apilab/shell/kubectl"
	"github.com/apilab/apilab/shell/sandbox"
	"github.com/apilab/apilab/shell/vfs"
)

// runtime is a shell's folder outside of the learner's home, for as long as the shell lives: names of this program,
// named pipes, the editor's socket, and a short way to the learner's ports, for a socket's path may have 104 bytes only.
type runtime struct {
	dir     string
	home    string
	program string
}

const runtimePrefix = "apilab-shell-"

func newRuntime(o *Options) (r *runtime, err error) {
	if o.Home == "" || o.Ports == "" {
		return nil, errors.New("start shell: Home and Ports are needed")
	}
	for _, dir := range []string{o.Home, o.Ports} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("start shell: %w", err)
		}
	}
	r = &runtime{program: o.Executable}
	if r.program == "" {
		if r.program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("start shell: %w", err)
		}
	}
	if r.program, err = filepath.EvalSymlinks(r.program); err != nil {
		return nil, fmt.Errorf("start shell: %w", err)
	}
	if r.home, err = filepath.EvalSymlinks(o.Home); err != nil {
		return nil, fmt.Errorf("start shell: %w", err)
	}
	if r.home, err = filepath.Abs(r.home); err != nil {
		return nil, fmt.Errorf("start shell: %w", err)
	}
	ports, err := filepath.Abs(o.Ports)
	if err != nil {
		return nil, fmt.Errorf("start shell: %w", err)
	}
	sweepRuntimes(os.TempDir())
	if r.dir, err = os.MkdirTemp("", runtimePrefix+strconv.Itoa(os.Getpid())+"-"); err != nil {
		return nil, fmt.Errorf("start shell: %w", err)
	}
	if r.dir, err = filepath.EvalSymlinks(r.dir); err != nil {
		return nil, fmt.Errorf("start shell: %w", err)
	}
	defer func() {
		if err != nil {
			r.close()
			err = fmt.Errorf("start shell: %w", err)
		}
	}()
	for _, d := range []string{"bin", "pipes"} {
		if err := os.Mkdir(r.path(d), 0o700); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"kubectl", "shell", "editor"} {
		if err := os.Symlink(r.program, r.path("bin", name)); err != nil {
			return nil, err
		}
	}
	if err := os.Symlink(ports, r.path("ports")); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *runtime) path(elem ...string) string {
	return filepath.Join(append([]string{r.dir}, elem...)...)
}

func (r *runtime) close() { os.RemoveAll(r.dir) }

// sweepRuntimes removes folders of servers that were killed.
func sweepRuntimes(dir string) {
	found, err := filepath.Glob(filepath.Join(dir, runtimePrefix+"*"))
	if err != nil {
		return
	}
	for _, name := range found {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(name), runtimePrefix), "-")
		n, err := strconv.Atoi(pid)
		if err == nil && n > 0 && n != os.Getpid() && errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
			os.RemoveAll(name)
		}
	}
}

// settings are those of a sandboxed shell.
func (r *runtime) settings(o *Options) (*settings, error) {
	ports, err := filepath.EvalSymlinks(r.path("ports"))
	if err != nil {
		return nil, fmt.Errorf("start shell: %w", err)
	}
	s := &settings{Quota: o.Quota}
	if s.Quota == 0 {
		s.Quota = defaultQuota
	}
	s.Confine = kubectl.Confinement{Home: r.home, Ports: r.path("ports"), Gateway: o.GatewayAddr, Pipes: r.path("pipes"), Bin: r.path("bin")}
	s.Sandbox = sandbox.Settings{
		Home: r.home, Ports: ports, Pipes: r.path("pipes"), Programs: []string{r.program}, Bin: r.path("bin"),
		FileSize: uint64(s.Quota), Data: dataLimit, NoLandlock: o.noLandlock,
	}
	if o.GatewayAddr != "" {
		_, port, err := net.SplitHostPort(o.GatewayAddr)
		if err != nil {
			return nil, fmt.Errorf("start shell: gateway: %w", err)
		}
		if s.Sandbox.TCPPort, err = strconv.Atoi(port); err != nil {
			return nil, fmt.Errorf("start shell: gateway: %w", err)
		}
	}
	s.Env = environment(o.Env)
	return s, nil
}

// environment is what a learner's shell begins with. Nothing of the server's own passes.
func environment(more map[string]string) []string {
	env := map[string]string{
		"HOME": vfs.Home, "USER": "learner", "LOGNAME": "learner", "SHELL": "/bin/bash", "PATH": "/usr/bin", "TMPDIR": vfs.Temp,
		"TERM": "xterm-256color", "LANG": "C.UTF-8", "EDITOR": "edit", "HOSTNAME": "apilab", "UID": "1000", "EUID": "1000", "GID": "1000",
	}
	for k, v := range more {
		env[k] = v
	}
	var list []string
	for k, v := range env {
		list = append(list, k+"="+v)
	}
	slices.Sort(list)
	return list
}
