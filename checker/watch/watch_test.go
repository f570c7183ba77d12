package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// An api is an API server that answers each request by the next of the steps that its test wrote for the path.
type api struct {
	t     *testing.T
	mu    sync.Mutex
	steps map[string][]http.HandlerFunc // by "list maps", "watch maps", …
	asked []string                      // what was asked: "list maps", "watch maps from 5"
	done  chan struct{}                 // closed at the end: open watches end
}

const patience = 10 * time.Second

// newAPI serves the steps, and returns a client for it.
func newAPI(t *testing.T, steps map[string][]http.HandlerFunc) (*api, *Client) {
	t.Helper()
	a := &api{t: t, steps: steps, done: make(chan struct{})}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(a.done) })
	config := &rest.Config{Host: server.URL, QPS: -1}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	resources, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	return a, &Client{Dynamic: objects, Resources: NewResources(objects, resources, logger), Logger: logger}
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/api":
		fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
	case "/apis":
		a.note("discovery")
		fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[
			{"name":"apiextensions.k8s.io","versions":[{"groupVersion":"apiextensions.k8s.io/v1","version":"v1"}]}]}`)
	case "/api/v1":
		fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"v1","resources":[
			{"name":"maps","kind":"Map","namespaced":true,"verbs":["list","watch"]},{"name":"maps/status","kind":"Map","namespaced":true}]}`)
	case "/apis/apiextensions.k8s.io/v1":
		fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"apiextensions.k8s.io/v1","resources":[
			{"name":"customresourcedefinitions","kind":"CustomResourceDefinition","verbs":["list","watch"]}]}`)
	default:
		a.step(w, r)
	}
}

func (a *api) note(s string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, s)
}

func (a *api) step(w http.ResponseWriter, r *http.Request) {
	resource := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	kind := "list " + resource
	if r.URL.Query().Get("watch") != "" {
		kind = "watch " + resource
		a.note(kind + " from " + r.URL.Query().Get("resourceVersion"))
	} else {
		a.note(kind)
	}
	a.mu.Lock()
	var step http.HandlerFunc
	if steps := a.steps[kind]; len(steps) > 0 {
		step, a.steps[kind] = steps[0], steps[1:]
	}
	a.mu.Unlock()
	switch {
	case step != nil:
		step(w, r)
	case strings.HasPrefix(kind, "watch"): // a quiet one
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-a.done:
		}
	default:
		status(http.StatusNotFound, "NotFound")(w, r)
	}
}

func (a *api) requests() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.asked, ", ")
}

func list(version string, names ...string) http.HandlerFunc { return page(version, "", names...) }

func page(version, next string, names ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		items := []any{}
		for _, name := range names {
			items = append(items, item(name, version))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"apiVersion": "v1", "kind": "MapList", "metadata": map[string]any{"resourceVersion": version, "continue": next}, "items": items,
		})
	}
}

func item(name, version string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Map", "metadata": map[string]any{"name": name, "resourceVersion": version}}
}

func status(code int, reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(statusObject(code, reason))
	}
}

func statusObject(code int, reason string) map[string]any {
	return map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": reason}
}

// events sends events and ends the stream.
func events(all ...map[string]any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, e := range all {
			_ = json.NewEncoder(w).Encode(e)
		}
	}
}

func event(kind string, object any) map[string]any {
	return map[string]any{"type": kind, "object": object}
}

// follow follows maps until the updates are as wanted, and ends.
func follow(t *testing.T, client *Client, resource string, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var got []string
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		client.Follow(ctx, Scope{Resource: resource, Namespace: "ns"}, func(u Update) {
			if len(got) < len(want) {
				got = append(got, describe(u))
			}
			if len(got) == len(want) {
				cancel()
			}
		})
	}()
	<-ended
	client.Resources.Close()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func describe(u Update) string {
	s := [...]string{"syncing", "synced", "lost", "unknown", "forbidden"}[u.State]
	if u.Listed {
		s += " list"
		for _, o := range u.List {
			s += " " + o.GetName()
		}
	}
	if u.Object != nil {
		s += " " + string(u.Event) + " " + u.Object.GetName()
	}
	if u.Version != "" {
		s += " at " + u.Version
	}
	return s
}

func TestFollowResumesWhereItWas(t *testing.T) {
	t.Parallel()
	a, client := newAPI(t, map[string][]http.HandlerFunc{
		"list maps": {list("5", "a")},
		"watch maps": {
			events(event("ADDED", item("b", "6")), event("BOOKMARK", item("", "9"))),
			events(event("DELETED", item("b", "10"))),
		},
	})
	follow(t, client, "maps", "synced list a at 5", "synced ADDED b at 6", "synced at 9", "synced DELETED b at 10")
	if got := a.requests(); got != "discovery, list maps, watch maps from 5, watch maps from 9" {
		t.Errorf("asked %s", got)
	}
}

func TestFollowListsAgainAfter410(t *testing.T) {
	t.Parallel()
	a, client := newAPI(t, map[string][]http.HandlerFunc{
		"list maps": {list("5", "a"), list("20", "b"), list("30", "c")},
		"watch maps": {
			events(event("ERROR", statusObject(410, "Expired"))),
			status(410, "Gone"),
		},
	})
	follow(t, client, "maps", "synced list a at 5", "synced list b at 20", "synced list c at 30")
	if got := a.requests(); !strings.HasPrefix(got, "discovery, list maps, watch maps from 5, list maps, watch maps from 20, list maps") {
		t.Errorf("asked %s", got)
	}
}

func TestFollowReadsAllPages(t *testing.T) {
	t.Parallel()
	_, client := newAPI(t, map[string][]http.HandlerFunc{
		"list maps": {
			page("5", "more", "a"), page("5", "", "b"),
			page("6", "more", "a"), status(410, "Expired"), // between pages: from the beginning
			list("7", "c"),
		},
		"watch maps": {status(410, "Gone")},
	})
	follow(t, client, "maps", "synced list a b at 5", "synced list c at 7")
}

func TestFollowOutlivesAServerThatIsDown(t *testing.T) {
	t.Parallel()
	_, client := newAPI(t, map[string][]http.HandlerFunc{
		"list maps": {
			status(500, "InternalError"),
			func(w http.ResponseWriter, _ *http.Request) { // hang up
				connection, _, _ := w.(http.Hijacker).Hijack()
				_ = connection.Close()
			},
			list("5", "a"),
		},
	})
	follow(t, client, "maps", "lost", "synced list a at 5") // of the two, Go tries the second again by itself
}

func TestFollowSaysWhatIsForbidden(t *testing.T) {
	t.Parallel()
	_, client := newAPI(t, map[string][]http.HandlerFunc{"list maps": {status(403, "Forbidden"), list("5")}})
	follow(t, client, "maps", "forbidden", "synced list at 5")
}

func TestFollowResumesAfterABrokenEvent(t *testing.T) {
	t.Parallel()
	_, client := newAPI(t, map[string][]http.HandlerFunc{
		"list maps": {list("5")},
		"watch maps": {
			func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"type":"ADDED","object":{"kind":`)
			},
			events(event("ADDED", item("b", "6"))),
		},
	})
	// A stream that breaks in the middle of an event is resumed from before it: nothing of it was taken.
	follow(t, client, "maps", "synced list at 5", "synced ADDED b at 6")
}

// A resource that is not there is waited for, not asked for: there is one discovery, whatever happens.
func TestFollowWaitsForTheCRD(t *testing.T) {
	t.Parallel()
	crd := func(established string) map[string]any {
		return map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "things.lab.example.com"},
			"spec": map[string]any{"group": "lab.example.com", "scope": "Namespaced", "versions": []any{
				map[string]any{"name": "v1alpha1", "served": true, "storage": false}, map[string]any{"name": "v1", "served": true, "storage": true},
			}},
			"status": map[string]any{
				"acceptedNames": map[string]any{"plural": "things", "kind": "Thing"},
				"conditions":    []any{map[string]any{"type": "Established", "status": established}},
			},
		}
	}
	a, client := newAPI(t, map[string][]http.HandlerFunc{
		"list customresourcedefinitions": {list("5")},
		"watch customresourcedefinitions": {func(w http.ResponseWriter, r *http.Request) {
			events(event("ADDED", crd("False")), event("MODIFIED", crd("True")))(w, r)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}},
		"list things": {list("7", "x")},
	})
	follow(t, client, "things.lab.example.com", "unknown", "synced list x at 7")
	if got := a.requests(); strings.Count(got, "discovery") != 1 || !strings.Contains(got, "list things") {
		t.Errorf("asked %s", got)
	}
	resource, err := client.Resources.Resolve(t.Context(), "things.lab.example.com")
	if err != nil || resource.GVR.Version != "v1" || resource.Kind != "Thing" || !resource.Namespaced {
		t.Errorf("%+v, %v", resource, err)
	}
}

func TestUnknownResourceNamesTheNearest(t *testing.T) {
	t.Parallel()
	_, client := newAPI(t, nil)
	_, err := client.Resources.Resolve(t.Context(), "mpas")
	if err == nil || err.Error() != `the API server knows no resource "mpas"; did you mean "maps"?` {
		t.Errorf("%v", err)
	}
	for name, want := range map[string]bool{"maps": false, "deployment.apps": false, "widgets.lab.example.com": true} {
		if got := (&UnknownResourceError{Resource: name}).Creatable(); got != want {
			t.Errorf("%s: creatable %v", name, got)
		}
	}
}
