package server

import (
	"fmt"
	"slices"
	"testing"
)

func drain(o *outbox) (messages []string) {
	for {
		l, ok := o.take()
		if !ok {
			return messages
		}
		messages = append(messages, string(l.message))
	}
}

func TestNewerSnapshotTakesThePlaceOfTheOlder(t *testing.T) {
	t.Parallel()
	o := newOutbox()
	for _, l := range []letter{
		{key: "cluster", message: []byte("creating")},
		{key: "", message: []byte("reply 1")},
		{key: "exercise a", message: []byte("failing")},
		{key: "cluster", message: []byte("ready")},
		{key: "", message: []byte("reply 2")},
		{key: "exercise b", message: []byte("failing")},
		{key: "exercise a", message: []byte("passing")},
	} {
		o.put(l)
	}
	want := []string{"reply 1", "ready", "reply 2", "failing", "passing"}
	if got := drain(o); !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
	o.put(letter{key: "cluster", message: []byte("healing")})
	if got := drain(o); !slices.Equal(got, []string{"healing"}) {
		t.Errorf("after all was sent: %q", got)
	}
}

func TestRequestRecordsAreBounded(t *testing.T) {
	t.Parallel()
	o := newOutbox()
	o.put(letter{key: "cluster", message: []byte("ready")})
	const n = 10 * maxRequestsWaiting
	for i := range n {
		o.put(letter{key: fmt.Sprintf("request %d", i), message: fmt.Append(nil, i)})
		o.put(letter{key: fmt.Sprintf("request %d", i), message: fmt.Append(nil, i)})
	}
	got := drain(o)
	if len(got) != maxRequestsWaiting+1 || got[0] != "ready" || got[1] != fmt.Sprint(n-maxRequestsWaiting) || got[len(got)-1] != fmt.Sprint(n-1) {
		t.Errorf("%d messages, from %s, %s to %s", len(got), got[0], got[1], got[len(got)-1])
	}
	if o.requests != 0 || len(o.byKey) != 0 {
		t.Errorf("an empty outbox counts %d requests and knows %d keys", o.requests, len(o.byKey))
	}
}
