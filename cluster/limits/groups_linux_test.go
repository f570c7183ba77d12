package limits

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// behave makes the test binary one of the programs that are limited.
const behave = "APILAB_TEST_BEHAVE"

func TestMain(m *testing.M) {
	switch os.Getenv(behave) {
	case "wait":
		_, _ = os.Stdin.Read(make([]byte, 1))
	case "spin":
		_, _ = os.Stdin.Read(make([]byte, 1)) // for the word to begin
		for n := 0; ; n++ {
		}
	case "swell":
		_, _ = os.Stdin.Read(make([]byte, 1))
		var kept [][]byte
		for range 4096 {
			block := make([]byte, 1<<20)
			for i := 0; i < len(block); i += 4096 {
				block[i] = 1
			}
			kept = append(kept, block)
		}
		os.Exit(len(kept) & 1)
	case "fork":
		_, _ = os.Stdin.Read(make([]byte, 1))
		for n := range 200 {
			child := exec.Command("/proc/self/exe")
			child.Env = []string{behave + "=wait", "GOMAXPROCS=1"}
			if _, err := child.StdinPipe(); err != nil {
				os.Exit(1)
			}
			child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			if err := child.Start(); err != nil {
				println(n, err.Error())
				os.Exit(7)
			}
		}
		os.Exit(0)
	default:
		os.Exit(m.Run())
	}
}

// started is a child that behaves in a way, in a share, once it is told to go.
type started struct {
	*exec.Cmd
	begin func()
}

func start(t *testing.T, s *Share, as string) started {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe)
	c.Env = []string{behave + "=" + as, "GOMAXPROCS=1"}
	c.Stderr = t.Output()
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = unix.Kill(-c.Process.Pid, unix.SIGKILL)
		_ = c.Wait()
	})
	s.Enter(c.Process.Pid)
	return started{c, func() { _, _ = in.Write([]byte("\n")) }}
}

// grouped opens limits by groups, or skips the test where these cannot be made.
func grouped(t *testing.T, o Options, controller string) *Limits {
	t.Helper()
	l := Open(o)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("it leaves groups behind: %v", err)
		}
	})
	if !l.limits(controller) {
		_, why := l.Says()
		t.Skipf("no groups that limit %s can be made here: %v", controller, why)
	}
	return l
}

func TestMemoryOfAShare(t *testing.T) {
	l := grouped(t, Options{Memory: 64 << 20}, "memory")
	share := l.Cluster("one")
	other := start(t, l.Cluster("two"), "wait")
	c := start(t, share, "swell")
	if share.Exhausted() {
		t.Error("it is exhausted before it began")
	}
	c.begin()
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %v", err)
	}
	if !share.Exhausted() {
		t.Error("nobody knows what it died of")
	}
	if l.Cluster("two").Exhausted() || other.Process.Signal(syscall.Signal(0)) != nil {
		t.Error("another share was hit")
	}
	start(t, share, "wait")
	if share.Exhausted() {
		t.Error("the next process is taken for the one that died")
	}
}

func TestTasksOfAShare(t *testing.T) {
	l := grouped(t, Options{Tasks: 64}, "pids")
	c := start(t, l.Shells("one"), "fork")
	c.begin()
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 7 && exit.ExitCode() != 2 { // Go needs threads, too
		t.Errorf("it was not stopped from forking: %v", err)
	}
}

// TestTimeOfShares lets a crowd of one learner and a single program of another compete for one processor. Its log is
// where the figures in docs/performance.md are from.
func TestTimeOfShares(t *testing.T) {
	l := grouped(t, Options{}, "cpu")
	alone := portion(t, nil, nil)
	byPriority := &Limits{o: l.o, kills: map[string]int{}}
	niced := portion(t, byPriority.Cluster("quiet"), byPriority.Shells("loud"))
	grouped := portion(t, l.Cluster("quiet"), l.Shells("loud"))
	t.Logf("one program beside eight of another learner has %.0f %% of the processor; by priorities %.0f %%, by groups %.0f %%", 100*alone, 100*niced, 100*grouped)
	// By its weight it could have two thirds; as one of nine it gets a ninth.
	if grouped < 0.3 || niced < alone {
		t.Error("the shares do not help")
	}
}

// portion is what part of a processor's time one program gets that competes with eight.
func portion(t *testing.T, one, eight *Share) float64 {
	t.Helper()
	all := []started{start(t, one, "spin")}
	for range 8 {
		all = append(all, start(t, eight, "spin"))
	}
	for _, c := range all {
		if err := schedOn(c.Process.Pid, 0); err != nil {
			t.Fatal(err)
		}
		c.begin()
	}
	time.Sleep(3 * time.Second)
	for _, c := range all {
		_ = unix.Kill(c.Process.Pid, unix.SIGSTOP)
	}
	var sum time.Duration
	for _, c := range all {
		sum += cpu(t, c.Process.Pid)
	}
	return float64(cpu(t, all[0].Process.Pid)) / float64(sum)
}

// schedOn keeps all threads of a process on one processor.
func schedOn(pid, processor int) error {
	var set unix.CPUSet
	set.Set(processor)
	tasks, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*")
	for _, task := range tasks {
		tid, _ := strconv.Atoi(filepath.Base(task))
		err = errors.Join(err, unix.SchedSetaffinity(tid, &set))
	}
	return err
}

func cpu(t *testing.T, pid int) time.Duration {
	t.Helper()
	var sum time.Duration
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			t.Fatal(err)
		}
		nanoseconds, _ := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		sum += time.Duration(nanoseconds)
	}
	return sum
}

// TestWithoutGroups: priorities and a limit of memory are what is left.
func TestWithoutGroups(t *testing.T) {
	t.Parallel()
	l := &Limits{o: Options{Memory: 256 << 20}.withDefaults(), kills: map[string]int{}}
	c := start(t, l.Shells("one"), "wait")
	if nice, err := unix.Getpriority(unix.PRIO_PROCESS, c.Process.Pid); err != nil || 20-nice != 10 {
		t.Errorf("its priority is %d, %v", 20-nice, err)
	}
	var data unix.Rlimit
	if err := unix.Prlimit(c.Process.Pid, unix.RLIMIT_DATA, nil, &data); err != nil || data.Cur != 256<<20 {
		t.Errorf("it may have %d bytes, %v", data.Cur, err)
	}
	if l.Shells("one").Exhausted() {
		t.Error("it is exhausted")
	}
}

func TestNothingIsLimited(t *testing.T) {
	t.Parallel()
	var l *Limits
	l.Cluster("a").Enter(1)
	if l.Shells("a").Exhausted() || l.Close() != nil {
		t.Error("limits that are not there do something")
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	const two = "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	const one = "31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
		"32 25 0:28 /box /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
		"33 25 0:29 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n"
	for name, c := range map[string]struct {
		groups, mounts string
		want           []place
	}{
		"version 2":            {"0::/user.slice/a.scope\n", two, []place{{"/sys/fs/cgroup/user.slice/a.scope", 2, nil}}},
		"version 2, contained": {"0::/../other\n", "30 24 0:26 /mine /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", []place{{"/sys/fs/cgroup", 2, nil}}},
		"version 1": {"4:memory:/box/a\n3:cpu,cpuacct:/b\n1:freezer:/\n", one, []place{
			{"/sys/fs/cgroup/cpu,cpuacct/b", 1, []string{"cpu"}}, {"/sys/fs/cgroup/memory/a", 1, []string{"memory"}}}},
		"none": {"", "25 1 0:5 / / rw - ext4 /dev/vda rw\n", nil},
	} {
		if got := parse(c.groups, c.mounts); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestFiles looks at what is written where, on folders that stand for the kernel's of either version.
func TestFiles(t *testing.T) {
	t.Parallel()
	for version, files := range map[int]map[string]string{
		1: {"cpu.shares": "512", "memory.limit_in_bytes": "268435456", "pids.max": "512", "cgroup.procs": "42", "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"},
		2: {"cpu.weight": "50", "memory.max": "268435456", "pids.max": "512", "cgroup.procs": "42", "memory.events": "low 0\noom 4\noom_kill 3\noom_group_kill 0\n"},
	} {
		l := &Limits{o: Options{Memory: 256 << 20}.withDefaults(), kills: map[string]int{}}
		p := place{dir: t.TempDir(), version: version, controllers: controllers}
		l.places = []place{p}
		group := filepath.Join(p.dir, "shells-one")
		if err := os.Mkdir(group, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if !strings.Contains(name, "oom") && name != "memory.events" {
				text = ""
			}
			if err := os.WriteFile(filepath.Join(group, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		share := l.Shells("one")
		if _, err := share.enter(42); err != nil {
			t.Errorf("version %d: %v", version, err)
		}
		for name, want := range files {
			if text, _ := os.ReadFile(filepath.Join(group, name)); string(text) != want {
				t.Errorf("version %d: %s is %q", version, name, text)
			}
		}
		if n := l.killed("shells-one"); n != 3 || !share.Exhausted() {
			t.Errorf("version %d: %d were killed", version, n)
		}
	}
}

// TestSays is what doctor prints.
func TestSays(t *testing.T) {
	t.Parallel()
	l := &Limits{}
	if says, _ := l.Says(); says != "by priorities of processes alone" {
		t.Errorf("without groups: %s", says)
	}
	l.places = []place{{version: 1, controllers: []string{"memory"}}, {version: 1, controllers: []string{"cpu"}}}
	if says, _ := l.Says(); says != "cpu, memory of each, by control groups of version 1" {
		t.Errorf("with groups: %s", says)
	}
}
