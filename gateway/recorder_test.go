package gateway

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func ids(records []Record) (ids []uint64) {
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	return ids
}

func TestRecorderKeepsTheNewest(t *testing.T) {
	t.Parallel()
	r := newRecorder(limits{records: 3, bytes: 1 << 20, body: 100, events: 10, eventBytes: 1000})
	watch := r.add(Record{Verb: "watch"}) // stays open
	for range 4 {
		r.add(Record{Done: true})
	}
	if got := ids(r.Records()); !slices.Equal(got, []uint64{1, 4, 5}) {
		t.Errorf("kept %d: an open watch goes last", got)
	}
	r.add(Record{})
	r.add(Record{})
	r.add(Record{})
	if got := ids(r.Records()); !slices.Equal(got, []uint64{6, 7, 8}) {
		t.Errorf("kept %d: when all are open, the oldest goes", got)
	}
	var seen []Record
	defer r.Subscribe(func(r Record) { seen = append(seen, r) })()
	r.update(watch, func(r *Record) { r.EventCount++ })
	if len(seen) != 1 || seen[0].ID != 1 || seen[0].EventCount != 1 {
		t.Errorf("of one that is no longer kept, subscribers saw %+v", seen)
	}
	if r.bytes != 3*recordOverhead {
		t.Errorf("%d bytes are counted", r.bytes)
	}
}

func TestRecorderBoundsBytes(t *testing.T) {
	t.Parallel()
	body := json.RawMessage(`"` + strings.Repeat("x", 998) + `"`)
	r := newRecorder(limits{records: 100, bytes: 10 * recordOverhead, body: 1000, events: 10, eventBytes: 1000})
	var delivered []Record
	defer r.Subscribe(func(r Record) { delivered = append(delivered, r) })()
	for range 8 {
		r.add(Record{Done: true, RequestBody: body})
	}
	records := r.Records()
	if len(records) != 8 || records[0].RequestBody != nil || records[7].RequestBody == nil {
		t.Errorf("the oldest gives up its body first, and no record goes: %+v", records)
	}
	for _, record := range delivered {
		if record.RequestBody == nil {
			t.Errorf("record %d was delivered without its body", record.ID)
		}
	}
	r.add(Record{Path: strings.Repeat("/", 9*recordOverhead)})
	if got := ids(r.Records()); !slices.Equal(got, []uint64{9}) {
		t.Errorf("kept %d: one long URL displaces the rest", got)
	}
	r.add(Record{Path: strings.Repeat("/", 11*recordOverhead)})
	if got := r.Records(); len(got) != 0 || r.bytes != 0 {
		t.Errorf("one over all bounds is not kept: %d, %d bytes", ids(got), r.bytes)
	}
}

func TestRecorderBoundsEvents(t *testing.T) {
	t.Parallel()
	r := newRecorder(limits{records: 10, bytes: 1 << 20, body: 100, events: 3, eventBytes: 25})
	watch := r.add(Record{})
	var last Record
	defer r.Subscribe(func(r Record) { last = r })()
	add := func(object string) {
		r.update(watch, func(r *Record) {
			r.EventCount++
			r.Events = append(r.Events, Event{Object: json.RawMessage(object)})
		})
	}
	for _, object := range []string{"1", "2", "3", "4"} {
		add(object)
	}
	if len(last.Events) != 3 || string(last.Events[0].Object) != "2" || last.EventCount != 4 {
		t.Errorf("events %+v", last.Events)
	}
	earlier := last
	add(strings.Repeat("5", 24))
	if len(last.Events) != 2 || string(last.Events[0].Object) != "4" {
		t.Errorf("events %+v", last.Events)
	}
	add(strings.Repeat("6", 26))
	if len(last.Events) != 0 {
		t.Errorf("one event over the bound leaves none: %+v", last.Events)
	}
	if len(earlier.Events) != 3 || string(earlier.Events[2].Object) != "4" {
		t.Errorf("a delivered record changed later: %+v", earlier.Events)
	}
}

func TestSubscribersMayCallTheRecorder(t *testing.T) {
	t.Parallel()
	r := newRecorder(defaultLimits)
	calls := 0
	var stop func()
	stop = r.Subscribe(func(Record) {
		calls++
		if len(r.Records()) != 1 {
			t.Error("the record that is delivered is not kept")
		}
		stop()
	})
	r.add(Record{})
	r.add(Record{})
	if calls != 1 {
		t.Errorf("called %d times", calls)
	}
	r.Clear()
	r.add(Record{})
	if got := ids(r.Records()); !slices.Equal(got, []uint64{3}) {
		t.Errorf("after Clear: %d", got)
	}
}
