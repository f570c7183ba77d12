package abuse

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// class starts a server for many, with one class, and returns it signed in as its admin.
func class(t *testing.T, args ...string) *server {
	t.Helper()
	s := newServer(t, append([]string{"--listen", "127.0.0.1:0"}, args...)...)
	s.start()
	s.admin = s.visitor(t)
	s.admin.signIn(regexp.MustCompile(`https?://\S+(/signin/\S+)`).FindStringSubmatch(s.log.String())[1])
	s.class, s.code = s.admin.makesClass("Room 101")
	return s
}

// signIn opens a sign-in link and confirms it.
func (v *visitor) signIn(link string) {
	v.t.Helper()
	if a := v.get(link); a.code != http.StatusOK {
		v.t.Fatalf("the sign-in link: %d %s", a.code, a.body)
	}
	if a := v.post(link, nil); a.code != http.StatusSeeOther {
		v.t.Fatalf("the sign-in: %d %s", a.code, a.body)
	}
}

var joinCode = regexp.MustCompile(`[A-Z0-9]{4}-[A-Z0-9]{4}`)

// makesClass makes a class, as an instructor, and returns its ID and join code.
func (v *visitor) makesClass(name string) (id, code string) {
	v.t.Helper()
	a := v.post("/classes", url.Values{"name": {name}, "capacity": {"100"}})
	at := a.header.Get("Location")
	if a.code != http.StatusSeeOther || !strings.HasPrefix(at, "/classes/") {
		v.t.Fatalf("a new class: %d to %q: %s", a.code, at, a.body)
	}
	id, _, _ = strings.Cut(strings.TrimPrefix(at, "/classes/"), "/")
	code = joinCode.FindString(v.get("/classes/" + id + "/join").body)
	if code == "" {
		v.t.Fatal("the class shows no join code")
	}
	return id, code
}

// joins is a new learner of the class.
func (s *server) joins(t *testing.T, name string) *visitor {
	t.Helper()
	v := s.visitor(t)
	if a := v.post("/join", url.Values{"code": {s.code}, "name": {name}}); a.code >= 400 || len(v.cookies()) == 0 {
		t.Fatalf("joining: %d %s", a.code, a.body)
	}
	return v
}
