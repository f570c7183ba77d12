package class

import (
	"context"
	"sync"
	"time"
)

// lookEvery is how often the processes are looked at; that costs some milliseconds for each.
const lookEvery = 20 * time.Second

// A part is processes of one kind.
type part string

// The parts of a class server.
const (
	serving  part = "server"
	clusters part = "control planes"
	shells   part = "shells and kubectl"
)

var parts = []part{serving, clusters, shells}

// A load is what processes take from the machine at a time.
type load struct {
	processes int
	private   int64 // bytes of anonymous memory
	pss       int64 // bytes, shared pages divided among their users
	files     int   // file descriptors
	watches   int   // inotify instances
	cpu       time.Duration
}

func (l *load) add(other load) {
	l.processes += other.processes
	l.private += other.private
	l.pss += other.pss
	l.files += other.files
	l.watches += other.watches
	l.cpu += other.cpu
}

// A watch looks at the server's processes, and at the machine.
type watch struct {
	mu     sync.Mutex
	first  machineTime
	last   machineTime
	before map[part]load // at the first look
	now    map[part]load
	peak   map[part]load // each figure by itself
	whole  load          // of all parts at one time
}

// run looks until ctx ends, and once more then. root is the server's process.
func (w *watch) run(ctx context.Context, root func() int) {
	w.look(root())
	for sleep(ctx, lookEvery) == nil {
		w.look(root())
	}
	w.look(root())
}

func (w *watch) look(root int) {
	now := processesOf(root)
	if len(now) == 0 {
		return // nothing tells it here, or the server has just been killed
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = readMachineTime()
	if w.peak == nil {
		w.peak, w.before, w.first = map[part]load{}, now, w.last
	}
	w.now = now
	var whole load
	for part, l := range now {
		whole.add(l)
		w.peak[part] = higher(w.peak[part], l)
	}
	w.whole = higher(w.whole, whole)
}

func higher(a, b load) load {
	return load{
		processes: max(a.processes, b.processes), private: max(a.private, b.private), pss: max(a.pss, b.pss),
		files: max(a.files, b.files), watches: max(a.watches, b.watches), cpu: max(a.cpu, b.cpu),
	}
}

// machineTime is the processors' time since the machine started, and this program's part of it.
type machineTime struct{ busy, all, own time.Duration }

// share is the part of the machine's time, from 0 to 1, that was spent working, and that this program spent, since the first
// look.
func (w *watch) share() (busy, own float64) {
	all := float64(w.last.all - w.first.all)
	if all <= 0 {
		return 0, 0
	}
	return float64(w.last.busy-w.first.busy) / all, float64(w.last.own-w.first.own) / all
}

// of is a part's share of the machine's time. It is nothing where the server was killed in between.
func (w *watch) of(p part) float64 {
	all := float64(w.last.all - w.first.all)
	if all <= 0 {
		return 0
	}
	return max(0, float64(w.now[p].cpu-w.before[p].cpu)) / all
}
