package abuse

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/apilab/apilab/server/protocol"
)

// pages are what only somebody who is signed in may see.
var pages = []string{"/", "/ws", "/kubeconfig", "/search?q=watch", "/search.json", "/glossary", "/lessons/api-machinery/one-server-many-clients", "/cluster/logs", "/cluster/logs.zip"}

// Who is not signed in gets the way to sign in, and nothing else.
func TestAnonymousGetsNothing(t *testing.T) {
	s := solo(t)
	learner := s.local(t)
	known := learner.cookies()[0]
	for what, cookie := range map[string]string{
		"no cookie": "", "a made-up one": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "one cut short": known.Value[:len(known.Value)-1], "an injection": `' OR 1=1 --`,
	} {
		for _, path := range pages {
			a := s.visitor(t).get(path, func(r *http.Request) {
				if cookie != "" {
					r.Header.Set("Cookie", known.Name+"="+cookie)
				}
			})
			if a.code != http.StatusUnauthorized || strings.Contains(a.body, "apiVersion") {
				t.Errorf("%s with %s: %d", path, what, a.code)
			}
		}
	}
	for _, path := range []string{"/assets/../apilab.db", "/assets/%2e%2e/%2e%2e/apilab.db", "/assets//etc/passwd", "/assets/..%5c..%5capilab.db", "/..%2fapilab.db", "/signin/../kubeconfig", "/signin/%2e%2e%2fkubeconfig"} {
		if a := s.visitor(t).get(path); a.code < 300 || strings.Contains(a.body, "SQLite") || strings.Contains(a.body, "root:x") {
			t.Errorf("%s: %d %.100s", path, a.code, a.body)
		}
	}
	for _, method := range []string{http.MethodTrace, http.MethodConnect, http.MethodPut, http.MethodDelete, "PROPFIND"} {
		if a := s.visitor(t).ask(method, "/assets/", nil); a.code < 400 {
			t.Errorf("%s: %d", method, a.code)
		}
	}
}

// A page of another site, in the browser of somebody who is signed in, can neither act nor look.
func TestForeignSitesCanDoNothing(t *testing.T) {
	s := solo(t)
	learner := s.local(t)
	for _, origin := range []string{"https://evil.example", "http://127.0.0.1:1", "null", strings.Replace(s.url, "127.0.0.1", "127.0.0.1.evil.example", 1), ""} {
		conn, err := learner.connect("/ws", func(h http.Header) { h.Set("Origin", origin) })
		if err == nil {
			conn.CloseNow()
			t.Errorf("a websocket from %q is taken", origin)
		} else if !strings.Contains(err.Error(), "403") {
			t.Errorf("a websocket from %q: %v", origin, err)
		}
	}
	for _, change := range []func(*http.Request){header("Origin", "https://evil.example"), header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Site", "same-site")} {
		for _, path := range []string{"/", "/signout", "/join", "/kubeconfig"} {
			if a := learner.ask(http.MethodPost, path, nil, change); a.code != http.StatusForbidden {
				t.Errorf("a foreign POST to %s: %d", path, a.code)
			}
		}
	}
	for _, host := range []string{"evil.example", "apilab.evil.example:8484", "169.254.169.254", ""} { // names that somebody points at this machine
		a := learner.get("/", func(r *http.Request) {
			r.Host = host
			for _, c := range learner.cookies() {
				r.Header.Set("Cookie", c.String())
			}
		})
		if host != "" && a.code != http.StatusMisdirectedRequest {
			t.Errorf("by the name %q: %d", host, a.code)
		}
	}
	h := learner.get("/").header
	for name, want := range map[string]string{"X-Frame-Options": "DENY", "Content-Security-Policy": "script-src 'self'; ", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer"} {
		if !strings.Contains(h.Get(name), want) {
			t.Errorf("%s is %q, want %q", name, h.Get(name), want)
		}
	}
}

// A session is as new as its sign-in: nobody can have it beforehand.
func TestSessionCannotBeFixed(t *testing.T) {
	s := solo(t)
	name := s.local(t).cookies()[0].Name
	here, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	v := s.visitor(t)
	v.client.Jar.SetCookies(here, []*http.Cookie{{Name: name, Value: "chosen-by-somebody-else"}})
	link := strings.TrimPrefix(strings.TrimSpace(s.run("open", "--no-open")), s.url)
	if a := v.get(link); a.code != http.StatusSeeOther || a.header.Get("Location") != "/" {
		t.Fatalf("the link: %d to %s", a.code, a.header.Get("Location"))
	}
	first := v.cookies()[0].Value
	if first == "chosen-by-somebody-else" {
		t.Error("the session is the one that was there before")
	}
	if a := s.visitor(t).get(link); a.code != http.StatusUnauthorized {
		t.Errorf("the link a second time, elsewhere: %d", a.code)
	}
	if again := s.local(t).cookies()[0].Value; again == first {
		t.Error("two sign-ins have one session")
	}
}

// The gateway is on loopback, where every program of the host's users can knock.
func TestGatewayWantsItsToken(t *testing.T) {
	s := solo(t)
	config := s.run("kubeconfig")
	_, rest, _ := strings.Cut(config, "server: https://")
	gateway, _, _ := strings.Cut(rest, "\n")
	client := &http.Client{Timeout: patience, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for _, path := range []string{"/", "/api/v1/secrets", "/version", "/healthz", "/readyz", "/openapi/v2", "/clusters/local/api/v1/secrets"} {
		response, err := client.Get("https://" + gateway + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
}

// Who knocks a thousand times and says nothing costs the learners nothing but a little memory.
func TestIdleConnectionsAreEnded(t *testing.T) {
	t.Parallel() // it waits most of the time
	s := solo(t)
	learner := s.local(t)
	before := s.memory()
	host := strings.TrimPrefix(s.url, "http://")
	const many = 1000
	conns := make([]net.Conn, many)
	for i := range conns {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nX-Slow: ", host)
		conns[i] = conn
	}
	began := time.Now()
	if a := learner.get("/"); a.code != http.StatusOK || time.Since(began) > patience/4 {
		t.Errorf("the learner's page: %d after %s", a.code, time.Since(began))
	}
	if grew := s.memory() - before; grew > 100<<20 {
		t.Errorf("they cost %d MiB", grew>>20)
	}
	last := conns[many-1]
	last.SetReadDeadline(time.Now().Add(patience))
	if _, err := bufio.NewReader(last).ReadString(0); err == nil || os.IsTimeout(err) {
		t.Errorf("the last one is still open: %v", err)
	}
}

// A form that is no form costs neither memory nor disk.
func TestHugeRequestsAreRefused(t *testing.T) {
	s := class(t)
	before := s.memory()
	refused := func(what string, r *http.Request, err error) {
		if err != nil {
			t.Fatal(err)
		}
		response, err := s.visitor(t).client.Do(r)
		if err != nil {
			return // the server hung up in the middle
		}
		response.Body.Close()
		if response.StatusCode < 400 {
			t.Errorf("%s: %s", what, response.Status)
		}
	}
	for _, kind := range []string{"application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} {
		form := append([]byte("--x\r\nContent-Disposition: form-data; name=\"code\"; filename=\"f\"\r\n\r\n"), bytes.Repeat([]byte("a"), 64<<20)...)
		for how, body := range map[string]io.Reader{"announced": bytes.NewReader(form), "chunked": io.MultiReader(bytes.NewReader(form))} {
			what := fmt.Sprintf("64 MiB of %s, %s", kind, how)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/join", body)
			if err == nil {
				r.Header.Set("Content-Type", kind)
				r.Header.Set("Origin", s.url)
			}
			refused(what, r, err)
			if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "multipart-*")); len(left) > 0 {
				t.Errorf("%s, went to the disk: %v", what, left)
			}
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/join?q="+strings.Repeat("a", 1<<20), nil)
	refused("an address of 1 MiB", r, err)
	if grew := s.memory() - before; grew > 64<<20 {
		t.Errorf("they cost %d MiB", grew>>20)
	}
	if a := s.visitor(t).get("/join"); a.code != http.StatusOK {
		t.Errorf("the page for others: %d", a.code)
	}
}

// A browser that sends a thousand messages a second is read more slowly, and told so; nothing else becomes slow.
func TestMessageFloodIsSlowedDown(t *testing.T) {
	s := solo(t)
	learner := s.local(t)
	before := s.memory()
	flood, other := learner.page(t), learner.page(t)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	go func() {
		for ctx.Err() == nil {
			if flood.conn.Write(ctx, websocket.MessageText, []byte(`{"type":"no.such","id":1,"filler":"`+strings.Repeat("x", 1000)+`"}`)) != nil {
				return
			}
		}
	}()
	flood.until("a word about it", func() bool {
		return len(flood.notices) > 0 && strings.Contains(flood.notices[len(flood.notices)-1], "more slowly")
	})
	for range 5 {
		began := time.Now()
		other.get("ping", nil, nil)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("a ping of another page takes %s", took)
		}
		time.Sleep(time.Second)
	}
	stop()
	for name, message := range map[string][]byte{"no JSON": []byte("{"), "deep": bytes.Repeat([]byte("["), 100_000), "huge": bytes.Repeat([]byte(" "), protocol.MaxMessage+1)} {
		p := learner.page(t)
		_ = p.conn.Write(t.Context(), websocket.MessageText, message) // the server may hang up in the middle
		p.until(name+" ends the page", func() bool { return p.closed != nil })
		p.mu.Lock()
		if code := websocket.CloseStatus(p.closed); code != websocket.StatusInvalidFramePayloadData && code != websocket.StatusMessageTooBig {
			t.Errorf("%s: closed by %v", name, p.closed)
		}
		p.closed = nil
		p.mu.Unlock()
	}
	other.get("ping", nil, nil)
	if grew := s.memory() - before; grew > 256<<20 {
		t.Errorf("it cost %d MiB", grew>>20)
	}
}

// There are bounds to pages and terminals, and a message that says which.
func TestPagesAndTerminalsAreBounded(t *testing.T) {
	s := solo(t)
	learner := s.local(t)
	p := learner.page(t)
	opened, refusals := 0, 0
	for range 200 {
		r := p.ask("term.open", map[string]any{"cols": 80, "rows": 24})
		switch {
		case r.OK:
			opened++
		case strings.Contains(r.Error, "close one first"):
			refusals++
		default:
			t.Errorf("another terminal: %s", r.Error)
		}
		if refusals > 20 {
			break
		}
	}
	if opened == 0 || opened > 10 || refusals == 0 {
		t.Errorf("%d terminals, %d refusals", opened, refusals)
	}
	open := 0
	for range 100 {
		conn, err := learner.connect("/ws")
		if err != nil {
			if !strings.Contains(err.Error(), "429") {
				t.Errorf("one page more: %v", err)
			}
			break
		}
		defer conn.CloseNow()
		open++
	}
	if open < 10 || open > 50 {
		t.Errorf("%d pages of one learner are open", open)
	}
	p.get("ping", nil, nil)
}
