package hub

import (
	"slices"
	"strconv"

	"github.com/apilab/apilab/gateway"
	"github.com/apilab/apilab/server/protocol"
)

// eventsTold is how many of a watch's newest events go to the page, without their objects.
const eventsTold = 8

// requested is called by the gateway within the learner's request.
func (h *Hub) requested(r gateway.Record) {
	if !r.Done && r.Verb != "watch" {
		return // its end is worth telling
	}
	version := versionOf(r)
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Verb != "watch" {
		h.beActive() // also from their own machine
	}
	if h.session != nil && !r.Time.Before(h.session.began) {
		h.versionSeen(h.session, version)
	}
	if len(h.pages) > 0 || len(h.observers) > 0 {
		h.broadcast(requestKey+strconv.FormatUint(r.ID, 10), protocol.Requested{Record: withoutBodies(r)})
	}
}

// requestKey begins the keys of messages about requests.
const requestKey = "request "

func withoutBodies(r gateway.Record) gateway.Record {
	r.RequestBody, r.ResponseBody = nil, nil
	r.Events = slices.Clone(r.Events[max(0, len(r.Events)-eventsTold):])
	for i := range r.Events {
		r.Events[i].Object = nil
	}
	return r
}
