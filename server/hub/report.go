package hub

import (
	"time"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cluster"
)

// activePause bounds how often it is reported that a learner is active.
const activePause = 10 * time.Second

// A Report is what became of a learner, for whoever follows their class. All in it is whole; of the exercises it has the
// one that changed.
type Report struct {
	Pages    int       // open
	Busy     int       // terminals in which a command runs
	Active   time.Time // when the learner last did something; zero: not since the server started
	Lesson   string    // ID of the one that they opened last; empty: none since the server started
	Cluster  cluster.State
	Exercise *checker.ExerciseState // nil: another thing changed
	Reset    bool                   // the exercise begins anew
}

// Report reports all that there is, for who begins to follow.
func (h *Hub) Report() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.report(nil, false)
	for _, id := range h.opened {
		h.report(&h.exercises[id].state, false)
	}
}

// report tells what became of the learner; mu is held.
func (h *Hub) report(exercise *checker.ExerciseState, reset bool) {
	if h.o.Report == nil {
		return
	}
	r := Report{Pages: len(h.pages), Active: h.active, Lesson: h.lesson, Cluster: h.status.State, Reset: reset}
	for _, t := range h.listed {
		if t.Busy {
			r.Busy++
		}
	}
	if exercise != nil {
		state := *exercise
		r.Exercise = &state
	}
	h.o.Report(r)
}

// Active says that the learner did something themselves.
func (h *Hub) Active() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.beActive()
}

// Visit says that the learner opened a lesson.
func (h *Hub) Visit(lesson string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lesson, h.active = lesson, time.Now()
	h.report(nil, false)
}

// beActive is Active; mu is held.
func (h *Hub) beActive() {
	if now := time.Now(); now.Sub(h.active) >= activePause {
		h.active = now
		h.report(nil, false)
	}
}
