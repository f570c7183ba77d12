package abuse

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
)

// A visitor is a browser.
type visitor struct {
	t      *testing.T
	server *server
	client *http.Client
}

func (s *server) visitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &visitor{t, s, &http.Client{Jar: jar, Timeout: patience, CheckRedirect: stay}}
}

// local is the learner of a solo server.
func (s *server) local(t *testing.T) *visitor {
	t.Helper()
	v := s.visitor(t)
	if a := v.get(strings.TrimPrefix(strings.TrimSpace(s.run("open", "--no-open")), s.url)); a.code != http.StatusSeeOther {
		t.Fatalf("the sign-in link answers %d: %s", a.code, a.body)
	}
	return v
}

type answer struct {
	code   int
	header http.Header
	body   string
}

func (v *visitor) get(path string, change ...func(*http.Request)) answer {
	v.t.Helper()
	return v.ask(http.MethodGet, path, nil, change...)
}

// post sends a form as the server's own pages do.
func (v *visitor) post(path string, form url.Values, change ...func(*http.Request)) answer {
	v.t.Helper()
	own := func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", v.server.url)
	}
	return v.ask(http.MethodPost, path, strings.NewReader(form.Encode()), append([]func(*http.Request){own}, change...)...)
}

func (v *visitor) ask(method, path string, body io.Reader, change ...func(*http.Request)) answer {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.server.url+path, body)
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	for _, fn := range change {
		fn(r)
	}
	response, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// cookies are those that the browser would send.
func (v *visitor) cookies() []*http.Cookie {
	here, err := url.Parse(v.server.url)
	if err != nil {
		v.t.Fatal(err)
	}
	return v.client.Jar.Cookies(here)
}
