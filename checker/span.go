package checker

// A span is which requests count for an exercise: those since it was opened or reset, and those that were running then.
type span struct {
	since   uint64              // ID of the last request before
	running map[uint64]*carried // the ones before that had not ended, by their ID
}

// A carried request began before its span.
type carried struct {
	skip int     // its first events, which do not count
	view request // it without those
}

// begin is the span from now on. A watch that is open when an exercise is opened counts whole: the learner was quick. When
// the exercise is reset, what it brought until then is progress that was taken back.
func (rs *requests) begin(reset bool) span {
	sp := span{since: rs.last(), running: map[uint64]*carried{}}
	for _, r := range rs.all {
		if r.record.Done {
			continue
		}
		c := &carried{}
		if reset {
			c.skip = r.record.EventCount
		}
		sp.running[r.record.ID] = c
	}
	return sp
}

func (sp span) counts(id uint64) bool { return id > sp.since || sp.running[id] != nil }

// in returns the requests of a span, ascending by ID, as they count.
func (rs *requests) in(sp span) []*request {
	var counted []*request
	for _, r := range rs.all {
		switch c := sp.running[r.record.ID]; {
		case c != nil && c.skip > 0:
			counted = append(counted, c.of(r))
		case sp.counts(r.record.ID):
			counted = append(counted, r)
		}
	}
	return counted
}

// of is a request without the events that do not count.
func (c *carried) of(r *request) *request {
	record := r.record
	record.EventCount -= c.skip
	if over := len(record.Events) - record.EventCount; over > 0 {
		record.Events = record.Events[over:]
	}
	c.view.record, c.view.value = record, nil // what was decoded of it is kept
	return &c.view
}
