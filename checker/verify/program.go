package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/apilab/apilab/exercises"
)

// A program has as long to end by itself after SIGTERM, and what it printed last is told when a check is not as it should be.
const (
	programGrace  = 5 * time.Second
	programOutput = 16 << 10 // bytes
)

// needsPrograms reports whether an exercise is proved with programs that run on this machine.
func needsPrograms(e *exercises.Exercise) bool {
	if e.Program != "" {
		return true
	}
	for _, w := range e.Wrong {
		if w.Program != "" {
			return true
		}
	}
	return false
}

// A program is one that runs beside a script, as it would on the learner's own machine: with their access to the cluster.
type program struct {
	command *exec.Cmd
	output  *tail
	dir     string
	ended   chan struct{}
	err     error // why it ended; read after ended
}

// startProgram starts a command line whose first word is a file in the folder. It runs until stop.
func startProgram(folder, line string, lab *Lab) (_ *program, err error) {
	words := strings.Fields(line)
	if filepath.Base(words[0]) != words[0] {
		return nil, fmt.Errorf("the program %q is no file's name", words[0])
	}
	p := &program{output: &tail{limit: programOutput}, ended: make(chan struct{})}
	if p.dir, err = os.MkdirTemp("", "apilab-program-"); err != nil {
		return nil, fmt.Errorf("make a folder for %s: %w", words[0], err)
	}
	config := filepath.Join(p.dir, "kubeconfig")
	if err = os.WriteFile(config, lab.Kubeconfig, 0o600); err == nil {
		path, absErr := filepath.Abs(filepath.Join(folder, words[0]))
		if absErr != nil {
			path = filepath.Join(folder, words[0])
		}
		p.command = exec.Command(path, words[1:]...)
		p.command.Dir = p.dir
		p.command.Env = append(append(os.Environ(), lab.Env...), "KUBECONFIG="+config)
		p.command.Stdout, p.command.Stderr = p.output, p.output
		p.command.WaitDelay = programGrace
		err = p.command.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", words[0], err), os.RemoveAll(p.dir))
	}
	go func() {
		p.err = p.command.Wait()
		close(p.ended)
	}()
	return p, nil
}

// exited reports whether it ended by itself, and how.
func (p *program) exited() (how string, ended bool) {
	select {
	case <-p.ended:
		if p.err == nil {
			return "it ended", true
		}
		return "it ended: " + p.err.Error(), true
	default:
		return "", false
	}
}

// stop ends the program and forgets its folder.
func (p *program) stop() error {
	if _, ended := p.exited(); !ended {
		_ = p.command.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.ended:
		case <-time.After(programGrace):
			_ = p.command.Process.Kill()
			<-p.ended
		}
	}
	return os.RemoveAll(p.dir)
}

// beside does something while a program runs; without one it just does it.
func (t *trial) beside(ctx context.Context, line string, do func() error) (err error) {
	if line == "" {
		return do()
	}
	if t.program, err = startProgram(t.programs, line, t.lab); err != nil {
		return err
	}
	defer func() {
		stopped := t.program.stop()
		t.program = nil
		if err == nil {
			err = stopped
		}
	}()
	return do()
}

// tail keeps the end of what is written to it.
type tail struct {
	mu    sync.Mutex
	limit int
	kept  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.limit; over > 0 {
		t.kept = append([]byte(nil), t.kept[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
