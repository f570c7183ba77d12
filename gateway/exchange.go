package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	firstPause = 50 * time.Millisecond // between attempts to reach an API server that is down
	maxPause   = time.Second
)

// An exchange is one request on its way to the API server and back. Its methods are the steps of a httputil.ReverseProxy.
type exchange struct {
	gateway  *Gateway
	entrance entrance
	caller   caller
	recorder *Recorder
	upgrade  bool // the client asked for another protocol on this connection

	request *capture // nil without a body
	sent    *sentBody

	// mu guards what follows: the end of the response's body and the end of the handler may meet.
	mu       sync.Mutex
	record   Record // as it was when entry was made
	entry    *entry // nil until something is known of the outcome
	response *capture
	encoding string // Content-Encoding of the response
	answered string // its Content-Type
	ended    bool
}

// serve authenticates a request, sends it to the learner's API server and records it.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request, from entrance) {
	who, refusal := g.authenticate(r, from)
	if refusal != nil {
		writeStatus(w, r, refusal)
		return
	}
	leave, ok := g.crowd.enter(who.learner)
	if !ok {
		writeStatus(w, r, crowded())
		return
	}
	defer leave()
	ctx, done := g.begin(r.Context(), from, who)
	defer done()
	if refusal := g.revoked(ctx, from, who); refusal != nil {
		writeStatus(w, r, refusal)
		return
	}
	r = r.WithContext(ctx)
	x := &exchange{
		gateway:  g,
		entrance: from,
		caller:   who,
		recorder: g.Recorder(who.learner),
		upgrade:  r.Header.Get("Upgrade") != "",
		record:   newRecord(r, who.user, time.Now()),
	}
	defer x.end() // also when the proxy panics, as it does when either side breaks off
	proxy := &httputil.ReverseProxy{
		Rewrite:        x.rewrite,
		Transport:      x,
		ModifyResponse: x.modify,
		ErrorHandler:   x.fail,
		FlushInterval:  -1, // a watch event is worth nothing in a buffer
		BufferPool:     g.buffers,
		ErrorLog:       slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
	}
	defer g.clusters.Use(x.caller.learner)()
	defer x.endBody()
	proxy.ServeHTTP(w, r)
}

// endBody lets go of a body that nobody has read to its end.
func (x *exchange) endBody() {
	if x.sent != nil {
		_ = x.sent.PipeReader.Close() // which has no errors
	}
}

func (x *exchange) rewrite(r *httputil.ProxyRequest) {
	r.Out.Host = ""                        // the API server's own
	r.Out.URL.RawQuery = r.In.URL.RawQuery // as it came: the API server judges what is wrong with it
	if x.entrance.public {
		r.Out.Header.Del("Cookie") // those of the pages at the same address are none of the API server's business
	}
	if x.record.Verb == "watch" {
		r.Out.Header.Del("Accept-Encoding") // since v1.37 the API server compresses streamed lists, and events are read as they pass
	}
	if r.Out.Body != nil {
		x.request = newCapture(r.Out.Body, r.In.ContentLength, x.recorder.limits.body, nil)
		x.sent = newSentBody(x.request)
		r.Out.Body = x.sent
	}
}

// A sentBody is a request's body on its way to the API server. A transport that could not connect has closed it, and the next
// attempt reads it. One that has an answer and closes it wants no more of it, and waits for its read to end, which the client
// may never do: it has its answer too, and has nothing more to send. The server closes the real body.
type sentBody struct {
	*io.PipeReader

	mu               sync.Mutex
	closed, answered bool // in this attempt
}

func newSentBody(body io.Reader) *sentBody {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, body)
		_ = in.CloseWithError(err) // nil: io.EOF
	}()
	return &sentBody{PipeReader: out}
}

func (b *sentBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.settle()
	return nil
}

// attempt begins another attempt to send it.
func (b *sentBody) attempt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = false
}

// answer says that there is an answer.
func (b *sentBody) answer() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answered = true
	b.settle()
}

// settle ends a read that nobody waits for any more; mu is held.
func (b *sentBody) settle() {
	if b.closed && b.answered {
		_ = b.PipeReader.Close() // which has no errors
	}
}

// RoundTrip sends the request on. When the API server is down, which is healed within seconds, it waits a while and tries
// again, provided that nothing was carried out yet.
func (x *exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	wait, cancel := context.WithTimeout(r.Context(), x.gateway.wait)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		u, err := x.gateway.upstreamOf(wait, x.caller.learner)
		if err != nil {
			return nil, err
		}
		if x.sent != nil {
			x.sent.attempt()
		}
		response, err := u.send(r, x.caller.own, x.upgrade)
		if err == nil && x.sent != nil {
			x.sent.answer()
		}
		if err == nil || r.Context().Err() != nil {
			return response, err
		}
		x.gateway.log.Debug("the API server did not answer", "learner", x.caller.learner, "error", err)
		unsent := errors.Is(err, errDial)
		if !unsent && (x.upgrade || !harmless(r)) {
			return nil, errDropped
		}
		select {
		case <-time.After(pause):
		case <-wait.Done():
			return nil, errSilent
		}
	}
}

// harmless: sending it twice is as good as once.
func harmless(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.Body == nil
}

// modify sees the response's headers.
func (x *exchange) modify(response *http.Response) error {
	x.readdress(response)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.record.Status.Code = response.StatusCode
	x.answered = response.Header.Get("Content-Type")
	x.encoding = response.Header.Get("Content-Encoding")
	x.publish()
	switch {
	case response.StatusCode == http.StatusSwitchingProtocols:
		// The body is the connection, which the proxy needs as it is.
	case x.record.Verb == "watch" && response.StatusCode == http.StatusOK:
		if x.encoding == "" {
			response.Body = x.watched(response.Body)
		}
	default:
		x.response = newCapture(response.Body, response.ContentLength, x.recorder.limits.body, x.end)
		response.Body = x.response
	}
	return nil
}

// readdress fits a response to the address that was asked: the API server knows only its own, and cookies of what is behind
// it would be the pages' at a public one.
func (x *exchange) readdress(response *http.Response) {
	if x.entrance.public {
		response.Header.Del("Set-Cookie")
	}
	location, err := response.Location() // made absolute
	if err == nil && location.Host == response.Request.URL.Host {
		response.Header.Set("Location", x.entrance.prefix+location.RequestURI())
	}
}

// fail answers in the API server's place when it could not be asked.
func (x *exchange) fail(w http.ResponseWriter, r *http.Request, err error) {
	says, status := errDropped, (*metav1.Status)(nil)
	switch cause := context.Cause(r.Context()); {
	case errors.Is(cause, errStopped):
		says = errStopped
	case errors.Is(cause, errRevoked):
		status = outdated(x.entrance)
	case cause != nil:
		says = errGone
	case !errors.As(err, &says):
		x.gateway.log.Warn("a request failed in the gateway", "learner", x.caller.learner, "error", err)
	}
	if status == nil {
		status = unavailable(string(says))
	}
	x.failed(Status{Code: int(status.Code), Reason: string(status.Reason), Message: status.Message})
	writeStatus(w, r, status)
}

func (x *exchange) failed(status Status) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.entry == nil {
		x.record.Status = status // end makes it known
		return
	}
	x.recorder.update(x.entry, func(r *Record) { r.Status = status }) // an upgrade went wrong after its answer
}

// publish makes the record known. x.mu is held.
func (x *exchange) publish() {
	x.record.Duration = time.Since(x.record.Time)
	x.record.RequestBody = x.requestBody()
	x.entry = x.recorder.add(x.record)
}

// end completes the record, once: at the end of the response's body or, where that is never reached, of the handler.
func (x *exchange) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return
	}
	x.ended = true
	if x.entry == nil { // never answered
		x.record.Done = true
		x.publish()
		return
	}
	body := x.responseBody()
	x.recorder.update(x.entry, func(r *Record) {
		r.Done = true
		r.Duration = time.Since(r.Time)
		if r.RequestBody == nil { // sent after the headers of the answer came
			r.RequestBody = x.requestBody()
		}
		r.ResponseBody = asJSON(body, x.answered, x.recorder.limits.body)
		if x.response != nil && r.Status.Code >= http.StatusBadRequest {
			r.Status = outcome(r.Status.Code, x.answered, body)
		}
	})
}

func (x *exchange) requestBody() json.RawMessage {
	if x.request == nil {
		return nil
	}
	return asJSON(x.request.data(), x.record.ContentType, x.recorder.limits.body)
}

func (x *exchange) responseBody() []byte {
	if x.response == nil {
		return nil
	}
	return decoded(x.response.data(), x.encoding, x.recorder.limits.body)
}

// watched records the events of a watch as they pass. Encodings other than JSON and protobuf pass unparsed.
func (x *exchange) watched(body io.ReadCloser) io.ReadCloser {
	limit := x.recorder.limits.body
	switch mediaType(x.answered) {
	case runtime.ContentTypeJSON:
		return &watchBody{body, &splitter{limit: limit, emit: func(frame []byte, complete bool) {
			x.event(parseEvent(frame, complete))
		}}}
	case runtime.ContentTypeProtobuf:
		return &watchBody{body, &lengthSplitter{limit: limit, emit: func(frame []byte, complete bool) {
			x.event(parseProtobufEvent(frame, complete, limit))
		}}}
	default:
		return body
	}
}

func (x *exchange) event(event Event, ok bool) {
	if !ok {
		return
	}
	event.Time = time.Now()
	x.recorder.update(x.entry, func(r *Record) {
		r.Duration = event.Time.Sub(r.Time)
		r.EventCount++
		r.Events = append(r.Events, event)
		if event.Type == string(watch.Error) {
			if status := outcome(0, runtime.ContentTypeJSON, event.Object); status.Code != 0 {
				r.Status = status
			}
		}
	})
}

// A watchBody shows a splitter what is read of it.
type watchBody struct {
	io.ReadCloser
	splitter interface{ write([]byte) }
}

func (b *watchBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.splitter.write(p[:n])
	return n, err
}
