package hub

import (
	"time"

	"github.com/apilab/apilab/server/protocol"
)

// versionPause keeps a busy cluster from filling the pages' queues: at most five versions a second are told.
const versionPause = 200 * time.Millisecond

// A version is the newest resourceVersion seen.
type version struct {
	newest string
	told   time.Time
	timer  *time.Timer // tells the newest when the pause is over; nil: nothing waits
}

// versionSeen is called by the session.
func (h *Hub) versionSeen(s *session, rv string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.over || rv == h.version.newest {
		return
	}
	h.version.newest = rv
	if h.version.timer != nil {
		return
	}
	if pause := versionPause - time.Since(h.version.told); pause > 0 {
		h.version.timer = time.AfterFunc(pause, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.version.timer != nil {
				h.version.timer = nil
				h.tellVersion()
			}
		})
		return
	}
	h.tellVersion()
}

// forgetVersion is called when the cluster is gone; mu is held.
func (h *Hub) forgetVersion() {
	if h.version.timer != nil {
		h.version.timer.Stop()
	}
	h.version = version{}
	h.tellVersion()
}

// tellVersion sends the newest version; mu is held.
func (h *Hub) tellVersion() {
	h.version.told = time.Now()
	h.broadcast("rv", protocol.RV{ResourceVersion: h.version.newest})
}
