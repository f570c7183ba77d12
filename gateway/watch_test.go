package gateway

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A watch is held by a script of the test: what it sends, the API server writes and flushes.
func watchBench(t *testing.T, contentType string) (*bench, chan<- string) {
	t.Helper()
	chunks := make(chan string)
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case chunk, more := <-chunks:
				if !more {
					return
				}
				_, _ = io.WriteString(w, chunk)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	return b, chunks
}

func TestWatchEventsPassOneByOne(t *testing.T) {
	t.Parallel()
	b, chunks := watchBench(t, "application/json;stream=watch")
	changes := make(chan Record, 100)
	defer b.Recorder(learner).Subscribe(func(r Record) { changes <- r })()

	response, err := b.client.Do(b.request(t, "GET", "/api/v1/namespaces/lab/pods?watch=true&resourceVersion=7", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if r := <-changes; r.Verb != "watch" || r.Status.Code != http.StatusOK || r.Done {
		t.Fatalf("at the headers: %+v", r)
	}
	lines := bufio.NewReader(response.Body)
	for i := range 5 {
		event := fmt.Sprintf(`{"type":"MODIFIED","object":{"metadata":{"name":"}\"{","resourceVersion":"%d"}}}`, i)
		half := len(event) / 2
		chunks <- event[:half]
		chunks <- event[half:] + "\n"
		if line, err := lines.ReadString('\n'); err != nil || line != event+"\n" {
			t.Fatalf("the client got %q, %v", line, err)
		}
		r := <-changes
		if r.EventCount != i+1 || len(r.Events) != i+1 || r.Done {
			t.Fatalf("after event %d: %+v", i, r)
		}
		newest := r.Events[i]
		if want := event[len(`{"type":"MODIFIED","object":`) : len(event)-1]; newest.Type != "MODIFIED" || string(newest.Object) != want {
			t.Errorf("event %d recorded as %s %s", i, newest.Type, newest.Object)
		}
	}
	chunks <- `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410,"reason":"Expired","message":"too old resource version: 1 (227)"}}` + "\n"
	close(chunks)
	if _, err := io.ReadAll(lines); err != nil {
		t.Fatal(err)
	}
	want := Status{Code: 410, Reason: "Expired", Message: "too old resource version: 1 (227)"}
	if r := <-changes; r.Status != want || r.EventCount != 6 {
		t.Errorf("after the ERROR event: %+v", r)
	}
	if r := <-changes; !r.Done || r.Status != want {
		t.Errorf("at the end: %+v", r)
	}
}

// TestClusterIsInUseAsLongAsARequest is so that nobody's watch sees its cluster fall asleep.
func TestClusterIsInUseAsLongAsARequest(t *testing.T) {
	t.Parallel()
	b, chunks := watchBench(t, "application/json;stream=watch")
	inUse := func() int {
		b.clusters.mu.Lock()
		defer b.clusters.mu.Unlock()
		return b.clusters.uses
	}
	response, err := b.client.Do(b.request(t, "GET", "/api/v1/pods?watch=1", nil))
	if err != nil {
		t.Fatal(err)
	}
	if inUse() != 1 {
		t.Errorf("%d uses during a watch", inUse())
	}
	close(chunks)
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if err := b.stop(); err != nil || inUse() != 0 {
		t.Errorf("%d uses after the end: %v", inUse(), err)
	}
}

func TestWatchInProtobuf(t *testing.T) {
	t.Parallel()
	pod := protobuf(t, &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
	})
	event, err := (&metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: pod}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	frame := string(binary.BigEndian.AppendUint32(nil, uint32(len(event)))) + string(event)

	b, chunks := watchBench(t, "application/vnd.kubernetes.protobuf;stream=watch")
	response, err := b.client.Do(b.request(t, "GET", "/api/v1/pods?watch=1", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	chunks <- frame[:2]
	chunks <- frame[2:20]
	chunks <- frame[20:] + frame
	close(chunks)
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != frame+frame {
		t.Fatalf("the client got %q, %v", body, err)
	}
	r := b.records(t, 1)[0]
	if r.EventCount != 2 || r.Events[1].Type != "ADDED" || !strings.Contains(string(r.Events[1].Object), `"name":"web"`) {
		t.Errorf("record %+v", r)
	}
}

func TestWatchInAnotherEncodingPassesUnparsed(t *testing.T) {
	t.Parallel()
	b, chunks := watchBench(t, "application/cbor-seq")
	response, err := b.client.Do(b.request(t, "GET", "/api/v1/pods?watch=1", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	chunks <- "\xa1{}"
	close(chunks)
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "\xa1{}" {
		t.Fatalf("the client got %q, %v", body, err)
	}
	if r := b.records(t, 1)[0]; r.EventCount != 0 || r.Status.Code != http.StatusOK {
		t.Errorf("record %+v", r)
	}
}

// A streamed list would come compressed to a client that takes gzip, as kubectl does, and no event of it be seen.
func TestWatchIsNotCompressed(t *testing.T) {
	t.Parallel()
	const event = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}` + "\n"
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json;stream=watch")
		text := []byte(event)
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			text = gzipped(t, event)
		}
		_, _ = w.Write(text)
	})
	r := b.request(t, "GET", "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	b.do(t, r)
	if record := b.records(t, 1)[0]; record.EventCount != 1 || record.Events[0].Type != "BOOKMARK" {
		t.Errorf("record %+v", record)
	}
}

func TestRefusedWatchIsNoStream(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"kind":"Status","code":403,"reason":"Forbidden","message":"no"}`)
	})
	b.do(t, b.request(t, "GET", "/api/v1/pods?watch=1", nil))
	r := b.records(t, 1)[0]
	if want := (Status{403, "Forbidden", "no"}); r.Status != want || r.EventCount != 0 {
		t.Errorf("record %+v", r)
	}
}
