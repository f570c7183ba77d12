package hub

import (
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/apilab/apilab/gateway"
	"github.com/apilab/apilab/server/protocol"
)

// versionPause keeps a busy cluster from filling the pages' queues: at most five versions a second are told.
const versionPause = 200 * time.Millisecond

// A version is the newest resourceVersion seen: by the platform when the session began, in the session's watches, and in
// what the learner was answered. It is a picture of the one store behind the built-in resources; nothing is decided by it.
type version struct {
	newest string
	told   time.Time
	timer  *time.Timer // tells the newest when the pause is over; nil: nothing waits
}

// askVersion finds out where a cluster stands that nobody has done anything with yet.
func (h *Hub) askVersion(s *session) {
	newest, err := h.o.Newest(s.ctx, s.cluster.Config())
	if err != nil {
		h.log.Debug("ask for the newest version", "error", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.versionSeen(s, newest)
}

// versionOf returns the version that a successful response, or the newest event of a watch, carries. The versions of
// responses that are too large to be kept are not known.
func versionOf(r gateway.Record) string {
	if r.Status.Code < 200 || r.Status.Code > 299 {
		return ""
	}
	body := r.ResponseBody
	if n := len(r.Events); n > 0 {
		body = r.Events[n-1].Object
	}
	var answer struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if len(body) == 0 || json.Unmarshal(body, &answer) != nil {
		return "" // not an object
	}
	return answer.Metadata.ResourceVersion
}

// versionSeen takes a version that may be newer than what is known; mu is held.
func (h *Hub) versionSeen(s *session, rv string) {
	if s.over || !newer(rv, h.version.newest) {
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

// newer reports whether a is a version, and a later one than b.
func newer(a, b string) bool {
	if b == "" {
		_, err := resourceversion.CompareResourceVersion(a, a) // only whether it is one
		return err == nil
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
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
