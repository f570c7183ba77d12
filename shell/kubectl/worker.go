package kubectl

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// job is what a waiting process is given: one message over its socket, with the three streams and the file that its children hold
// beside it.
type job struct {
	Args       []string `json:"args"`
	Env        []string `json:"env"`
	Dir        string   `json:"dir"`
	Background bool     `json:"background"`
}

// maxJob bounds the message: command lines as long as the usual limit of a system.
const maxJob = 2 << 20

// workerVariable tells a process that it is to wait on file descriptor 3.
const workerVariable = "APILAB_KUBECTL_WORKER"

// worker is a process in waiting.
type worker struct {
	cmd  *exec.Cmd
	conn *net.UnixConn
}

func (l *Launcher) startWorker() (*worker, error) {
	syscall.ForkLock.RLock() // no process started meanwhile inherits them
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "worker")
	defer theirs.Close()
	ours := os.NewFile(uintptr(fds[0]), "worker")
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}
	// Most of what its start allocates stays: to collect garbage meanwhile is a quarter of its work, for nothing.
	p := l.command(append(l.Environ(nil), workerVariable+"=1", "GOGC=off"))
	p.ExtraFiles = []*os.File{theirs}
	p.SysProcAttr = attributes(false)
	if err := p.Start(); err != nil {
		conn.Close()
		return nil, err
	}
	return &worker{p, conn.(*net.UnixConn)}, nil
}

// give hands the job over. The process then is the job.
func (w *worker) give(j *job, files []*os.File) error {
	defer w.conn.Close()
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if len(text) > maxJob {
		return errors.New("the command line is too long")
	}
	var fds []int
	for _, f := range files {
		raw, err := f.SyscallConn()
		if err != nil {
			return err
		}
		// Fd would make the file blocking, and end the interpreter's way to stop a read.
		if err := raw.Control(func(fd uintptr) { fds = append(fds, int(fd)) }); err != nil {
			return err
		}
	}
	head := fmt.Appendf(nil, "%08d", len(text))
	if _, _, err := w.conn.WriteMsgUnix(head, unix.UnixRights(fds...), nil); err != nil {
		return err
	}
	_, err = w.conn.Write(text)
	return err
}

func (w *worker) discard() {
	w.conn.Close() // it ends by itself
	w.cmd.Process.Kill()
	w.cmd.Wait()
}

// kept holds the streams that a worker began with: if they were collected, the new ones' descriptors would be closed.
var kept []*os.File

// Waiting reports whether this process is to wait for its job, and if so, waits and becomes it. It returns the job's
// words. A process that is not needed ends here.
func Waiting() (args []string, ok bool) {
	if os.Getenv(workerVariable) == "" {
		return nil, false
	}
	// The terminal's Ctrl-C is for the command that runs, not for one that may run some time.
	signal.Ignore(os.Interrupt, syscall.SIGQUIT, syscall.SIGTSTP)
	prepare()
	j, err := receive()
	if err != nil {
		os.Exit(0)
	}
	if j.Background {
		syscall.Setpgid(0, 0)
	}
	signal.Reset(os.Interrupt, syscall.SIGQUIT)
	debug.SetGCPercent(100)
	os.Clearenv()
	for _, kv := range j.Env {
		name, value, _ := strings.Cut(kv, "=")
		os.Setenv(name, value)
	}
	if err := os.Chdir(j.Dir); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	os.Args = append([]string{"kubectl"}, j.Args...)
	return j.Args, true
}

func receive() (*job, error) {
	f := os.NewFile(3, "job")
	c, err := net.FileConn(f)
	f.Close()
	if err != nil {
		return nil, err
	}
	conn := c.(*net.UnixConn)
	defer conn.Close()
	head, oob := make([]byte, 8), make([]byte, unix.CmsgSpace(4*4))
	n, oobn, _, _, err := conn.ReadMsgUnix(head, oob)
	if err != nil || n != len(head) {
		return nil, errors.Join(err, errors.New("no job"))
	}
	var size int
	if _, err := fmt.Sscanf(string(head), "%d", &size); err != nil || size > maxJob {
		return nil, errors.New("bad job")
	}
	text := make([]byte, size)
	for at := 0; at < size; {
		n, err := conn.Read(text[at:])
		if err != nil {
			return nil, err
		}
		at += n
	}
	var j job
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, err
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil || len(msgs) != 1 {
		return nil, errors.Join(err, errors.New("no streams"))
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) != 4 {
		return nil, errors.Join(err, errors.New("no streams"))
	}
	kept = append(kept, os.Stdin, os.Stdout, os.Stderr)
	for i, fd := range fds[:3] {
		if err := dup2(fd, i); err != nil {
			return nil, err
		}
		unix.Close(fd)
	}
	if _, err := unix.FcntlInt(uintptr(fds[3]), unix.F_SETFD, 0); err != nil {
		return nil, err
	}
	os.Stdin, os.Stdout, os.Stderr = os.NewFile(0, "/dev/stdin"), os.NewFile(1, "/dev/stdout"), os.NewFile(2, "/dev/stderr")
	return &j, nil
}

// prepare does what any command needs and what depends on none: it builds a tree, for what that initialises.
func prepare() {
	k := &confined{}
	k.streams.In, k.streams.Out, k.streams.ErrOut = os.Stdin, os.Stdout, os.Stderr
	k.command(nil)
}
