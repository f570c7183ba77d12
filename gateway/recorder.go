package gateway

import (
	"slices"
	"sync"
)

// limits bound what a Recorder keeps.
type limits struct {
	records    int // requests
	bytes      int // of all records together, approximate
	body       int // bytes of one body or one watched object
	events     int // newest events of one watch
	eventBytes int // of the events of one watch together
}

var defaultLimits = limits{records: 512, bytes: 16 << 20, body: 256 << 10, events: 256, eventBytes: 1 << 20}

// recordOverhead is what a record costs beside its strings and bodies; an estimate on the safe side.
const recordOverhead = 1 << 10

// A Recorder keeps the newest requests of one learner: at most 512, and 16 MiB of them. When bytes run short, the oldest
// records lose their bodies and events first; when there are too many, the oldest that ended goes.
type Recorder struct {
	limits limits

	// order is held over a change and its delivery, so that every subscriber sees all changes in one order. mu guards
	// the fields, and is free while subscribers run: they may call Records, Subscribe and stop.
	order sync.Mutex

	mu          sync.Mutex
	last        uint64   // newest ID given
	entries     []*entry // ascending IDs
	bytes       int      // sum of the entries' sizes
	subscribers []*subscriber
}

type subscriber struct{ fn func(Record) }

// An entry is a record that may still change.
type entry struct {
	record Record
	size   int  // as counted in Recorder.bytes
	kept   bool // still in the ring
}

func newRecorder(l limits) *Recorder { return &Recorder{limits: l} }

// Records returns what is kept, ascending by ID. The bodies and events are shared: read only.
func (r *Recorder) Records() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	records := make([]Record, len(r.entries))
	for i, e := range r.entries {
		records[i] = e.record
	}
	return records
}

// Subscribe calls fn with each change of a record from now on: in order, one at a time, before the learner's client sees
// what is recorded. fn must not block, for it holds up the learner's requests; it must not change the record's bodies
// and events. A call under way when stop is called may still be finishing when stop returns.
func (r *Recorder) Subscribe(fn func(Record)) (stop func()) {
	s := &subscriber{fn: fn}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subscribers = append(slices.Clone(r.subscribers), s)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.subscribers = slices.DeleteFunc(slices.Clone(r.subscribers), func(other *subscriber) bool { return other == s })
	}
}

// Clear forgets all records, as when the learner's cluster was made anew. IDs go on.
func (r *Recorder) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		e.kept = false
	}
	r.entries, r.bytes = nil, 0
}

// add takes a new record, gives it the next ID and delivers it.
func (r *Recorder) add(record Record) *entry {
	e := &entry{record: record, kept: true}
	r.change(func() {
		r.last++
		e.record.ID = r.last
		r.entries = append(r.entries, e)
	}, e)
	return e
}

// update changes a record and delivers it.
func (r *Recorder) update(e *entry, edit func(*Record)) {
	r.change(func() { edit(&e.record) }, e)
}

func (r *Recorder) change(edit func(), e *entry) {
	r.order.Lock()
	defer r.order.Unlock()
	record, subscribers := r.apply(edit, e)
	for _, s := range subscribers {
		s.fn(record)
	}
}

func (r *Recorder) apply(edit func(), e *entry) (Record, []*subscriber) {
	r.mu.Lock()
	defer r.mu.Unlock()
	edit()
	e.record.Events = r.newest(e.record.Events)
	record := e.record // before the ring's own bounds cost it its bodies: subscribers see them once
	if e.kept {
		r.resize(e)
		r.trim()
	}
	return record, r.subscribers
}

// newest cuts the events of one watch to their bounds.
func (r *Recorder) newest(events []Event) []Event {
	if excess := len(events) - r.limits.events; excess > 0 {
		events = events[excess:]
	}
	size := 0
	for i, e := range slices.Backward(events) {
		if size += len(e.Object); size > r.limits.eventBytes {
			return events[i+1:]
		}
	}
	return events
}

func (r *Recorder) resize(e *entry) {
	size := sizeOf(&e.record)
	r.bytes += size - e.size
	e.size = size
}

func (r *Recorder) trim() {
	for len(r.entries) > r.limits.records {
		oldest := max(0, slices.IndexFunc(r.entries, func(e *entry) bool { return e.record.Done }))
		r.evict(oldest)
	}
	for _, e := range r.entries {
		if r.bytes <= r.limits.bytes {
			return
		}
		e.record.RequestBody, e.record.ResponseBody, e.record.Events = nil, nil, nil
		r.resize(e)
	}
	for r.bytes > r.limits.bytes {
		r.evict(0)
	}
}

func (r *Recorder) evict(i int) {
	e := r.entries[i]
	e.kept = false
	r.bytes -= e.size
	r.entries = slices.Delete(r.entries, i, i+1)
}

func sizeOf(r *Record) int {
	size := recordOverhead + len(r.RequestBody) + len(r.ResponseBody) + len(r.Path) + len(r.UserAgent) + len(r.Accept) +
		len(r.Status.Message)
	for key, values := range r.Query {
		size += len(key)
		for _, v := range values {
			size += len(v)
		}
	}
	for _, e := range r.Events {
		size += len(e.Object)
	}
	return size
}
