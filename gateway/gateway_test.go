package gateway

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/apilab/apilab/cluster"
)

const (
	learner       = "local"
	identityToken = "the-learners-identity" // what the API server knows the learner by
)

// clusters stands in for the manager and the control plane's process: a map of ready ones.
type clusters struct {
	claim func(ctx context.Context) error // nil: fails at once

	mu     sync.Mutex
	ready  map[string]cluster.Cluster
	status cluster.Status
	uses   int // under way
}

func (c *clusters) Get(id string) (cluster.Cluster, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.ready[id]
	return found, ok
}

func (c *clusters) Claim(ctx context.Context, id string) (cluster.Cluster, error) {
	if c.claim == nil {
		return nil, errors.New("no cluster")
	}
	if err := c.claim(ctx); err != nil {
		return nil, err
	}
	found, _ := c.Get(id)
	return found, nil
}

func (c *clusters) Status(string) cluster.Status { return c.status }

func (c *clusters) Use(string) (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.uses++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.uses--
	}
}

func (c *clusters) set(id string, config *rest.Config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready == nil {
		c.ready = map[string]cluster.Cluster{}
	}
	c.ready[id] = &apiServer{id: id, config: config}
}

type apiServer struct {
	cluster.Cluster
	id     string
	config *rest.Config
}

func (a *apiServer) ID() string                  { return a.id }
func (a *apiServer) LearnerConfig() *rest.Config { return a.config }

// A bench is a gateway in front of an API server that a test writes, and a client of it.
type bench struct {
	*Gateway
	clusters *clusters
	server   *httptest.Server
	client   *http.Client
	stop     func() error // ends Serve and returns what it returned
}

func newBench(t *testing.T, handler http.HandlerFunc) *bench {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	server.StartTLS()
	t.Cleanup(server.Close)
	known := &clusters{}
	known.set(learner, configOf(server))
	b := serve(t, Options{Dir: t.TempDir(), Clusters: known, Default: learner})
	b.server, b.clusters = server, known
	return b
}

func configOf(server *httptest.Server) *rest.Config {
	return &rest.Config{
		Host:        server.URL,
		BearerToken: identityToken,
		UserAgent:   "the-platform",
		TLSClientConfig: rest.TLSClientConfig{
			CAData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		},
	}
}

func serve(t *testing.T, o Options) *bench {
	t.Helper()
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	stop := sync.OnceValue(func() error { cancel(); return <-served })
	t.Cleanup(func() { _ = stop() })

	transport := &http.Transport{TLSClientConfig: g.trust(""), ForceAttemptHTTP2: true, MaxConnsPerHost: 0}
	t.Cleanup(transport.CloseIdleConnections)
	return &bench{Gateway: g, client: &http.Client{Transport: transport}, stop: stop}
}

// trust is how a client of the gateway verifies it.
func (g *Gateway) trust(serverName string) *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(g.CA())
	return &tls.Config{RootCAs: roots, ServerName: serverName, MinVersion: tls.VersionTLS12}
}

func (b *bench) request(t *testing.T, method, path string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "https://"+b.Addr()+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+b.tokens.token(credential{learner: learner}))
	r.Header.Set("User-Agent", "kubectl/v1.37.2 (linux/amd64)")
	return r
}

func (b *bench) do(t *testing.T, r *http.Request) (*http.Response, string) {
	t.Helper()
	response, err := b.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// records returns what was recorded when n requests are done.
func (b *bench) records(t *testing.T, n int) []Record {
	t.Helper()
	r := b.Recorder(learner)
	changed := make(chan struct{}, 1)
	defer r.Subscribe(func(Record) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for {
		records, done := r.Records(), 0
		for _, record := range records {
			if record.Done {
				done++
			}
		}
		if done >= n {
			return records
		}
		select {
		case <-changed:
		case <-time.After(10 * time.Second):
			t.Fatalf("%d of %d requests are done: %+v", done, n, records)
		}
	}
}

func statusOf(t *testing.T, body string) metav1.Status {
	t.Helper()
	var status metav1.Status
	if err := json.Unmarshal([]byte(body), &status); err != nil || status.Kind != "Status" {
		t.Fatalf("no Status: %q", body)
	}
	return status
}

func TestPassesRequestsAsTheyCome(t *testing.T) {
	t.Parallel()
	type seen struct{ method, uri, token, agent, impersonated, body string }
	got := make(chan seen, 1)
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- seen{
			r.Method, r.RequestURI, r.Header.Get("Authorization"), r.UserAgent(),
			r.Header.Get("Impersonate-User"), string(body),
		}
		w.Header().Set("Audit-Id", "42")
		w.WriteHeader(http.StatusCreated)
	})
	tests := map[string]struct {
		method, uri, agent, impersonate, body string
	}{
		"plain":              {"GET", "/api/v1/namespaces", "kubectl/v1", "", ""},
		"escaped":            {"GET", "/api/v1/namespaces/a%2Fb/pods?labelSelector=a%3Db&x=1;y=2", "kubectl/v1", "", ""},
		"write":              {"POST", "/api/v1/namespaces?fieldManager=me", "kubectl/v1", "", `{"kind":"Namespace"}`},
		"impersonating":      {"GET", "/api/v1/pods", "kubectl/v1", "system:serviceaccount:a:b", ""},
		"without user agent": {"GET", "/version", "", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := b.request(t, tt.method, tt.uri, strings.NewReader(tt.body))
			r.Header.Set("User-Agent", tt.agent)
			if tt.impersonate != "" {
				r.Header.Set("Impersonate-User", tt.impersonate)
			}
			response, _ := b.do(t, r)
			if response.StatusCode != http.StatusCreated || response.Header.Get("Audit-Id") != "42" {
				t.Errorf("response: %v", response)
			}
			want := seen{tt.method, tt.uri, "Bearer " + identityToken, tt.agent, tt.impersonate, tt.body}
			if s := <-got; s != want {
				t.Errorf("API server saw\n%+v, want\n%+v", s, want)
			}
		})
	}
}

func TestRecordsARequest(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","code":409,"reason":"AlreadyExists","message":"it exists"}`)
	})
	r := b.request(t, "PATCH", "/apis/apps/v1/namespaces/lab/deployments/web/scale?fieldManager=robot&dryRun=All", strings.NewReader("spec: {replicas: 3}\n"))
	r.Header.Set("Content-Type", "application/apply-patch+yaml")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Impersonate-User", "jane")
	b.do(t, r)

	got := b.records(t, 1)[0]
	if got.Time.IsZero() || got.Duration <= 0 {
		t.Errorf("time %v, duration %v", got.Time, got.Duration)
	}
	got.Time, got.Duration = time.Time{}, 0
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":1,"time":"0001-01-01T00:00:00Z","duration":0,"done":true,"method":"PATCH",` +
		`"path":"/apis/apps/v1/namespaces/lab/deployments/web/scale","query":{"dryRun":["All"],"fieldManager":["robot"]},` +
		`"verb":"patch","group":"apps","version":"v1","resource":"deployments","subresource":"scale","namespace":"lab","name":"web",` +
		`"contentType":"application/apply-patch+yaml","accept":"application/json","fieldManager":"robot",` +
		`"userAgent":"kubectl/v1.37.2 (linux/amd64)","user":"jane","body":{"spec":{"replicas":3}},` +
		`"status":{"code":409,"reason":"AlreadyExists","message":"it exists"},` +
		`"response":{"kind":"Status","apiVersion":"v1","code":409,"reason":"AlreadyExists","message":"it exists"},"eventCount":0}`
	if string(text) != want {
		t.Errorf("record\n%s, want\n%s", text, want)
	}
}

func TestRecordIsCompleteBeforeTheClientSeesTheAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"Namespace"}`) // short enough for a Content-Length
	})
	for i := range 50 {
		b.do(t, b.request(t, "GET", "/api/v1/namespaces/default", nil))
		records := b.Recorder(learner).Records()
		if len(records) != i+1 || !records[i].Done || string(records[i].ResponseBody) != `{"kind":"Namespace"}` {
			t.Fatalf("after request %d: %+v", i+1, records)
		}
	}
}

func TestConcurrentRequestsKeepOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{}`)
	})
	var (
		last    uint64
		done    = map[uint64]bool{}
		problem string
	)
	defer b.Recorder(learner).Subscribe(func(r Record) {
		switch {
		case !r.Done && r.ID != last+1:
			problem = "a new record is out of order"
		case r.Done && (done[r.ID] || r.ID > last):
			problem = "a record ended twice, or before it began"
		case r.Done:
			done[r.ID] = true
		default:
			last = r.ID
		}
	})()
	const n = 1000
	var wg sync.WaitGroup
	failed := make(chan error, n)
	places := make(chan struct{}, maxUnderway/2) // a learner may not have all of them under way
	for range n {
		r := b.request(t, "GET", "/api/v1/pods", nil)
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			response, err := b.client.Do(r)
			if err != nil {
				failed <- err
				return
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		})
	}
	wg.Wait()
	select {
	case err := <-failed:
		t.Fatal(err)
	default:
	}
	records := b.records(t, defaultLimits.records)
	if last != n || len(done) != n || problem != "" {
		t.Errorf("%d began, %d ended of %d; %s", last, len(done), n, problem)
	}
	if len(records) != defaultLimits.records || records[len(records)-1].ID != n {
		t.Errorf("the ring holds %d, the last is %d", len(records), records[len(records)-1].ID)
	}
}

func TestLargeBodies(t *testing.T) {
	t.Parallel()
	const limit = 3 << 20 // of kube-apiserver for a request
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if _, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, limit)); err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			_, _ = io.WriteString(w, `{"kind":"Status","code":413,"reason":"RequestEntityTooLarge","message":"limit is 3145728"}`)
			return
		}
		_, _ = w.Write(bytes.Repeat([]byte(" "), 20<<20))
		_, _ = io.WriteString(w, `{}`)
	})
	r := b.request(t, "POST", "/api/v1/namespaces/lab/configmaps", bytes.NewReader(make([]byte, limit+1)))
	r.Header.Set("Content-Type", "application/json")
	_, body := b.do(t, r)
	if s := statusOf(t, body); s.Reason != metav1.StatusReasonRequestEntityTooLarge {
		t.Errorf("status %+v", s)
	}
	r = b.request(t, "POST", "/api/v1/namespaces/lab/configmaps", bytes.NewReader(make([]byte, limit)))
	if _, body = b.do(t, r); len(body) != 20<<20+2 {
		t.Errorf("%d bytes came through", len(body))
	}
	for _, record := range b.records(t, 2) {
		if record.RequestBody != nil || record.Status.Code == http.StatusOK && record.ResponseBody != nil {
			t.Errorf("record %d keeps a body over the bound", record.ID)
		}
	}
}

func TestSlowClientHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	cancelled := make(chan struct{})
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/endless" {
			return
		}
		defer close(cancelled)
		for chunk := make([]byte, 1<<20); r.Context().Err() == nil; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	slow, err := b.client.Do(b.request(t, "GET", "/endless", nil))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		b.do(t, b.request(t, "GET", "/version", nil))
	}
	_ = slow.Body.Close() // the client goes away, and so does the API server's handler
	select {
	case <-cancelled:
	case <-time.After(10 * time.Second):
		t.Fatal("the API server still writes to a client that left")
	}
	b.records(t, 21)
}

func TestClientThatLeavesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	asked, cancelled := make(chan struct{}), make(chan struct{})
	b := newBench(t, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		close(cancelled)
	})
	ctx, leave := context.WithCancel(t.Context())
	go func() { <-asked; leave() }()
	if _, err := b.client.Do(b.request(t, "GET", "/slow", nil).WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	select {
	case <-cancelled:
	case <-time.After(10 * time.Second):
		t.Fatal("the API server's handler was not cancelled")
	}
	if r := b.records(t, 1)[0]; r.Status.Message != string(errGone) {
		t.Errorf("record %+v", r)
	}
}

func TestGzipIsPassedAndRecorded(t *testing.T) {
	t.Parallel()
	const text = `{"kind":"NamespaceList"}`
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Accept-Encoding") != "gzip" {
			_, _ = io.WriteString(w, text)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(gzipped(t, text))
	})
	r := b.request(t, "GET", "/api/v1/namespaces", nil)
	r.Header.Set("Accept-Encoding", "gzip") // set by hand, it is not undone by the client
	response, body := b.do(t, r)
	if response.Header.Get("Content-Encoding") != "gzip" || body != string(gzipped(t, text)) {
		t.Errorf("the client got %v %q", response.Header, body)
	}
	if got := b.records(t, 1)[0].ResponseBody; string(got) != text {
		t.Errorf("recorded %q", got)
	}
}

func TestStopCutsWatches(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	response, err := b.client.Do(b.request(t, "GET", "/api/v1/pods?watch=1", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := b.stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := bufio.NewReader(response.Body).ReadByte(); err == nil {
		t.Error("the watch goes on")
	}
	if r := b.records(t, 1)[0]; !r.Done {
		t.Errorf("record %+v", r)
	}
}

// An API server that refuses a request answers before it has read the body. A client that has the answer has no reason to
// send the rest, and need not say that it will not.
func TestAnswerBeforeTheBodyWasSent(t *testing.T) {
	t.Parallel()
	const begun = `{"data":`
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, len(begun)))
		time.Sleep(100 * time.Millisecond) // until the gateway waits for more
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "no")
	})
	body, rest := io.Pipe()
	t.Cleanup(func() { _ = rest.Close() })
	go func() { _, _ = io.WriteString(rest, begun) }()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	response, err := b.client.Do(b.request(t, http.MethodPatch, "/api/v1/namespaces/default/configmaps/x", body).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if response.ProtoMajor != 2 || response.StatusCode != http.StatusForbidden || string(answer) != "no" || err != nil {
		t.Errorf("%s %s, %q, %v", response.Proto, response.Status, answer, err)
	}
}
