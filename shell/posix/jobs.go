package posix

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// A job is a command in the background.
type job struct {
	number int // as %1 names it
	pid    int // as $! names it; not a process's
	text   string
	ctx    context.Context
	cancel context.CancelFunc
	begun  bool
	done   bool
	killed bool
	status int
	told   bool // its end was shown
}

func (j *job) state() string {
	switch {
	case !j.done:
		return "Running"
	case j.killed:
		return "Terminated"
	case j.status != 0:
		return fmt.Sprintf("Exit %d", j.status)
	}
	return "Done"
}

// jobs is the table of a shell's jobs.
type jobs struct {
	mu      sync.Mutex
	changed *sync.Cond
	all     []*job
	count   int    // ever started
	running int    // begun and not done
	first   func() // called as one job begins, and idle as none is left
	idle    func()
}

// firstPID is where the numbers of jobs start: they look like processes'.
const firstPID = 1000

func (t *jobs) started() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

// add makes a job, or refuses it at the limit of running ones.
func (t *jobs) add(ctx context.Context, text string, limit int) (*job, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	running, number := 0, 1
	kept := t.all[:0]
	for _, j := range t.all {
		if !j.done {
			running++
		}
		if !j.done || !j.told || t.count-j.pid+firstPID < 100 {
			kept = append(kept, j)
		}
	}
	clear(t.all[len(kept):])
	t.all = kept
	if limit > 0 && running >= limit {
		return nil, &LimitError{fmt.Sprintf("more than %d background jobs at once", limit)}
	}
	for _, j := range t.all {
		if !j.done || !j.told {
			number = max(number, j.number+1)
		}
	}
	t.count++
	j := &job{number: number, pid: firstPID + t.count, text: text}
	j.ctx, j.cancel = context.WithCancel(ctx)
	t.all = append(t.all, j)
	return j, nil
}

// abandon ends a job that has not begun: the script that would start it was stopped.
func (t *jobs) abandon(j *job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !j.begun {
		j.begun, j.done, j.told = true, true, true
		t.changed.Broadcast()
	}
}

func (t *jobs) byPID(pid string) *job {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, j := range t.all {
		if strconv.Itoa(j.pid) == pid {
			return j
		}
	}
	return nil
}

// find resolves %1, %+, %text and 1001.
func (t *jobs) find(spec string) *job {
	rest, percent := strings.CutPrefix(spec, "%")
	if !percent {
		return t.byPID(spec)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.all) - 1; i >= 0; i-- {
		j := t.all[i]
		switch {
		case (rest == "" || rest == "+" || rest == "%") && !j.done:
			return j
		case strconv.Itoa(j.number) == rest && (!j.done || !j.told):
			return j
		case rest != "" && rest[0] > '9' && strings.HasPrefix(j.text, rest) && !j.done:
			return j
		}
	}
	return nil
}

func (t *jobs) list() []*job {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]*job(nil), t.all...)
}

func (t *jobs) since(count int) []*job {
	var late []*job
	for _, j := range t.list() {
		if j.pid > firstPID+count {
			late = append(late, j)
		}
	}
	return late
}

func (t *jobs) kill(list []*job) {
	for _, j := range list {
		t.mu.Lock()
		j.killed = j.killed || !j.done
		t.mu.Unlock()
		j.cancel()
	}
}

// begin is called as a job's standard input is opened; closing that ends the job.
func (t *jobs) begin(pid string) (io.ReadWriteCloser, error) {
	j := t.byPID(pid)
	t.mu.Lock()
	defer t.mu.Unlock()
	if j == nil || j.begun {
		return nil, errInterrupted
	}
	j.begun = true
	if t.running++; t.running == 1 && t.first != nil {
		t.first()
	}
	return &jobInput{t: t, j: j}, nil
}

func (t *jobs) setStatus(pid string, status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, j := range t.all {
		if strconv.Itoa(j.pid) == pid {
			j.status = status
		}
	}
}

// wait returns when all of list are done, or the context is.
func (t *jobs) wait(ctx context.Context, list []*job) error {
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.changed.Broadcast()
	})
	defer stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, j := range list {
		for !j.done {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			t.changed.Wait()
		}
	}
	return nil
}

// jobInput is an empty stream.
type jobInput struct {
	t    *jobs
	j    *job
	once sync.Once
}

func (i *jobInput) Read([]byte) (int, error)    { return 0, io.EOF }
func (i *jobInput) Write(p []byte) (int, error) { return len(p), nil }

func (i *jobInput) Close() error {
	i.once.Do(func() {
		i.t.mu.Lock()
		defer i.t.mu.Unlock()
		if i.j.killed && i.j.status == 0 {
			i.j.status = 143
		}
		i.j.done = true
		i.j.cancel()
		if i.t.running--; i.t.running == 0 && i.t.idle != nil {
			i.t.idle()
			i.t.idle = nil
		}
		i.t.changed.Broadcast()
	})
	return nil
}

// Ended returns a line for each job that ended since the last call, and forgets them.
func (s *Shell) Ended() []string {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	var out []string
	for _, j := range s.jobs.all {
		if j.done && !j.told {
			j.told = true
			out = append(out, fmt.Sprintf("[%d]+  %-23s %s", j.number, j.state(), j.text))
		}
	}
	return out
}

// WaitJobs returns when no job is left, or the context ends.
func (s *Shell) WaitJobs(ctx context.Context) { s.jobs.wait(ctx, s.jobs.list()) }

// Running counts the jobs that are not done, those included that are only about to begin.
func (s *Shell) Running() int {
	running := 0
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	for _, j := range s.jobs.all {
		if !j.done {
			running++
		}
	}
	return running
}
