package gateway

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A publicBench has the gateway of a bench beside pages at another address, too.
type publicBench struct {
	*bench
	*generations
	url  string
	stop context.CancelFunc // as a server stops
}

// generations stands in for the store.
type generations struct {
	mu  sync.Mutex
	of  map[string]int
	err error
}

func (g *generations) get(_ context.Context, learner string) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	generation, ok := g.of[learner]
	if !ok && g.err == nil {
		return 0, Denied("your class is over")
	}
	return generation, g.err
}

func (g *generations) set(learner string, generation int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.of[learner] = generation
}

func newPublicBench(t *testing.T, api http.HandlerFunc) *publicBench {
	t.Helper()
	b := &publicBench{bench: newBench(t, api), generations: &generations{of: map[string]int{learner: 0, "bob": 0}}}
	b.Gateway.generation, b.fallback = b.get, ""
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "page "+r.URL.Path) })
	server := httptest.NewUnstartedServer(b.Beside(ctx, pages))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	t.Cleanup(stop)
	b.url, b.client = server.URL, server.Client()
	return b
}

// ask sends a request with a token, unless that is empty.
func (b *publicBench) ask(t *testing.T, token, path string, change ...func(*http.Request)) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", b.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for _, c := range change {
		c(r)
	}
	return b.do(t, r)
}

func (b *publicBench) own(generation int) string {
	return b.tokens.token(credential{learner, generation})
}

func TestPublicAddress(t *testing.T) {
	t.Parallel()
	b := newPublicBench(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "API "+r.RequestURI) })
	robot := jwt(`{"sub":"system:serviceaccount:lab:robot"}`)
	address, forged := b.tokens.address(learner), strings.Replace(b.tokens.address("bob"), "bob", learner, 1)
	for name, tt := range map[string]struct {
		token, path string
		code        int
		says        string
	}{
		"a page":                     {"", "/lessons/x", 200, "page /lessons/x"},
		"under the prefix":           {b.own(0), "/clusters/" + address + "/api/v1/pods?watch=0&a=b%2Fc", 200, "API /api/v1/pods?watch=0&a=b%2Fc"},
		"an escaped path":            {b.own(0), "/clusters/" + address + "/apis/a%2Fb/x", 200, "API /apis/a%2Fb/x"},
		"the root":                   {b.own(0), "/clusters/" + address, 200, "API /"},
		"the root with a slash":      {b.own(0), "/clusters/" + address + "/", 200, "API /"},
		"a name without signature":   {b.own(0), "/clusters/" + learner + "/version", 200, "API /version"},
		"no prefix, as get --raw":    {b.own(0), "/version", 200, "API /version"},
		"a prefix within":            {b.own(0), "/clusters/" + address + "/clusters/x", 200, "API /clusters/x"},
		"an account":                 {robot, "/clusters/" + address + "/version", 200, "API /version"},
		"an account, forged name":    {robot, "/clusters/" + forged + "/version", 401, "whose cluster"},
		"an account, unsigned name":  {robot, "/clusters/" + learner + "/version", 401, "whose cluster"},
		"an account, no prefix":      {robot, "/version", 401, "begin the path of this request with that of the server"},
		"an account who may not":     {robot, "/clusters/" + b.tokens.address("eve") + "/version", 403, "your class is over"},
		"no token":                   {"", "/clusters/" + address + "/version", 401, "send your bearer token"},
		"no token, no name":          {"", "/clusters/", 401, "send your bearer token"},
		"an unknown token":           {"nonsense", "/version", 401, "does not know this token"},
		"of a terminal":              {b.own(inside), "/clusters/" + address + "/version", 401, "for the terminals in your page alone"},
		"another's cluster":          {b.own(0), "/clusters/" + b.tokens.address("bob") + "/version", 403, "for the cluster of local, and the address names that of bob"},
		"another's cluster, by name": {b.own(0), "/clusters/bob/version", 403, "names that of bob"},
		"an escaped name":            {b.own(0), "/clusters/%6cocal/version", 403, "names that of %6cocal"},
		"a later generation":         {b.own(1), "/version", 403, "was revoked"},
		"a learner who may not":      {b.tokens.token(credential{learner: "eve"}), "/version", 403, "your class is over"},
	} {
		t.Run(name, func(t *testing.T) {
			response, body := b.ask(t, tt.token, tt.path)
			if response.StatusCode != tt.code || !strings.Contains(body, tt.says) {
				t.Errorf("%d %s", response.StatusCode, body)
			}
			if tt.code >= 400 {
				if s := statusOf(t, body); int(s.Code) != tt.code || s.Status != metav1.StatusFailure {
					t.Errorf("status %+v", s)
				}
			}
		})
	}
	for _, record := range b.records(t, 1) {
		if strings.HasPrefix(record.Path, "/clusters/"+address) {
			t.Errorf("the prefix is recorded: %s", record.Path)
		}
	}
}

// What a page of the same address may do, a foreign page may ask a browser for: a cookie must count for nothing.
func TestCookiesAreNoBusinessOfClusters(t *testing.T) {
	t.Parallel()
	b := newPublicBench(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Cookie"); got != "" {
			t.Errorf("the API server got the cookie %q", got)
		}
		w.Header().Set("Set-Cookie", "session=theirs")
	})
	cookie := func(r *http.Request) {
		r.Header.Set("Cookie", "session=mine")
		r.Header.Set("Origin", "https://elsewhere.example")
	}
	if response, body := b.ask(t, "", "/clusters/"+learner+"/version", cookie); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("with a cookie alone: %d %s", response.StatusCode, body)
	}
	response, body := b.ask(t, b.own(0), "/version", cookie)
	if response.StatusCode != http.StatusOK || response.Header.Get("Set-Cookie") != "" {
		t.Errorf("%d %s, cookie %q", response.StatusCode, body, response.Header.Get("Set-Cookie"))
	}
	for name := range response.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("the answer has %s", name)
		}
	}
}

func TestRedirectsStayAtThePublicAddress(t *testing.T) {
	t.Parallel()
	var elsewhere string
	b := newPublicBench(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", map[string]string{
			"/path":      "/proxy/?a=b%2F",
			"/relative":  "proxy/",
			"/absolute":  "https://" + r.Host + "/proxy/",
			"/elsewhere": elsewhere,
		}[r.URL.Path])
		w.WriteHeader(http.StatusFound)
	})
	b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	elsewhere = "https://elsewhere.example/proxy/"
	prefix := "/clusters/" + b.tokens.address(learner)
	for path, want := range map[string]string{
		prefix + "/path":      prefix + "/proxy/?a=b%2F",
		prefix + "/relative":  prefix + "/proxy/",
		prefix + "/absolute":  prefix + "/proxy/",
		prefix + "/elsewhere": elsewhere,
		"/path":               "/proxy/?a=b%2F",
	} {
		if response, _ := b.ask(t, b.own(0), path); response.Header.Get("Location") != want {
			t.Errorf("%s leads to %q, want %q", path, response.Header.Get("Location"), want)
		}
	}
}

// endless answers as a watch does, and tells by left how it ended.
func endless(t *testing.T, left chan<- error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}\n")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
		left <- context.Cause(r.Context())
	}
}

func (b *publicBench) watch(t *testing.T, token string) io.ReadCloser {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", b.url+"/clusters/"+b.tokens.address(learner)+"/api/v1/pods?watch=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := b.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if first := make([]byte, 3); response.StatusCode != http.StatusOK {
		t.Fatalf("the watch: %s", response.Status)
	} else if _, err := io.ReadFull(response.Body, first); err != nil { // an event is not held back
		t.Fatal(err)
	}
	return response.Body
}

func ends(t *testing.T, what string, body io.Reader) {
	t.Helper()
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, body)
		read <- err
	}()
	select {
	case err := <-read:
		if err == nil {
			t.Errorf("%s ended as if it were complete", what)
		}
	case <-time.After(10 * time.Second):
		t.Errorf("%s goes on", what)
	}
}

func TestRevokedTokens(t *testing.T) {
	t.Parallel()
	left := make(chan error, 4)
	b := newPublicBench(t, endless(t, left))
	old, inner := b.watch(t, b.own(0)), b.request(t, "GET", "/api/v1/pods?watch=1", nil)
	inner.Header.Set("Authorization", "Bearer "+b.own(inside))
	terminal, err := (&http.Client{Transport: &http.Transport{TLSClientConfig: b.trust("")}}).Do(inner)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Body.Close()

	b.set(learner, 1)
	b.Revoke(learner, 1)
	ends(t, "a watch with a revoked token", old)
	<-left
	if response, body := b.ask(t, b.own(0), "/version"); response.StatusCode != http.StatusForbidden || !strings.Contains(body, "revoked: get a new one") {
		t.Errorf("a request with it: %d %s", response.StatusCode, body)
	}
	current := b.watch(t, b.own(1))
	b.set("bob", 1)
	b.Revoke("bob", 1)
	select {
	case err := <-left:
		t.Errorf("another watch ended: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	_ = current.Close()
	<-left
}

// Another server of the same store, or a class that ends, revokes without a call.
func TestLongRequestsAreLookedAtAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &Gateway{underway: map[*underway]bool{}, log: slog.New(slog.DiscardHandler)}
		known := &generations{of: map[string]int{learner: 0}}
		g.generation = known.get
		ctx, done := g.begin(t.Context(), entrance{public: true}, caller{learner: learner, own: true})
		defer done()
		time.Sleep(10 * recheckTime)
		known.err = errors.New("disk on fire")
		time.Sleep(2 * recheckTime)
		known.err = nil
		if ctx.Err() != nil {
			t.Errorf("a good token was cut: %v", context.Cause(ctx))
		}
		known.set(learner, 1)
		time.Sleep(2 * recheckTime)
		if !errors.Is(context.Cause(ctx), errRevoked) {
			t.Errorf("a revoked token goes on: %v", context.Cause(ctx))
		}
	})
}

// kubectl shows a refused discovery as "unknown", unless it is text.
func TestRefusedDiscoveryIsText(t *testing.T) {
	t.Parallel()
	b := newPublicBench(t, func(http.ResponseWriter, *http.Request) { t.Error("the API server was asked") })
	response, body := b.ask(t, b.own(1), "/api", func(r *http.Request) {
		r.Header.Set("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json")
	})
	if response.StatusCode != http.StatusForbidden || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/plain") || !strings.HasPrefix(body, "this kubeconfig was revoked") {
		t.Errorf("%d %s %q", response.StatusCode, response.Header.Get("Content-Type"), body)
	}
}

func TestGenerationThatCannotBeLookedUp(t *testing.T) {
	t.Parallel()
	b := newPublicBench(t, func(http.ResponseWriter, *http.Request) { t.Error("the API server was asked") })
	b.generations.err = errors.New("disk on fire")
	if response, body := b.ask(t, b.own(0), "/version"); response.StatusCode != http.StatusServiceUnavailable || strings.Contains(body, "fire") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

func TestStopEndsWatchesAtThePublicAddress(t *testing.T) {
	t.Parallel()
	left := make(chan error, 1)
	b := newPublicBench(t, endless(t, left))
	watch := b.watch(t, b.own(0))
	b.stop()
	ends(t, "a watch", watch)
	<-left
}

func TestOwnKubeconfig(t *testing.T) {
	t.Parallel()
	g := open(t, Options{Dir: t.TempDir()})
	address := g.tokens.address(learner)
	for url, want := range map[string][]string{
		"":                         {"server: https://" + g.Addr() + "\n", "certificate-authority-data", "tls-server-name: " + address + ".apilab.internal"},
		"https://lab.example":      {"server: https://lab.example/clusters/" + address + "\n"},
		"https://lab.example:8443": {"server: https://lab.example:8443/clusters/" + address + "\n"},
		"http://192.0.2.7:8080":    {"server: https://192.0.2.7:8080/clusters/" + address + "\n", "certificate-authority-data", "tls-server-name: " + address},
		"http://lab.example":       {"server: https://lab.example:80/clusters/" + address + "\n", "certificate-authority-data", "tls-server-name"},
		"http://[2001:db8::1]":     {"server: https://[2001:db8::1]:80/clusters/" + address + "\n"},
	} {
		file, err := g.OwnKubeconfig(t.Context(), learner, Address{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range append(want, "token: "+g.tokens.token(credential{learner: learner})) {
			if !strings.Contains(string(file), text) {
				t.Errorf("for %q there is no %q in\n%s", url, text, file)
			}
		}
		if strings.HasPrefix(url, "https") && strings.Contains(string(file), "tls-server-name") {
			t.Errorf("for %q:\n%s", url, file)
		}
	}
	file, err := g.OwnKubeconfig(t.Context(), learner, Address{URL: "https://lab.example", CA: []byte("PEM")})
	if err != nil || !strings.Contains(string(file), "certificate-authority-data: UEVN") {
		t.Errorf("%v in\n%s", err, file)
	}
}

func TestTLSOnThePortOfPlainPages(t *testing.T) {
	t.Parallel()
	b := newPublicBench(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "API "+r.RequestURI) })
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	plain, secure := SplitTLS(port)
	ctx, stop := context.WithCancel(context.Background())
	handler := b.Beside(ctx, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a page") }))
	served := make(chan error, 1)
	go func() { served <- b.ServeTLS(ctx, secure, handler) }()
	pages := &http.Server{Handler: handler}
	go func() { _ = pages.Serve(plain) }()

	silent, err := net.Dial("tcp", port.Addr().String()) // holds up nobody
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	response, err := http.Get("http://" + port.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(response.Body); string(body) != "a page" {
		t.Errorf("plain HTTP gets %q", body)
	}
	_ = response.Body.Close()
	b.client = &http.Client{Transport: &http.Transport{TLSClientConfig: b.trust(b.tokens.serverName(learner)), ForceAttemptHTTP2: true}}
	b.url = "https://" + port.Addr().String()
	response, body := b.ask(t, b.own(0), "/clusters/"+b.tokens.address(learner)+"/version")
	if body != "API /version" || response.ProtoMajor != 2 {
		t.Errorf("TLS gets %s %q", response.Proto, body)
	}
	if _, body = b.ask(t, jwt(`{"sub":"system:serviceaccount:lab:robot"}`), "/version"); body != "API /version" { // the server name says whose
		t.Errorf("a service account gets %q", body)
	}
	_ = pages.Close() // closes the port
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", port.Addr().String()); err == nil {
		t.Error("the port is still open")
	}
}
