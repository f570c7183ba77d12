package limits

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// prefix begins the names of the folders that servers make for their groups; the server's process ID follows.
const prefix = "apilab-"

// ownGroup is where a server moves itself, as control groups of version 2 hold either processes or groups.
const ownGroup = prefix + "server"

// ownWeight is the weight of the server beside all shares together, which have 100: it does little, and all wait for it.
const ownWeight = 500

// delegate is what to do where the group is not this server's alone.
const delegate = "start it in a group of its own: `systemd-run --user --scope -p Delegate=yes apilab serve …` (as root without --user)"

// find returns the groups that this process is in, as far as it may make groups in them.
func find() ([]place, error) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("this kernel has no control groups: %w", err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var errs []error
	var held []place
	found := parse(string(groups), string(mounts))
	for _, p := range found {
		if p.version == 2 {
			p.controllers = delegated(p.dir)
		}
		switch {
		case len(p.controllers) == 0:
		case unix.Access(p.dir, unix.W_OK) != nil:
			errs = append(errs, fmt.Errorf("%s is not this user's to write: %s", p.dir, delegate))
		default:
			held = append(held, p)
		}
	}
	held = choose(held)
	for _, controller := range controllers {
		if !slices.ContainsFunc(held, func(p place) bool { return slices.Contains(p.controllers, controller) }) && len(errs) == 0 {
			errs = append(errs, fmt.Errorf("the controller %s is not passed on to this program: %s", controller, delegate))
		}
	}
	return held, errors.Join(errs...)
}

// parse reads /proc/self/cgroup and mountinfo: see cgroups(7).
func parse(groups, mounts string) []place {
	path := map[string]string{} // by controller; that of version 2 is ""
	for line := range strings.Lines(groups) {
		if parts := strings.SplitN(strings.TrimSpace(line), ":", 3); len(parts) == 3 {
			for name := range strings.SplitSeq(parts[1], ",") {
				path[name] = parts[2]
			}
		}
	}
	var found []place
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		mount, what := strings.Fields(before), strings.Fields(after)
		if len(mount) < 5 || len(what) < 3 {
			continue
		}
		at := func(controller string) string {
			inside, err := filepath.Rel(mount[3], path[controller])
			if err != nil || strings.HasPrefix(inside, "..") {
				inside = "" // of a container that sees its own group as the root
			}
			return filepath.Join(mount[4], inside)
		}
		switch what[0] {
		case "cgroup2":
			found = append(found, place{dir: at(""), version: 2})
		case "cgroup":
			p := place{version: 1}
			for option := range strings.SplitSeq(what[2], ",") {
				if slices.Contains(controllers, option) {
					p.dir, p.controllers = at(option), append(p.controllers, option)
				}
			}
			if p.dir != "" {
				found = append(found, p)
			}
		}
	}
	return found
}

// choose takes version 2 if it has any of the controllers, which are then not in version 1.
func choose(all []place) []place {
	if i := slices.IndexFunc(all, func(p place) bool { return p.version == 2 }); i >= 0 {
		return all[i : i+1]
	}
	return all
}

// delegated are those controllers of a group of version 2 that may be passed on to groups in it.
func delegated(dir string) []string {
	text, _ := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	return slices.DeleteFunc(strings.Fields(string(text)), func(c string) bool { return !slices.Contains(controllers, c) })
}

// open makes a folder for the groups of this server in each group that it is in.
func open() ([]place, error) {
	parents, err := find()
	var opened []place
	errs := []error{err}
	for _, p := range parents {
		sweep(p.dir)
		parent := p.dir
		p.dir = filepath.Join(parent, prefix+strconv.Itoa(os.Getpid()))
		if err := p.open(parent); err != nil {
			errs = append(errs, err, remove(p.dir))
			continue
		}
		opened = append(opened, p)
	}
	return opened, errors.Join(errs...)
}

func (p place) open(parent string) error {
	if p.version == 2 {
		if err := passOn(parent, p.controllers); err != nil {
			return err
		}
	}
	if err := os.Mkdir(p.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if p.version == 2 {
		return enable(p.dir, p.controllers)
	}
	return nil
}

// passOn lets the groups in a group have its controllers. Those that it has itself must be in one of them first.
func passOn(dir string, names []string) error {
	err := enable(dir, names)
	if !errors.Is(err, unix.EBUSY) {
		return err
	}
	own := filepath.Join(dir, ownGroup)
	if err := os.Mkdir(own, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := move(own, os.Getpid()); err != nil {
		return err
	}
	if err = enable(dir, names); errors.Is(err, unix.EBUSY) {
		_ = move(dir, os.Getpid())
		_ = os.Remove(own)
		return fmt.Errorf("other programs are in this one's control group %s: %s", dir, delegate)
	}
	if err != nil || !slices.Contains(names, "cpu") {
		return err
	}
	return write(filepath.Join(own, "cpu.weight"), strconv.Itoa(ownWeight))
}

func enable(dir string, names []string) error {
	return write(filepath.Join(dir, "cgroup.subtree_control"), "+"+strings.Join(names, " +"))
}

func move(dir string, pid int) error {
	return write(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(pid))
}

// write does not make the file, as os.WriteFile would: the kernel has it, or there is no such limit.
func write(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

// enter makes the share's group if need be, and moves the process into it.
func (p place) enter(s *Share, pid int) error {
	dir := filepath.Join(p.dir, s.name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	limits := map[string]int64{"cpu": int64(s.weight), "memory": s.limits.o.Memory, "pids": int64(s.limits.o.Tasks)}
	return errors.Join(p.set(dir, limits), move(dir, pid))
}

// set writes the limits of a group: a weight of CPU time, bytes of memory, a number of tasks.
func (p place) set(dir string, limits map[string]int64) error {
	var errs []error
	for controller, limit := range limits {
		if !slices.Contains(p.controllers, controller) {
			continue
		}
		file := map[string]string{"cpu": "cpu.weight", "memory": "memory.max", "pids": "pids.max"}[controller]
		if p.version == 1 && controller == "cpu" {
			file, limit = "cpu.shares", limit*1024/100
		}
		if p.version == 1 && controller == "memory" {
			file = "memory.limit_in_bytes"
		}
		errs = append(errs, write(filepath.Join(dir, file), strconv.FormatInt(limit, 10)))
	}
	return errors.Join(errs...)
}

// killed is how many processes of a share the kernel has ever ended for want of memory.
func (l *Limits) killed(name string) int {
	for _, p := range l.places {
		if !slices.Contains(p.controllers, "memory") {
			continue
		}
		file := "memory.events"
		if p.version == 1 {
			file = "memory.oom_control"
		}
		text, _ := os.ReadFile(filepath.Join(p.dir, name, file))
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			if count, ok := strings.CutPrefix(lines.Text(), "oom_kill "); ok {
				n, _ := strconv.Atoi(count)
				return n
			}
		}
	}
	return 0
}

// sweep removes the groups of servers that have ended without doing so.
func sweep(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, prefix+"*"))
	for _, group := range left {
		if pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(group), prefix)); err == nil && unix.Kill(pid, 0) == unix.ESRCH {
			_ = remove(group)
		}
	}
}

// remove removes a group, and the groups in it. The kernel refuses while a process is in one.
func remove(dir string) error {
	inner, _ := filepath.Glob(filepath.Join(dir, "*", "cgroup.procs"))
	for _, procs := range inner {
		_ = os.Remove(filepath.Dir(procs))
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// setNice lowers the priority of a process and its threads. Where each session is scheduled as one, it is the session's
// that counts (sched(7), "The autogroup feature"); a shell has one of its own.
func setNice(pid, nice int) error {
	if session, err := unix.Getsid(pid); err == nil && session == pid {
		_ = write(fmt.Sprintf("/proc/%d/autogroup", pid), strconv.Itoa(nice))
	}
	return unix.Setpriority(unix.PRIO_PGRP, pid, nice)
}

// setMemory bounds the private memory of a process, and of each that it starts.
func setMemory(pid int, bytes int64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_DATA, nil, &old); err != nil {
		return err
	}
	limit := min(uint64(bytes), old.Max)
	return unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: old.Max}, nil)
}
