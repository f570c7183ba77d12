// Package limits holds the processes of one learner to a share of the machine, so that an endless loop, a fork without end
// or a full memory costs whoever made it, and hardly anybody else. It knows processes, and nothing of what they do.
//
// Where the kernel's control groups may be used, each share is a group. Elsewhere there are priorities, which help while
// a loop runs in a shell, and a limit of each process's memory.
package limits

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// Options say what a share may take. The zero value works.
type Options struct {
	Memory int64 // bytes that the processes of a share may take together; 0 means 1 GiB
	Tasks  int   // processes and threads; 0 means 512
	Logger *slog.Logger
}

// Limits are those of all shares of one server. A nil one has shares without limits.
type Limits struct {
	o      Options
	places []place
	why    error // why no groups can be made, or not for everything

	mu    sync.Mutex
	kills map[string]int // of a share's processes for want of memory, when the last one entered
}

// controllers are the parts of the kernel that limit groups.
var controllers = []string{"cpu", "memory", "pids"}

// A place is a folder in which each folder is a group.
type place struct {
	dir         string
	version     int // of control groups
	controllers []string
}

// Open finds out how well this process may limit others, and makes the folders for it. It takes what it gets: see Says.
// Close removes them.
func Open(o Options) *Limits {
	l := &Limits{o: o.withDefaults(), kills: map[string]int{}}
	l.places, l.why = open()
	return l
}

func (o Options) withDefaults() Options {
	if o.Memory == 0 {
		o.Memory = 1 << 30
	}
	if o.Tasks == 0 {
		o.Tasks = 512
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return o
}

// Says describes in one line what is limited and how; the error says what is missing and what to do about it.
func (l *Limits) Says() (string, error) { return describe(l.places), l.why }

// Memory is what a share may take, in bytes.
func (l *Limits) Memory() int64 { return l.o.Memory }

// Probe says what Open would come to, and makes nothing.
func Probe() (string, error) {
	parents, err := find()
	return describe(parents), err
}

func describe(places []place) string {
	if len(places) == 0 {
		return "by priorities of processes alone"
	}
	var held []string
	for _, p := range places {
		held = append(held, p.controllers...)
	}
	slices.Sort(held)
	return fmt.Sprintf("%s of each, by control groups of version %d", strings.Join(held, ", "), places[0].version)
}

func (l *Limits) limits(controller string) bool {
	return slices.ContainsFunc(l.places, func(p place) bool { return slices.Contains(p.controllers, controller) })
}

// A Share is what some processes may take together. A nil one limits nothing.
type Share struct {
	limits *Limits
	name   string
	weight int // of CPU time where it is short; 100 is usual
	nice   int // instead, without groups
}

// Cluster is the share of a cluster's control plane.
func (l *Limits) Cluster(id string) *Share { return l.share("cluster-"+id, 100, 5) }

// Shells is the share of all shells of a learner, and of what they start. It yields to clusters, so that a learner whose
// shell is busy still has an API server that answers.
func (l *Limits) Shells(learner string) *Share { return l.share("shells-"+learner, 50, 10) }

func (l *Limits) share(name string, weight, nice int) *Share {
	if l == nil {
		return nil
	}
	return &Share{limits: l, name: name, weight: weight, nice: nice}
}

// Enter puts a process into the share, with all that it starts from now on. Its process group must be its own. What cannot
// be limited runs without, and is logged.
func (s *Share) Enter(pid int) {
	if s == nil {
		return
	}
	l := s.limits
	kills, err := s.enter(pid)
	if err != nil {
		l.o.Logger.Warn("a process is not held to its share", "share", s.name, "pid", pid, "error", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kills[s.name] = kills
}

func (s *Share) enter(pid int) (kills int, err error) {
	var errs []error
	for _, p := range s.limits.places {
		errs = append(errs, p.enter(s, pid))
	}
	if !s.limits.limits("cpu") {
		errs = append(errs, setNice(pid, s.nice))
	}
	if !s.limits.limits("memory") {
		errs = append(errs, setMemory(pid, s.limits.o.Memory))
	}
	return s.limits.killed(s.name), errors.Join(errs...)
}

// Exhausted tells whether the kernel has ended one of the share's processes, since the last one entered, because together
// they took more memory than they may.
func (s *Share) Exhausted() bool {
	if s == nil {
		return false
	}
	s.limits.mu.Lock()
	defer s.limits.mu.Unlock()
	return s.limits.killed(s.name) > s.limits.kills[s.name]
}

// Memory is what the share may take, in bytes; 0: any.
func (s *Share) Memory() int64 {
	if s == nil {
		return 0
	}
	return s.limits.o.Memory
}

// Close removes the groups of processes that have ended.
func (l *Limits) Close() error {
	if l == nil {
		return nil
	}
	var errs []error
	for _, p := range l.places {
		errs = append(errs, remove(p.dir))
	}
	return errors.Join(errs...)
}
