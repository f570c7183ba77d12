package server

import (
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// a running server with content of its own.
type testServer struct {
	*Server
	content string // the content folder
	log     *logBuffer
	stop    func() // ends Serve, and waits
}

// start serves until the test ends.
func start(t *testing.T, change ...func(*Options)) *testServer {
	t.Helper()
	log := &logBuffer{}
	o := Options{
		DataDir:    filepath.Join(t.TempDir(), "data"),
		ContentDir: writeContent(t),
		Backends:   fakeBackends(t),
		Version:    "v0.0.0-test",
		Logger:     slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, c := range change {
		c(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(stop)
	return &testServer{Server: s, content: o.ContentDir, log: log, stop: stop}
}

// logBuffer keeps what was logged.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// A visitor is a browser as far as cookies go. It does not follow redirects.
type visitor struct {
	t      *testing.T
	server *testServer
	client *http.Client
}

func (s *testServer) visitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t: t, server: s, client: &http.Client{
		Jar:           jar,
		Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// learner is a visitor who has signed in.
func (s *testServer) learner(t *testing.T) *visitor {
	t.Helper()
	v := s.visitor(t)
	link, err := s.SignInURL()
	if err != nil {
		t.Fatal(err)
	}
	if a := v.ask(http.MethodGet, strings.TrimPrefix(link, "http://"+s.Addr())); a.code != http.StatusSeeOther {
		t.Fatalf("sign in: %d %s", a.code, a.body)
	}
	return v
}

type answer struct {
	code   int
	header http.Header
	body   string
}

func (v *visitor) ask(method, path string, change ...func(*http.Request)) answer {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, "http://"+v.server.Addr()+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,*/*")
	for _, c := range change {
		c(r)
	}
	response, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer response.Body.Close()
	var body io.Reader = response.Body
	if response.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			v.t.Fatal(err)
		}
	}
	text, err := io.ReadAll(body)
	if err != nil {
		v.t.Fatal(err)
	}
	return answer{code: response.StatusCode, header: response.Header, body: string(text)}
}

func (v *visitor) get(path string, change ...func(*http.Request)) answer {
	v.t.Helper()
	return v.ask(http.MethodGet, path, change...)
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// wants checks an answer's status and that its body has all of these texts.
func (a answer) wants(t *testing.T, code int, texts ...string) {
	t.Helper()
	if a.code != code {
		t.Errorf("status %d, want %d", a.code, code)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("the answer has no %q:\n%s", text, a.body)
		}
	}
}

// writeContent makes a content folder: one track of two lessons, with three exercises.
func writeContent(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"content/basics/track.yaml": "title: Basics\nsummary: What to begin with.\noutcome: begin.\norder: 1\n",
		"content/basics/01-first/index.md": `---
title: The first lesson
summary: How it begins.
duration: 10
difficulty: introductory
objectives:
  - say ` + "`hello`" + `
---

Read this first.

## Say something

:::exercise basics/say
`,
		"content/basics/02-second/index.md": `---
title: The second lesson
summary: How it goes on.
duration: 15
difficulty: introductory
needs: [basics/first]
objectives:
  - pick one
---

Read this then.

:::exercise basics/pick

:::exercise basics/ask
`,
		"content/basics/reference/sheet.md": "---\ntitle: Sheet\nsummary: All of it.\n---\n\n## Reads\n\n```sh run\nkubectl get pods\n```\n",
		"content/more/track.yaml":           "title: More\nsummary: What comes then.\noutcome: end.\norder: 2\nneeds: [basics]\n",
		"content/more/01-last/index.md":     "---\ntitle: The last lesson\nsummary: How it ends.\nduration: 5\ndifficulty: advanced\nobjectives: [end]\n---\n\nThe last lesson.\n",
		"content/glossary/all.yaml":         "lesson:\n  also: [chapter]\n  text: What you *read*.\n",
		"exercises/basics/say.yaml": `title: Say hello
task: Type **hello**.
checks:
  - id: said
    says: You said hello
    answer: {prompt: "What do you say?", placeholder: a word}
    expect: answer == 'hello'
    hints:
      - say: It begins with an h.
solution: echo hello
answers: {said: hello}
wrong:
  - {name: said bye, answers: {said: bye}, stays: [said]}
`,
		"exercises/basics/pick.yaml": `title: Pick the right one
needs: [basics/say]
task: Pick.
checks:
  - id: picked
    says: You picked the right one
    choice:
      prompt: Which?
      options:
        - {id: a, text: This, right: true, why: It is right.}
        - {id: b, text: That, why: It is not this.}
solution: echo a
answers: {picked: a}
wrong:
  - {name: the other, answers: {picked: b}, stays: [picked]}
`,
		"exercises/basics/ask.yaml": `title: Ask the server
task: List the namespaces.
checks:
  - id: listed
    says: You listed the namespaces
    request: {verb: list, resource: namespaces}
    expect: request.status.code == 200
solution: kubectl get namespaces
wrong:
  - {name: one alone, run: kubectl get namespace default, stays: [listed]}
`,
	} {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
