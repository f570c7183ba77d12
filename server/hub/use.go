package hub

import "time"

// lookAgain is how often it is looked whether a command that runs while no page is open has ended.
const lookAgain = 20 * time.Second

// occupy keeps the cluster awake as long as a page is open or a command runs in a terminal; mu is held. Clusters.Use calls
// nothing back.
func (h *Hub) occupy() {
	busy := !h.closed && (len(h.pages) > 0 || h.runs())
	switch {
	case busy && h.release == nil:
		h.release = h.o.Clusters.Use(h.id)
	case !busy && h.release != nil:
		h.release()
		h.release = nil
	}
	if busy && len(h.pages) == 0 && !h.lookingAgain {
		h.lookingAgain = true
		time.AfterFunc(lookAgain, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.lookingAgain = false
			h.occupy()
		})
	}
}

// runs tells whether a command runs in a terminal; mu is held.
func (h *Hub) runs() bool {
	for _, t := range h.terminals {
		if !t.exited() && t.Busy() {
			return true
		}
	}
	return false
}
