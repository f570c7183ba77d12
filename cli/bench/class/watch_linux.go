package class

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/apilab/apilab/cluster/embedded/process"
)

// clockTick is the unit of CPU times in /proc: USER_HZ is 100 on every architecture that Go runs on.
const clockTick = 10 * time.Millisecond

// A processStat is what /proc/PID/stat says (proc(5)).
type processStat struct {
	parent int
	cpu    time.Duration // of the process, and of those of its children that have ended
}

// processesOf looks at a process and all that come from it.
func processesOf(root int) map[part]load {
	all := map[int]processStat{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if stat, ok := statOf(pid); ok {
			all[pid] = stat
		}
	}
	found := map[part]load{}
	for pid, stat := range all {
		if descends(all, pid, root) {
			l := found[partOf(pid, root)]
			l.add(loadOf(pid, stat))
			found[partOf(pid, root)] = l
		}
	}
	return found
}

func statOf(pid int) (processStat, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return processStat{}, false // it has ended
	}
	// The second field is the program's name in parentheses, which may hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const parent, utime, cstime = 4 - 3, 14 - 3, 17 - 3
	if len(fields) <= cstime {
		return processStat{}, false
	}
	stat := processStat{}
	stat.parent, _ = strconv.Atoi(fields[parent])
	for _, field := range fields[utime : cstime+1] {
		ticks, _ := strconv.ParseInt(field, 10, 64)
		stat.cpu += time.Duration(ticks) * clockTick
	}
	return stat, true
}

func descends(all map[int]processStat, pid, root int) bool {
	for pid > 1 && pid != root {
		pid = all[pid].parent
	}
	return pid == root
}

// partOf tells the parts apart by their first argument: they are one binary.
func partOf(pid, root int) part {
	if pid == root {
		return serving
	}
	command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if args := strings.Split(string(command), "\x00"); len(args) > 1 && args[1] == "control-plane" {
		return clusters
	}
	return shells
}

func loadOf(pid int, stat processStat) load {
	l := load{processes: 1, cpu: stat.cpu}
	if used, err := process.UsageOf(pid); err == nil {
		l.private, l.pss = used.Anonymous, used.Proportional
	}
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	files, _ := os.ReadDir(folder)
	l.files = len(files)
	for _, file := range files {
		if target, _ := os.Readlink(filepath.Join(folder, file.Name())); target == "anon_inode:inotify" {
			l.watches++
		}
	}
	return l
}

func readMachineTime() (t machineTime) {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n") // "cpu user nice system idle iowait irq softirq steal …", of all processors
	for i, field := range strings.Fields(line) {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil || i > 8 { // what guests take is in what their hosts take
			continue
		}
		spent := time.Duration(ticks) * clockTick
		t.all += spent
		if i != 4 && i != 5 && i != 8 { // idle, waiting, or taken by the host of this machine
			t.busy += spent
		}
	}
	var own unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &own) == nil {
		t.own = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	}
	return t
}
