package checker

import (
	stdjson "encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/apilab/apilab/gateway"
)

// Bounds of what is kept for checks: requests, and bytes of their bodies and events, of which the oldest go first.
const (
	maxRequests = 512
	maxBodies   = 4 << 20
)

// requests are the learner's newest requests, ascending by ID. They belong to the loop.
type requests struct {
	all   []*request
	bytes int // of bodies and events
}

// A request is one record, and what an expression sees of it, made when one asks.
type request struct {
	record gateway.Record
	value  map[string]any
	full   bool // value has bodies and events
	// Events that were decoded, by their number in the whole watch: a record comes again with each new one.
	decoded map[int]any
}

// followRecords takes over the records there are, and each change from now on.
func (s *Session) followRecords() {
	take := func(record gateway.Record) { s.queue.push(func() { s.record(record) }) }
	stop := s.records.Subscribe(take)
	for _, record := range s.records.Records() {
		take(record)
	}
	if !s.queue.push(func() { s.stopRecords = stop }) {
		stop()
	}
}

// record takes a new state of a request and judges the checks that look at requests.
func (s *Session) record(record gateway.Record) {
	r, isNews := s.requests.put(record)
	if !isNews {
		return
	}
	var concerned []func()
	s.eachOpen(func(o *opened, c *check) {
		if sees, ok := c.judge.(interface{ seen(*request) bool }); ok && o.span.counts(record.ID) && sees.seen(r) {
			concerned = append(concerned, func() { s.evaluate(o, c) })
		}
	})
	for _, evaluate := range concerned {
		evaluate()
	}
}

func (rs *requests) last() uint64 {
	if len(rs.all) == 0 {
		return 0
	}
	return rs.all[len(rs.all)-1].record.ID
}

// put keeps a record; it reports false when a later state of it is known already.
func (rs *requests) put(record gateway.Record) (*request, bool) {
	i := len(rs.all)
	for i > 0 && rs.all[i-1].record.ID > record.ID {
		i--
	}
	if i > 0 && rs.all[i-1].record.ID == record.ID {
		r := rs.all[i-1]
		before := r.record
		if before.Done || !record.Done && before.EventCount >= record.EventCount && before.Status.Code == record.Status.Code {
			return nil, false
		}
		rs.bytes += bodies(record) - bodies(before)
		r.record, r.value, r.full = record, nil, false
		rs.shrink(r)
		return r, true
	}
	r := &request{record: record}
	rs.all = append(rs.all, nil)
	copy(rs.all[i+1:], rs.all[i:])
	rs.all[i] = r
	rs.bytes += bodies(record)
	rs.shrink(r)
	return r, true
}

// shrink forgets what is too old, but not the newest news.
func (rs *requests) shrink(newest *request) {
	for len(rs.all) > maxRequests {
		rs.bytes -= bodies(rs.all[0].record)
		rs.all = rs.all[1:]
	}
	for i := 0; rs.bytes > maxBodies && i < len(rs.all); i++ {
		if r := rs.all[i]; r != newest {
			rs.bytes -= bodies(r.record)
			r.record.RequestBody, r.record.ResponseBody, r.record.Events = nil, nil, nil
			r.value, r.decoded = nil, nil
		}
	}
}

func bodies(record gateway.Record) int {
	n := len(record.RequestBody) + len(record.ResponseBody)
	for _, e := range record.Events {
		n += len(e.Object)
	}
	return n
}

// val is what an expression sees; full with bodies and events, which cost something to decode.
func (r *request) val(full bool) map[string]any {
	if r.value != nil && (r.full || !full) {
		return r.value
	}
	record := r.record
	query := map[string]any{}
	for key, values := range record.Query {
		if len(values) > 0 {
			query[key] = values[0]
		}
	}
	r.value = map[string]any{
		"id": int64(record.ID), "time": record.Time, "duration": record.Duration.Round(time.Microsecond), "done": record.Done,
		"method": record.Method, "path": record.Path, "query": query,
		"verb": record.Verb, "group": record.APIGroup, "version": record.APIVersion, "resource": record.Resource,
		"subresource": record.Subresource, "namespace": record.Namespace, "name": record.Name,
		"contentType": record.ContentType, "accept": record.Accept, "fieldManager": record.FieldManager,
		"userAgent": record.UserAgent, "user": record.User,
		"status": map[string]any{
			"code": int64(record.Status.Code), "reason": record.Status.Reason, "message": record.Status.Message,
		},
		"body": nil, "response": nil, "events": []any{}, "eventCount": int64(record.EventCount),
	}
	r.full = full
	if full {
		r.value["body"], r.value["response"], r.value["events"] = decode(record.RequestBody), decode(record.ResponseBody), r.events()
	}
	return r.value
}

func (r *request) events() []any {
	first := r.record.EventCount - len(r.record.Events)
	decoded := make(map[int]any, len(r.record.Events))
	events := make([]any, len(r.record.Events))
	for i, e := range r.record.Events {
		object, ok := r.decoded[first+i]
		if !ok {
			object = decode(e.Object)
		}
		decoded[first+i] = object
		events[i] = map[string]any{"type": e.Type, "object": object}
	}
	r.decoded = decoded
	return events
}

// decode returns JSON as the value of a variable, whole numbers as int64; nil if there is none.
func decode(raw stdjson.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil
	}
	return v
}

// line is the request as one reads it in a log: "GET /api/v1/pods?watch=1".
func (r *request) line() string {
	line := r.record.Method + " " + r.record.Path
	if len(r.record.Query) > 0 {
		line += "?" + r.record.Query.Encode()
	}
	return line
}

// short is its line for a sentence.
func (r *request) short() string {
	const bound = 100
	if runes := []rune(r.line()); len(runes) > bound {
		return string(runes[:bound-1]) + "…"
	}
	return r.line()
}
