package checker

import (
	stdjson "encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/apilab/apilab/exercises"
	"github.com/apilab/apilab/gateway"
)

func TestRequestsAreKeptInOrderAndBounds(t *testing.T) {
	t.Parallel()
	var rs requests
	for _, id := range []uint64{1, 3, 2} {
		if _, news := rs.put(gateway.Record{ID: id}); !news {
			t.Errorf("%d is no news", id)
		}
	}
	if after := rs.in(span{since: 1}); len(after) != 2 || after[0].record.ID != 2 || rs.last() != 3 {
		t.Errorf("after 1: %d", len(after))
	}
	if _, news := rs.put(gateway.Record{ID: 2}); news {
		t.Error("the same again is news")
	}
	if _, news := rs.put(gateway.Record{ID: 2, EventCount: 1}); !news {
		t.Error("an event is no news")
	}
	if _, news := rs.put(gateway.Record{ID: 2, Done: true}); !news {
		t.Error("its end is no news")
	}
	if _, news := rs.put(gateway.Record{ID: 2, EventCount: 1}); news {
		t.Error("something older is news")
	}
	body := stdjson.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
	for id := range uint64(2 * maxRequests) {
		rs.put(gateway.Record{ID: 10 + id, ResponseBody: body})
	}
	if len(rs.all) != maxRequests || rs.bytes > maxBodies {
		t.Errorf("%d requests, %d bytes", len(rs.all), rs.bytes)
	}
	newest := rs.all[len(rs.all)-1]
	if newest.val(true)["response"] == nil || rs.all[0].val(true)["response"] != nil {
		t.Error("the newest bodies are kept, the oldest are not")
	}
}

func TestRunningRequestsCount(t *testing.T) {
	t.Parallel()
	event := func(n string) gateway.Event {
		return gateway.Event{Type: "ADDED", Object: stdjson.RawMessage(`{"n": ` + n + `}`)}
	}
	var rs requests
	rs.put(gateway.Record{ID: 1, Done: true})
	rs.put(gateway.Record{ID: 2, EventCount: 3, Events: []gateway.Event{event("2"), event("3")}}) // the first was forgotten
	rs.put(gateway.Record{ID: 3, Done: true})
	opened, reset := rs.begin(false), rs.begin(true)
	events := func(sp span) []any {
		t.Helper()
		counted := rs.in(sp)
		if len(counted) != 1 || counted[0].record.ID != 2 {
			t.Fatalf("%d requests count", len(counted))
		}
		v := counted[0].val(true)
		if n := v["eventCount"].(int64); n < int64(len(v["events"].([]any))) {
			t.Errorf("eventCount %d of %v", n, v["events"])
		}
		return v["events"].([]any)
	}
	if len(events(opened)) != 2 || len(events(reset)) != 0 {
		t.Errorf("opened %v, reset %v", events(opened), events(reset))
	}
	rs.put(gateway.Record{ID: 2, EventCount: 4, Events: []gateway.Event{event("3"), event("4")}, Done: true}) // its end is seen
	after := events(reset)
	if len(events(opened)) != 2 || len(after) != 1 || after[0].(map[string]any)["object"].(map[string]any)["n"] != int64(4) {
		t.Errorf("opened %v, reset %v", events(opened), after)
	}
	if sp := rs.begin(true); len(rs.in(sp)) != 0 {
		t.Error("it counts after its end")
	}
}

func TestRequestAsAnExpressionSeesIt(t *testing.T) {
	t.Parallel()
	r := &request{record: gateway.Record{
		ID: 7, Duration: 1234567 * time.Nanosecond, Method: "GET", Path: "/api/v1/pods", Query: url.Values{"watch": {"1", "2"}, "none": {}},
		Verb: "watch", Status: gateway.Status{Code: 200}, EventCount: 3,
		RequestBody: stdjson.RawMessage(`{"n": 3, "f": 1.5}`), ResponseBody: stdjson.RawMessage(`{`),
		Events: []gateway.Event{{Type: "ADDED", Object: stdjson.RawMessage(`{"kind": "Pod"}`)}, {Type: "BOOKMARK"}},
	}}
	if v := r.val(false); v["body"] != nil || len(v["events"].([]any)) != 0 || v["query"].(map[string]any)["watch"] != "1" {
		t.Errorf("%v", v)
	}
	v := r.val(true)
	body := v["body"].(map[string]any)
	if body["n"] != int64(3) || body["f"] != 1.5 || v["response"] != nil || v["eventCount"] != int64(3) {
		t.Errorf("%v", v)
	}
	events := v["events"].([]any)
	if first := events[0].(map[string]any); first["type"] != "ADDED" || first["object"].(map[string]any)["kind"] != "Pod" {
		t.Errorf("%v", events)
	}
	if r.line() != "GET /api/v1/pods?watch=1&watch=2" {
		t.Errorf("line %s", r.line())
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	status := &request{record: gateway.Record{Verb: "patch", Resource: "pods", Subresource: "status", Namespace: "ns", Name: "p", Path: "/api/v1/…"}}
	deployments := &request{record: gateway.Record{Verb: "list", Resource: "deployments", APIGroup: "apps"}}
	openapi := &request{record: gateway.Record{Verb: "get", Path: "/openapi/v3"}}
	for _, tt := range []struct {
		ref  exercises.RequestRef
		r    *request
		want bool
	}{
		{exercises.RequestRef{}, status, true},
		{exercises.RequestRef{Resource: "pods"}, status, false},
		{exercises.RequestRef{Resource: "pods", Subresource: "*"}, status, true},
		{exercises.RequestRef{Resource: "pods", Subresource: "status", Verb: "patch", Namespace: "ns", Name: "p"}, status, true},
		{exercises.RequestRef{Subresource: "status"}, status, true},
		{exercises.RequestRef{Subresource: "scale"}, status, false},
		{exercises.RequestRef{Namespace: "other"}, status, false},
		{exercises.RequestRef{Name: "q"}, status, false},
		{exercises.RequestRef{Verb: "get"}, status, false},
		{exercises.RequestRef{Resource: "deployments"}, deployments, true},
		{exercises.RequestRef{Resource: "deployments.apps"}, deployments, true},
		{exercises.RequestRef{Resource: "deployments.batch"}, deployments, false},
		{exercises.RequestRef{Path: "/openapi/v3"}, openapi, true},
		{exercises.RequestRef{Path: "/openapi/v3", Verb: "post"}, openapi, false},
		{exercises.RequestRef{Path: "/openapi"}, openapi, false},
	} {
		if got := matches(tt.ref, tt.r); got != tt.want {
			t.Errorf("%+v matches %+v: %v", tt.ref, tt.r.record, got)
		}
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ref  exercises.RequestRef
		want string
	}{
		{exercises.RequestRef{}, "a request that fits"},
		{exercises.RequestRef{Verb: "update"}, "an update request"},
		{exercises.RequestRef{Verb: "patch", Resource: "pods", Subresource: "status", Namespace: "ns", Name: "p"}, "a patch request for the status of pod p in ns"},
		{exercises.RequestRef{Verb: "get", Resource: "configmaps", Namespace: "api-lab", Name: "door"}, "a get request for configmap door in api-lab"},
		{exercises.RequestRef{Resource: "pods"}, "a request for pods"},
		{exercises.RequestRef{Path: "/version"}, "a request to /version"},
	} {
		if got := wanted(tt.ref); got != tt.want {
			t.Errorf("got %q; want %q", got, tt.want)
		}
	}
}
