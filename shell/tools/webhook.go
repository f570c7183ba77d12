package tools

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

func init() {
	register("webhook", Tool{
		"[--port=8443] [--cert=tls.crt --key=tls.key] -- COMMAND... | webhook cert [--host=localhost]...",
		"serve HTTPS, answering each request with what a command prints", webhook,
	})
}

const webhookHelp = `
A webhook server on your own localhost, which your API server can call. For each POST it runs COMMAND: the body is the
command's standard input, and what it prints, one JSON object, is the answer. Each request is a line of the log; what
the command writes to its standard error is shown too. Ctrl-C ends it, and so does "kill %1" when it runs with "&".

  webhook cert                          make tls.crt, tls.key and ca.crt for localhost
  webhook -- sh ./admit.sh              serve https://localhost:8443/
  webhook --port=9443 -- sh ./admit.sh > log 2>&1 &
  base64 -w0 ca.crt                     the caBundle of the webhook's configuration

In the command, WEBHOOK_PATH is the path of the request, for a server with more than one.
`

// Bounds of a webhook server.
const (
	maxReview     = 16 << 20 // bytes of a request's body, and of an answer
	webhookAtOnce = 16       // commands that run at a time; further requests wait
)

func webhook(ctx context.Context, c *Call) error {
	if len(c.Args) > 0 && c.Args[0] == "cert" {
		return webhookCert(c, c.Args[1:])
	}
	f := c.flags().first()
	port := f.Int("port", 8443, "port on localhost")
	cert := f.String("cert", "tls.crt", "file of the server's certificate")
	key := f.String("key", "tls.key", "file of its private key")
	quiet := f.BoolP("quiet", "q", false, "no log")
	command, err := f.parse()
	if err != nil {
		if err == Status(0) {
			io.WriteString(c.Stdout, webhookHelp)
		}
		return err
	}
	if len(command) == 0 {
		return usagef("needs a command that answers, e.g. `webhook -- sh ./admit.sh`")
	}
	if *port < 1 || *port > 65535 {
		return usagef("%d is not a port: use one from 1 to 65535", *port)
	}
	if err := c.scriptExists(command); err != nil {
		return err
	}
	pair, err := c.keyPair(*cert, *key)
	if err != nil {
		return err
	}
	l, err := c.Host.Ports.Listen(*port)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d is taken: something of yours listens there already. `jobs` shows what runs in this terminal, `kill %%1` ends it; or choose another --port", *port)
	}
	if err != nil {
		return err
	}
	h := &reviewer{call: c, command: command, slots: make(chan struct{}, webhookAtOnce)}
	if !*quiet {
		h.log = c.Stdout
	}
	h.say("serving https://localhost:%d with: %s", *port, strings.Join(command, " "))
	return h.serve(ctx, l, pair)
}

// scriptExists refuses a script that is not there before anything is served, when it is plain which one is meant.
func (c *Call) scriptExists(command []string) error {
	file := ""
	switch {
	case slices.Contains([]string{"sh", "bash", "dash", "zsh"}, command[0]):
		if len(command) > 1 && !strings.HasPrefix(command[1], "-") {
			file = command[1]
		}
	case strings.Contains(command[0], "/") && path.Dir(command[0]) != "/bin" && path.Dir(command[0]) != "/usr/bin":
		file = command[0]
	}
	if file == "" {
		return nil
	}
	fi, err := c.Host.FS.Stat(c.path(file))
	switch {
	case err != nil:
		return fmt.Errorf("%s: no such script in %s. Write it first, e.g. with `edit %s`", file, c.Dir, file)
	case fi.IsDir():
		return fmt.Errorf("%s is a folder, and not a script", file)
	}
	return nil
}

// keyPair reads the certificate and its key.
func (c *Call) keyPair(cert, key string) (tls.Certificate, error) {
	var text [2][]byte
	for i, name := range []string{cert, key} {
		var err error
		if text[i], err = c.Host.FS.ReadFile(c.path(name), 1<<20); isNotExist(err) {
			return tls.Certificate{}, fmt.Errorf("%s: no such file. `webhook cert` makes a certificate for localhost", name)
		} else if err != nil {
			return tls.Certificate{}, typed(name, err)
		}
	}
	pair, err := tls.X509KeyPair(text[0], text[1])
	if err != nil {
		return pair, fmt.Errorf("%s and %s cannot be used: %s. `webhook cert --force` makes new ones", cert, key, strings.TrimPrefix(err.Error(), "tls: "))
	}
	return pair, nil
}

// reviewer answers requests with a command's output.
type reviewer struct {
	call    *Call
	command []string
	slots   chan struct{}
	mu      sync.Mutex
	log     io.Writer // nil for none
}

func (h *reviewer) say(format string, a ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.log != nil {
		fmt.Fprintf(h.log, format+"\n", a...)
	}
}

// serve returns as ctx ends. What is being answered then is cut off.
func (h *reviewer) serve(ctx context.Context, l net.Listener, pair tls.Certificate) error {
	server := &http.Server{
		Handler:           h,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{pair}},
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(handshakes{h}, "", 0),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	err := server.ServeTLS(l, "", "")
	server.Close()
	if errors.Is(err, http.ErrServerClosed) {
		return ctx.Err()
	}
	return err
}

func (h *reviewer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	what, says := "", ""
	defer func() {
		h.say("%s %s %s%s → %s (%d ms)", start.Format(time.TimeOnly), r.Method, r.URL.Path, what, says, time.Since(start).Milliseconds())
	}()
	fail := func(code int, format string, a ...any) {
		says = fmt.Sprintf("%d ", code) + fmt.Sprintf(format, a...)
		http.Error(w, fmt.Sprintf(format, a...), code)
	}
	if r.Method != http.MethodPost {
		fail(http.StatusMethodNotAllowed, "this is a webhook: it answers a POST with a JSON object as its body")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReview))
	if err != nil {
		fail(http.StatusBadRequest, "the body could not be read: %v", err)
		return
	}
	var request review
	if json.Unmarshal(body, &request) == nil {
		what = request.asks()
	}
	answer, err := h.run(r, body)
	switch {
	case r.Context().Err() != nil:
		says = "nobody waits for the answer any more: it came too late, or this server ends"
		return
	case err != nil:
		fail(http.StatusInternalServerError, "%v", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(answer)
	says = request.answered(answer)
}

// run runs the command and returns the JSON object that it printed.
func (h *reviewer) run(r *http.Request, body []byte) ([]byte, error) {
	ctx := r.Context()
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	out := &bounded{}
	c := h.call.with(bytes.NewReader(body), out)
	c.Env = append(slices.Clone(c.Env), "WEBHOOK_PATH="+r.URL.Path)
	c.Stderr = &locked{mu: &h.mu, w: h.call.Stderr}
	status := c.Host.Exec(ctx, c, h.command)
	name := strings.Join(h.command, " ")
	answer := bytes.TrimSpace(out.b.Bytes())
	var object map[string]any
	switch {
	case status != 0:
		return nil, fmt.Errorf("%s failed with exit status %d", name, status)
	case out.over:
		return nil, fmt.Errorf("%s printed more than %d MiB", name, maxReview>>20)
	case len(answer) == 0:
		return nil, fmt.Errorf("%s printed nothing: its standard output has to be the answer", name)
	case json.Unmarshal(answer, &object) != nil:
		return nil, fmt.Errorf("%s did not print one JSON object, but %q: messages of its own belong on standard error (>&2)", name, shorten(answer, 60))
	}
	return answer, nil
}

func shorten(text []byte, n int) string {
	if runes := []rune(string(text)); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return string(text)
}

// A review is what an AdmissionReview or a ConversionReview has that the log tells of.
type review struct {
	Kind    string
	Request *struct {
		UID       string
		Operation string
		Name      string
		Namespace string
		DryRun    bool
		Resource  struct{ Group, Version, Resource string }
		Kind      struct{ Kind string }

		DesiredAPIVersion string
		Objects           []json.RawMessage
	}
	Response *struct {
		UID              string
		Allowed          *bool
		Patch            *string
		Status           struct{ Message string }
		Warnings         []string
		Result           struct{ Status, Message string }
		ConvertedObjects []json.RawMessage
	}
}

// asks tells what is asked for: " CREATE crates.lab.example.com dock/blue (dry run)".
func (v *review) asks() string {
	r := v.Request
	switch {
	case r == nil:
		return ""
	case v.Kind == "ConversionReview":
		return fmt.Sprintf(" convert %s to %s", counted(len(r.Objects), "object"), r.DesiredAPIVersion)
	case v.Kind != "AdmissionReview":
		return ""
	}
	resource := r.Resource.Resource
	if r.Resource.Group != "" {
		resource += "." + r.Resource.Group
	}
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + name
	}
	text := fmt.Sprintf(" %s %s %s", r.Operation, resource, name)
	if r.DryRun {
		text += " (dry run)"
	}
	return text
}

// answered tells what the command said, and what the API server will not accept of it.
func (v *review) answered(answer []byte) string {
	var a review
	if v.Request == nil {
		return "answered"
	}
	switch err := json.Unmarshal(answer, &a); {
	case err != nil:
		return "answered, but not as a review: " + err.Error()
	case a.Response == nil:
		return "the answer has no response, so it will not be accepted"
	case a.Response.UID != v.Request.UID:
		return fmt.Sprintf("response.uid is %q and has to be the request's, %q: it will not be accepted", a.Response.UID, v.Request.UID)
	case v.Kind == "ConversionReview" && a.Response.Result.Status != "Success":
		return fmt.Sprintf("response.result.status is %q and not \"Success\": %s", a.Response.Result.Status, a.Response.Result.Message)
	case v.Kind == "ConversionReview":
		return counted(len(a.Response.ConvertedObjects), "object")
	case v.Kind != "AdmissionReview":
		return "answered"
	case a.Response.Allowed == nil:
		return "denied: response.allowed is missing"
	case !*a.Response.Allowed:
		return strings.TrimSuffix("denied: "+a.Response.Status.Message, ": ")
	case a.Response.Patch != nil:
		return "allowed, with a patch"
	case len(a.Response.Warnings) > 0:
		return "allowed, with " + counted(len(a.Response.Warnings), "warning")
	}
	return "allowed"
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// handshakes words what the server logs of connections that come to nothing.
type handshakes struct{ h *reviewer }

func (l handshakes) Write(p []byte) (int, error) {
	text := strings.TrimSpace(string(p))
	switch {
	case strings.Contains(text, "bad certificate"), strings.Contains(text, "unknown certificate authority"):
		l.h.say("a client did not trust this server's certificate: the caBundle has to be ca.crt (`base64 -w0 ca.crt`), and the certificate has to be for the host in the URL")
	case strings.Contains(text, "HTTP request to an HTTPS server"):
		l.h.say("a client spoke HTTP: the URL begins with https://")
	case strings.Contains(text, "EOF"), strings.Contains(text, "connection reset"), strings.Contains(text, "context canceled"):
	default:
		l.h.say("%s", text)
	}
	return len(p), nil
}

// bounded keeps what is written to it, up to maxReview.
type bounded struct {
	mu   sync.Mutex
	b    bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over = b.over || b.b.Len()+len(p) > maxReview; b.over {
		return 0, syscall.EPIPE
	}
	return b.b.Write(p)
}

// locked keeps the lines of commands that run at once apart.
type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
