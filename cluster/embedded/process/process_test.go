package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be the children of its tests.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || !strings.HasPrefix(os.Args[1], "child-") {
		os.Exit(m.Run())
	}
	switch os.Args[1] {
	case "child-talk":
		fmt.Println("out")
		fmt.Fprintln(os.Stderr, "err")
		fmt.Print("unfinished")
		os.Exit(3)
	case "child-obey":
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			fmt.Println("told", lines.Text())
			if lines.Text() == "stop" {
				os.Exit(0)
			}
		}
		os.Exit(4)
	case "child-deaf":
		time.Sleep(time.Hour) // select {} would end as a deadlock
	case "child-lock":
		if _, err := Lock(os.Args[2]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("locked")
		time.Sleep(time.Hour)
	case "child-parent": // has a child that does not listen to it, frozen if there is another argument
		p, err := Start(Options{Path: os.Args[0], Args: []string{"child-deaf"}})
		if err != nil {
			panic(err)
		}
		if len(os.Args) > 2 {
			if err := p.Freeze(); err != nil {
				panic(err)
			}
		}
		fmt.Println(p.Pid())
		select {}
	}
}

func start(t *testing.T, args ...string) *Process {
	t.Helper()
	p, err := Start(Options{Path: os.Args[0], Args: args, Input: []byte("first\n")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

func TestLastWords(t *testing.T) {
	t.Parallel()
	p := start(t, "child-talk")
	var exit *exec.ExitError
	if err := p.Err(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("ended with %v", err)
	}
	if got := p.Tail(); !slices.Equal(got, []string{"out", "err", "unfinished"}) {
		t.Errorf("last lines %q", got)
	}
	p.Kill() // of one that has ended: nothing happens, and to nobody else
}

func TestStop(t *testing.T) {
	t.Parallel()
	p := start(t, "child-obey")
	p.Stop(t.Context(), "stop")
	if err := p.Err(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if got := p.Tail(); !slices.Equal(got, []string{"told first", "told stop"}) {
		t.Errorf("it was told %q", got)
	}
}

func TestStopOfADeafChild(t *testing.T) {
	t.Parallel()
	p := start(t, "child-deaf")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Stop(ctx, "stop")
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("ended with %v", err)
	}
}

func TestFreeze(t *testing.T) {
	t.Parallel()
	for end, how := range map[string]func(p *Process){
		"killed":  (*Process).Kill,
		"stopped": func(p *Process) { p.Stop(t.Context(), "stop") },
		"thawed": func(p *Process) {
			if !p.Thaw() || p.Thaw() || p.Frozen() {
				t.Error("it was not frozen before its thaw, or is so after it")
			}
			p.Stop(t.Context(), "stop")
		},
	} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			p := start(t, "child-obey")
			if err := p.Freeze(); err != nil || !p.Frozen() {
				t.Fatalf("not frozen: %v", err)
			}
			how(p)
			<-p.Done()
			if err := p.Err(); (err == nil) == (end == "killed") {
				t.Errorf("ended with %v", err)
			}
			if err := p.Freeze(); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("frozen after its end: %v", err)
			}
		})
	}
}

func TestNothingToStart(t *testing.T) {
	t.Parallel()
	if _, err := Start(Options{Path: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestChildDiesWithItsParent(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"child-parent"}, {"child-parent", "frozen"}} {
		t.Run(args[len(args)-1], func(t *testing.T) {
			t.Parallel()
			testDeathWithParent(t, exec.Command(os.Args[0], args...))
		})
	}
}

func testDeathWithParent(t *testing.T, parent *exec.Cmd) {
	t.Helper()
	child := pidFrom(t, parent)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	deadline := time.Now().Add(10 * time.Second)
	for !errors.Is(syscall.Kill(child, 0), syscall.ESRCH) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(child, syscall.SIGKILL)
			t.Fatal("the child lives on")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// pidFrom starts a command and reads a process ID that it prints.
func pidFrom(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	line := firstLine(t, cmd)
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatalf("it prints %q", line)
	}
	return pid
}

func firstLine(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func TestLockNamesItsHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	if pid, err := Holder(path); pid != 0 || err != nil {
		t.Errorf("no file: held by %d, %v", pid, err)
	}
	holder := exec.Command(os.Args[0], "child-lock", path)
	if line := firstLine(t, holder); line != "locked" {
		t.Fatal(line)
	}
	if pid, err := Holder(path); pid != holder.Process.Pid || err != nil {
		t.Errorf("held by %d, %v, want %d", pid, err, holder.Process.Pid)
	}
	if _, err := Lock(path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	if killed, err := KillHolder(t.Context(), path); killed != holder.Process.Pid || err != nil {
		t.Errorf("killed %d, %v", killed, err)
	}
	if pid, err := Holder(path); pid != 0 || err != nil {
		t.Errorf("afterwards held by %d, %v", pid, err)
	}
	if killed, err := KillHolder(t.Context(), path); killed != 0 || err != nil {
		t.Errorf("once more: killed %d, %v", killed, err)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	const size = 32 << 20
	used := make([]byte, size)
	for i := 0; i < size; i += os.Getpagesize() {
		used[i] = 1
	}
	u, err := UsageOf(os.Getpid())
	runtime.KeepAlive(used)
	if err != nil || u.Anonymous < size || u.Proportional < u.Anonymous/2 || u.CPU < 0 {
		t.Errorf("usage of this process, with %d bytes: %+v, %v", size, u, err)
	}
	if _, err := UsageOf(1 << 30); err == nil {
		t.Error("a process that does not exist has a usage")
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	var each []string
	tail := NewTail(2, func(line string) { each = append(each, line) })
	for _, part := range []string{"a\nb", "c\r\n", "\n\xff", strings.Repeat("x", 3*maxLine), "\nlast"} {
		if n, err := tail.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("write: %d, %v", n, err)
		}
	}
	long := "?" + strings.Repeat("x", maxLine-1)
	if got := tail.Lines(); !slices.Equal(got, []string{"bc", long}) {
		t.Errorf("lines %q", got)
	}
	tail.Flush()
	if got := tail.Lines(); !slices.Equal(got, []string{long, "last"}) {
		t.Errorf("lines after flush %q", got)
	}
	if !slices.Equal(each, []string{"a", "bc", long, "last"}) {
		t.Errorf("each: %q", each)
	}
}
