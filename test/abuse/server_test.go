package abuse

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// hostSecret is in the server's environment, which no learner may see.
const hostSecret = "s3cr3t-of-the-host"

// A server is one apilab on a data folder of its own, which outlives its processes.
type server struct {
	t    *testing.T
	dir  string // its data
	args []string
	url  string // where its pages are, without a final slash
	log  tape   // all that it ever printed

	admin *visitor // of a server of classes
	class string   // ID of its class
	code  string   // with which learners join it

	cmd   *exec.Cmd
	ended chan struct{}
}

// A tape keeps what is written to it.
type tape struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *tape) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *tape) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// newServer makes a data folder; nothing runs yet. It is not below /tmp, which is another folder for the learners.
func newServer(t *testing.T, args ...string) *server {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "apilab-abuse-")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: dir, args: args}
	t.Cleanup(func() {
		s.end(syscall.SIGTERM)
		if t.Failed() {
			lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
			t.Logf("the end of the server's log:\n%s", strings.Join(lines[max(0, len(lines)-30):], "\n"))
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return s
}

// solo starts a server for one learner.
func solo(t *testing.T, args ...string) *server {
	t.Helper()
	s := newServer(t, append([]string{"--port", "0"}, args...)...)
	s.start()
	return s
}

var address = regexp.MustCompile(`apilab \S+ (?:is|serves classes) at (https?://[^\s/]+)`)

// start starts the program on the data folder, and waits until its pages are served.
func (s *server) start() {
	s.t.Helper()
	args := append([]string{"serve", "--no-open", "--data-dir", s.dir}, s.args...)
	s.cmd = exec.Command(binary, args...)
	s.cmd.Env = append(os.Environ(), "HOST_SECRET="+hostSecret)
	var told tape
	s.cmd.Stdout, s.cmd.Stderr = writers{&told, &s.log}, &s.log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	s.ended = ended
	go func() {
		s.cmd.Wait()
		close(ended)
	}()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if found := address.FindStringSubmatch(told.String()); found != nil {
			s.url = found[1]
			return
		}
		select {
		case <-ended:
			s.t.Fatalf("apilab %s ended: %s", strings.Join(args, " "), s.log.String())
		default:
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("apilab %s does not say where it is: %s", strings.Join(args, " "), s.log.String())
		}
	}
}

type writers []*tape

func (w writers) Write(p []byte) (int, error) {
	for _, t := range w {
		t.Write(p)
	}
	return len(p), nil
}

// end ends the process by a signal, and waits until it is gone.
func (s *server) end(signal os.Signal) {
	if s.cmd == nil {
		return
	}
	s.cmd.Process.Signal(signal)
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Errorf("apilab does not end on %v", signal)
		s.cmd.Process.Kill()
		<-s.ended
	}
	s.cmd = nil
}

// run runs another apilab command on the data folder.
func (s *server) run(args ...string) string {
	s.t.Helper()
	cmd := exec.Command(binary, append(args, "--data-dir", s.dir)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("apilab %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// memory is what the server's own process takes: resident and not shared with its file, in bytes.
func (s *server) memory() int64 {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	found := regexp.MustCompile(`RssAnon:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		s.t.Fatalf("no RssAnon in %s", status)
	}
	kilobytes, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return kilobytes << 10
}

// files are the contents of all files below the data folder that match a pattern of their base names.
func (s *server) files(pattern string) map[string][]byte {
	s.t.Helper()
	found := map[string][]byte{}
	err := filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // gone meanwhile
		}
		if ok, _ := filepath.Match(pattern, d.Name()); ok {
			if content, err := os.ReadFile(path); err == nil {
				found[path] = content
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}
