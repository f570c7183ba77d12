package checker

import (
	"context"
	"time"
)

// An observer tells what the learner, or a program of theirs, asks of the API server while a probe runs.
type observer struct {
	records Records // nil: nothing is ever seen
	since   uint64  // ID of the last request that was told, or that was there before
	seen    []any   // by the observation that has just ended
}

func newObserver(records Records) observer {
	o := observer{records: records}
	o.next()
	return o
}

// observe waits, and then takes the requests that began since the last time.
func (o *observer) observe(ctx context.Context, during time.Duration) error {
	timer := time.NewTimer(during)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	o.seen = o.next()
	return nil
}

// taken returns what the last step has seen; of a step that does not observe that is nothing.
func (o *observer) taken() []any {
	seen := o.seen
	o.seen = nil
	if seen == nil {
		return []any{}
	}
	return seen
}

func (o *observer) next() []any {
	seen := []any{}
	if o.records == nil {
		return seen
	}
	last := o.since
	for _, record := range o.records.Records() {
		if record.ID <= o.since {
			continue
		}
		last = max(last, record.ID)
		seen = append(seen, (&request{record: record}).val(true))
	}
	o.since = last
	return seen
}
