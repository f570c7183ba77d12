package posix

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// echoServer tells what it was sent, on a learner's localhost.
func echoServer(t *testing.T, f *fixture) {
	t.Helper()
	l, err := f.o.Host.Ports.Listen(8080)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %q ct=%s ua=%s auth=%s x=%s host=%s\n", r.Method, r.URL.RequestURI(), body, r.Header.Get("Content-Type"),
			strings.SplitN(r.UserAgent(), "/", 2)[0], r.Header.Get("Authorization"), r.Header.Get("X-A"), r.Host)
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/target", http.StatusFound) })
	mux.HandleFunc("/missing", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "no such thing\n")
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "first\n")
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(200 * time.Millisecond):
			fmt.Fprint(w, "second\n")
		}
	})
	srv := &http.Server{Handler: mux}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
}

func TestCurl(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"get":            {"curl localhost:8080/a?b=c", "GET /a?b=c \"\" ct= ua=curl auth= x= host=localhost:8080\n"},
		"by address":     {"curl -s http://127.0.0.1:8080", "GET / \"\" ct= ua=curl auth= x= host=127.0.0.1:8080\n"},
		"method":         {"curl -sX DELETE localhost:8080/x | cut -d' ' -f1,2", "DELETE /x\n"},
		"form":           {"curl -d a=1 -d b=2 localhost:8080/ | cut -d' ' -f1-4", "POST / \"a=1&b=2\" ct=application/x-www-form-urlencoded\n"},
		"json":           {"curl --json '{\"a\":1}' localhost:8080/ | cut -d' ' -f1-4", "POST / \"{\\\"a\\\":1}\" ct=application/json\n"},
		"file":           {"printf 'a\\nb' > f; curl -d @f localhost:8080/ | cut -d' ' -f3; curl --data-binary @f localhost:8080/ | cut -d' ' -f3", "\"ab\"\n\"a\\nb\"\n"},
		"stdin":          {"echo hi | curl --data-binary @- localhost:8080/ | cut -d' ' -f3", "\"hi\\n\"\n"},
		"put a file":     {"printf x > f; curl -T f localhost:8080/f | cut -d' ' -f1-3", "PUT /f \"x\"\n"},
		"query":          {"curl -G -d a=1 --data-urlencode 'b=x y' localhost:8080/ | cut -d' ' -f1,2", "GET /?a=1&b=x+y\n"},
		"headers":        {"curl -H 'X-A: 1' -H 'User-Agent:' -A me/1 localhost:8080/ | cut -d' ' -f5,7", "ua= x=1\n"},
		"host":           {"curl -H 'Host: example.com' localhost:8080/ | cut -d' ' -f8", "host=example.com\n"},
		"user":           {"curl -u a:b localhost:8080/ | cut -d' ' -f6,7", "auth=Basic YTpi\n"},
		"bearer":         {"curl --oauth2-bearer tok localhost:8080/ | cut -d' ' -f6,7", "auth=Bearer tok\n"},
		"write out":      {"curl -s -o /dev/null -w '%{http_code} %{method} %{content_type}\\n' localhost:8080/missing", "404 GET text/plain; charset=utf-8\n"},
		"output":         {"curl -so out localhost:8080/; cut -c1-3 out", "GET\n"},
		"include":        {"curl -si localhost:8080/missing | head -1 | tr -d '\\r'; curl -sI localhost:8080/missing | head -1 | tr -d '\\r'", "HTTP/1.1 404 Not Found\nHTTP/1.1 404 Not Found\n"},
		"verbose":        {"curl -sv localhost:8080/missing 2>&1 >/dev/null | grep -E '^[<>] (GET|HTTP)' | tr -d '\\r'", "> GET /missing HTTP/1.1\n< HTTP/1.1 404 Not Found\n"},
		"fail":           {"curl -f localhost:8080/missing; echo $?; curl -sf localhost:8080/missing; curl -s --fail-with-body localhost:8080/missing; echo $?", "curl: (22) The requested URL returned error: 404\n22\nno such thing\n22\n"},
		"redirect":       {"curl -s -o /dev/null -w '%{http_code}\\n' localhost:8080/moved; curl -sL localhost:8080/moved | cut -d' ' -f2", "302\n/target\n"},
		"stream":         {"curl -sN localhost:8080/slow | head -1", "first\n"},
		"time":           {"curl -sS -m 0.1 localhost:8080/slow; echo $?", "first\ncurl: (28) Operation timed out after "},
		"refused":        {"curl localhost:9; echo $?; curl -s localhost:9; echo $?", "curl: (7) Failed to connect to localhost port 9: Connection refused (nothing of yours listens there)\n7\n7\n"},
		"no proxy":       {"curl -sS localhost:8001/version", "curl: (7) Failed to connect to localhost port 8001: Connection refused (nothing of yours listens there; `kubectl proxy --port=8001 &` starts the proxy to your API server)\n"},
		"bad URL":        {"curl http://; echo $?; curl ftp://x/; echo $?", "curl: (3) URL rejected: http://\n3\ncurl: (1) Protocol \"ftp\" not supported\n1\n"},
		"several":        {"curl -s localhost:8080/a localhost:8080/b | cut -d' ' -f2", "/a\n/b\n"},
		"unknown option": {"curl --nonsense x 2>&1 | head -1", "curl: unknown flag: --nonsense\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newShell(t, Limits{})
			echoServer(t, f)
			f.run(t, c.script)
			if got := f.out.String(); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s\n got %q\nwant %q", c.script, got, c.want)
			}
		})
	}
}
