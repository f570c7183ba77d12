package server

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestOnlyLoopbackNames(t *testing.T) {
	t.Parallel()
	s := start(t)
	signedIn := s.learner(t)
	here, _ := url.Parse("http://" + s.Addr())
	cookies := signedIn.client.Jar.Cookies(here)
	v := s.visitor(t)
	_, port, _ := strings.Cut(s.Addr(), ":")
	for host, want := range map[string]int{
		"127.0.0.1:" + port:              http.StatusOK,
		"localhost:" + port:              http.StatusOK,
		"LOCALHOST:9000":                 http.StatusOK, // a forwarded port
		"[::1]:" + port:                  http.StatusOK,
		"localhost":                      http.StatusOK,
		"evil.example:" + port:           http.StatusMisdirectedRequest,
		"127.0.0.1.evil.example:" + port: http.StatusMisdirectedRequest,
		"localhost.evil.example":         http.StatusMisdirectedRequest,
		"192.168.1.10:" + port:           http.StatusMisdirectedRequest,
	} {
		a := v.get("/", func(r *http.Request) {
			r.Host = host
			r.AddCookie(cookies[0])
		})
		a.wants(t, want)
		if want != http.StatusOK && strings.Contains(a.body, "Basics") {
			t.Errorf("%s: the page was shown", host)
		}
	}
}

func TestForeignPagesCannotChangeAnything(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.visitor(t).ask(http.MethodPost, "/").wants(t, http.StatusMethodNotAllowed)
	s.visitor(t).ask(http.MethodPost, "/", header("Origin", "https://evil.example")).wants(t, http.StatusForbidden)
	s.visitor(t).ask(http.MethodPost, "/", header("Sec-Fetch-Site", "cross-site")).wants(t, http.StatusForbidden)
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	for _, path := range []string{"/", "/lessons/basics/first", "/nowhere", "/kubeconfig", "/assets/nothing.js"} {
		h := v.get(path).header
		for name, want := range map[string]string{
			"X-Content-Type-Options":       "nosniff",
			"X-Frame-Options":              "DENY",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'self'", "script-src 'self';", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy %q has no %q", path, csp, want)
			}
		}
		if path != "/assets/nothing.js" && h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control is %q", path, h.Get("Cache-Control"))
		}
	}
}

func TestEverythingNeedsASession(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/", "/lessons/basics/first", "/kubeconfig", "/ws"} {
		s.visitor(t).get(path).wants(t, http.StatusUnauthorized, "apilab open")
		a := s.visitor(t).get(path, header("Accept", "*/*"))
		a.wants(t, http.StatusUnauthorized, "apilab open")
		if strings.Contains(a.body, "<") {
			t.Errorf("%s: a program gets HTML: %s", path, a.body)
		}
	}
}

func TestListenBeyondLoopbackIsRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "example.com:80", "192.168.1.10:0", "nonsense"} {
		if l, err := listen(address, false); err == nil {
			l.Close()
			t.Errorf("%s: listening", address)
		}
	}
	l, err := listen("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := listen(l.Addr().String(), false); err == nil || !strings.Contains(err.Error(), "another port") {
		t.Errorf("a busy port: %v", err)
	}
}
