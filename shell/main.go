package shell

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/apilab/apilab/shell/kubectl"
	"github.com/apilab/apilab/shell/localhost"
	"github.com/apilab/apilab/shell/posix"
	"github.com/apilab/apilab/shell/sandbox"
	"github.com/apilab/apilab/shell/tools"
	"github.com/apilab/apilab/shell/vfs"
)

// KubectlMain is kubectl. args are the words after its name.
func KubectlMain(args []string) int { return kubectl.Main(args) }

// Main is a shell's process. It is told what to do on file descriptor 3, by Start or Run. `shell A B --diff` is the
// comparison that `kubectl diff` is given.
func Main(args []string) int {
	if len(args) == 3 && args[2] == "--diff" {
		return diffMain(args[0], args[1]) // kubectl puts the folders first
	}
	s, err := receiveSettings()
	if err != nil {
		fmt.Fprintln(os.Stderr, "shell: this program is started by apilab:", err)
		return 2
	}
	code, err := run(s)
	if err != nil {
		fmt.Fprintln(os.Stderr, "shell:", err)
		return 1
	}
	return code
}

// startFast is in the environment of a shell's process: what its packages allocate as it starts stays, and to look for garbage
// there would be a third of the work.
const startFast = "GOGC=off"

func run(s *settings) (int, error) {
	debug.SetGCPercent(50) // there is one of these for each terminal
	// Files that grow too large are errors to who writes them; a closed pipe is one to its writer.
	signal.Ignore(syscall.SIGXFSZ, syscall.SIGPIPE, syscall.SIGQUIT, syscall.SIGTTOU, syscall.SIGTTIN)
	var tty *terminal
	if s.Interactive {
		var err error
		if tty, err = openTerminal(); err != nil { // before the sandbox closes /dev/pts
			return 0, err
		}
		defer tty.close()
	}
	if _, err := sandbox.Enter(s.Sandbox); err != nil {
		return 0, err
	}
	if s.Trial != nil {
		return 0, s.Trial.try()
	}
	v, err := vfs.New(s.Confine.Home, vfs.Options{Limit: s.Quota, Pipes: s.Confine.Pipes, Files: s.Confine.Files})
	if err != nil {
		return 0, err
	}
	defer v.Close()
	launcher := &kubectl.Launcher{Confinement: s.Confine, FS: v}
	launcher.Control = s.Control
	launcher.Ahead = math.MaxInt
	defer launcher.Close()
	o := posix.Options{
		Host: &tools.Host{
			FS: v, Ports: localhost.New(s.Confine.Ports), Gateway: s.Confine.Gateway,
			Edit: func(ctx context.Context, name, text string) (bool, string, error) {
				return askEdit(ctx, s.Control, Edit{Name: name, Text: text, Language: language(name)})
			},
		},
		Env: s.Env, Dir: vfs.Home, Pipes: s.Confine.Pipes,
		Externals: map[string]posix.External{"kubectl": launcher.Run},
		Limits:    posix.Limits{Memory: memoryLimit, Goroutines: 4000, Jobs: 50},
	}
	if !s.Interactive {
		launcher.Ahead = strings.Count(s.Script, "kubectl") // a loop's later ones are started when they are used
		launcher.Warm()
		return runScript(s, o)
	}
	return tty.interact(o, launcher, s.Greeting)
}

// runScript is Run's end in the process.
func runScript(s *settings, o posix.Options) (int, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	o.Stdin, o.Stdout, o.Stderr = null, os.Stdout, os.Stderr
	sh, err := posix.New(o)
	if err != nil {
		return 0, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	file, _, err := posix.Parse(s.Script, "script")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2, nil
	}
	status, _ := sh.Run(ctx, file)
	sh.End(ctx)
	if s.Linger != "" && sh.Running() > 0 {
		os.Stdout.Write(append([]byte(s.Linger), byte(status)))
		sh.WaitJobs(ctx)
	}
	sh.Close()
	return status, nil
}

// diffMain compares the two folders that kubectl has made in /tmp.
func diffMain(a, b string) int {
	tmp := os.TempDir()
	v, err := vfs.New(filepath.Dir(tmp), vfs.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, "diff:", err)
		return 2
	}
	defer v.Close()
	virtual := func(p string) string { return path.Join(vfs.Temp, strings.TrimPrefix(p, tmp)) }
	t, _ := tools.Lookup("diff")
	return int(t.Call(context.Background(), &tools.Call{
		Name: "diff", Args: []string{"-u", "-N", virtual(a), virtual(b)}, Dir: vfs.Home,
		Stdout: os.Stdout, Stderr: os.Stderr, Host: &tools.Host{FS: v},
	}))
}
