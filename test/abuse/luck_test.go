package abuse

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apilab/apilab/cluster"
)

// A server that is killed with learners in loses nothing of theirs; `make bench-class` kills one with sixty.
func TestKilledServerLosesNothing(t *testing.T) {
	slowly(t)
	s := class(t)
	learners, pages := make([]*visitor, 4), make([]*page, 4)
	uids, runs := make([]string, len(learners)), make([]string, len(learners))
	for i := range learners {
		learners[i] = s.joins(t, fmt.Sprintf("Learner %d", i))
		pages[i] = learners[i].page(t)
		pages[i].get("cluster.start", nil, nil)
	}
	for i, p := range pages {
		p.ready()
		p.open()
		uids[i] = uid(p.api(t).does("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"kept"}}`))
		p.get("file.write", map[string]any{"path": "kept.txt", "text": fmt.Sprint("of learner ", i)}, nil)
		p.terminal().run(passes)
		p.until("the check", func() bool { return p.stateOf(passed) == "passing" })
		runs[i] = p.run
	}
	time.Sleep(3 * time.Second) // progress is saved within a moment, not at once

	s.end(syscall.SIGKILL)
	s.start()

	for i, v := range learners {
		p := v.page(t)
		p.ready()
		if got := uid(p.api(t).does("GET", "/api/v1/namespaces/default/configmaps/kept", "")); got != uids[i] {
			t.Errorf("learner %d has another object: %s, not %s", i, got, uids[i])
		}
		if out := p.terminal().run("cat kept.txt"); !strings.Contains(out, fmt.Sprint("of learner ", i)) {
			t.Errorf("learner %d has another file: %s", i, out)
		}
		p.open()
		p.until("the check that had passed", func() bool { return p.stateOf(passed) == "passing" })
		if p.run == runs[i] {
			t.Errorf("learner %d is not told that the server was started again", i)
		}
	}
}

// A cluster whose data is damaged is failed with a reason that says what to do, and a reset makes a new one. Others do not notice.
func TestDamagedClusterIsOneLearnersAlone(t *testing.T) {
	slowly(t)
	s := class(t)
	unlucky, other := s.joins(t, "Unlucky"), s.joins(t, "Other")
	p := unlucky.page(t)
	p.ready()
	n := s.neighbour(t, other)
	id := p.cluster.ID
	s.end(syscall.SIGKILL)
	damage(t, filepath.Join(s.dir, "clusters", id))
	s.start()

	n = &neighbour{page: other.page(t), uid: n.uid}
	n.page.ready()
	n.terminal, n.api = n.page.terminal(), n.page.api(t)
	n.begin(t)
	p = unlucky.page(t)
	p.get("cluster.start", nil, nil)
	p.until("that it fails", func() bool { return p.cluster.State == cluster.Failed })
	p.mu.Lock()
	reason := p.cluster.Reason
	p.mu.Unlock()
	told(t, reason, "reset")
	t.Logf("the reason: %s", reason)
	code, text := p.api(t).ask("GET", "/api/v1/namespaces", "")
	told(t, text, "retry or reset it in the page")
	if code != 503 {
		t.Errorf("its API server: %d", code)
	}
	p.reset()
	p.api(t).does("GET", "/api/v1/namespaces", "")
	n.end(t)
}

// damage writes rubbish over the store of a cluster.
func damage(t *testing.T, dir string) {
	t.Helper()
	damaged := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "db" && filepath.Ext(d.Name()) != ".wal" {
			return err
		}
		damaged++
		return os.WriteFile(path, []byte(strings.Repeat("rubbish ", 10_000)), 0o600)
	})
	if err != nil || damaged < 2 {
		t.Fatalf("%d files of %s are damaged: %v", damaged, dir, err)
	}
}

// A control plane that dies again and again is given up, with a reason.
func TestCrashLoopIsGivenUp(t *testing.T) {
	slowly(t)
	s := solo(t)
	p := s.local(t).page(t)
	p.ready()
	var last int
	for p.within(0, func() bool { return p.cluster.State == cluster.Failed }) != nil {
		all := s.children("local") // the control plane has the name of its cluster; there is one, or none
		if len(all) == 0 || all[0] == last {
			time.Sleep(200 * time.Millisecond)
			continue
		}
		last = all[0]
		if err := syscall.Kill(last, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	p.mu.Lock()
	told(t, p.cluster.Reason, "killed", "reset", "retry")
	p.mu.Unlock()
	p.get("cluster.start", nil, nil)
	p.ready()
}

// children are the processes that the server has started which have this word as an argument, or as their name.
func (s *server) children(word string) (pids []int) {
	found, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.cmd.Process.Pid))
	for _, children := range found {
		text, _ := os.ReadFile(children)
		for child := range strings.FieldsSeq(string(text)) {
			command, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if pid, err := strconv.Atoi(child); err == nil && slices.Contains(strings.Split(string(command), "\x00"), word) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// A full disk refuses what is new, in words, and loses nothing that is there.
func TestFullDiskLosesNothing(t *testing.T) {
	slowly(t)
	s := newServer(t, "--port", "0")
	if err := syscall.Mount("apilab-abuse", s.dir, "tmpfs", 0, "size=700m,mode=0700"); err != nil {
		t.Skipf("no small disk can be mounted here: %v; root can", err)
	}
	t.Cleanup(func() {
		s.end(syscall.SIGTERM)
		if err := syscall.Unmount(s.dir, 0); err != nil {
			t.Error(err)
		}
	})
	s.start()
	v := s.local(t)
	p := v.page(t)
	p.ready()
	p.open()
	a := p.api(t)
	kept := uid(a.does("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"kept"}}`))
	p.get("file.write", map[string]any{"path": "kept.txt", "text": "kept"}, nil)
	term := p.terminal()
	term.run(passes)
	p.until("the check", func() bool { return p.stateOf(passed) == "passing" })
	time.Sleep(3 * time.Second)

	filler := filepath.Join(s.dir, "filler")
	fill(t, filler)
	r := p.ask("file.write", map[string]any{"path": "new.txt", "text": strings.Repeat("new", 10_000)})
	if r.OK {
		t.Error("a file was written on a full disk")
	}
	told(t, r.Error, "no space left")
	told(t, term.runTyped("head -c 1000000 /dev/zero > new.bin"), "no space left", "o space left on device")
	for i := range 2000 {
		if code, text := a.ask("POST", "/api/v1/namespaces/default/configmaps", fmt.Sprintf(`{"metadata":{"name":"new-%d"},"data":{"x":%q}}`, i, strings.Repeat("x", 500_000))); code/100 != 2 {
			t.Logf("the API server says %d %.300s", code, text)
			break
		}
	}
	p.ask("exercise.answer", map[string]any{"exercise": lesson, "check": "version", "value": "1"})
	if a := v.get("/"); a.code != 200 {
		t.Errorf("the home page on a full disk: %d %.500s", a.code, a.body)
	}

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	s.end(syscall.SIGKILL)
	s.start()
	p = v.page(t)
	p.ready()
	if got := uid(p.api(t).does("GET", "/api/v1/namespaces/default/configmaps/kept", "")); got != kept {
		t.Errorf("another object is there: %s, not %s", got, kept)
	}
	if out := p.terminal().run("cat kept.txt"); !strings.Contains(out, "kept") {
		t.Errorf("the file is %s", out)
	}
	p.open()
	p.until("the check that had passed", func() bool { return p.stateOf(passed) == "passing" })
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{1 << 20, 4 << 10, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
}
