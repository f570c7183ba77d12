package server

import (
	"net/http"
	"strings"
	"testing"
)

func TestSignInByLink(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.visitor(t)
	v.get("/").wants(t, http.StatusUnauthorized, "apilab open")

	link, err := s.SignInURL()
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(link, "http://"+s.Addr())
	v.ask(http.MethodGet, path, header("Sec-Purpose", "prefetch;prerender")).wants(t, http.StatusServiceUnavailable)

	a := v.get(path)
	if a.code != http.StatusSeeOther || a.header.Get("Location") != "/" {
		t.Fatalf("the link: %d to %q", a.code, a.header.Get("Location"))
	}
	cookie := a.header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q is not %s", cookie, want)
		}
	}
	v.get("/").wants(t, http.StatusOK, "Basics")
	if a := v.get(path); a.code != http.StatusSeeOther {
		t.Errorf("the link again, in the browser that it signed in: %d", a.code)
	}
	s.visitor(t).get(path).wants(t, http.StatusUnauthorized, "used before", "apilab open")
	s.visitor(t).get("/signin/never-was").wants(t, http.StatusUnauthorized, "apilab open")
	if code := path[strings.LastIndex(path, "/")+1:]; strings.Contains(s.log.String(), code) {
		t.Error("the sign-in code stands in the log")
	}
}

func TestSessionSurvivesARestart(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	s.stop()
	again := start(t, func(o *Options) { o.DataDir = s.o.DataDir; o.Listen = s.Addr() })
	v.server = again
	v.get("/").wants(t, http.StatusOK, "Basics")
}

func TestAnotherDataFolderIsAnotherSession(t *testing.T) {
	t.Parallel()
	v := start(t).learner(t)
	v.server = start(t) // browsers send cookies to all ports of a host
	v.get("/").wants(t, http.StatusUnauthorized)
}
