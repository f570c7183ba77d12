package browser

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/apilab/apilab/server/protocol"
)

// aServer signs in by a form, and has one websocket.
func aServer(t *testing.T, serve func(context.Context, *websocket.Conn)) *Browser {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /join", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "who", Value: r.FormValue("name"), Path: "/"})
		http.Redirect(w, r, "/home", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /home", func(w http.ResponseWriter, r *http.Request) {
		who, err := r.Cookie("who")
		if err != nil {
			http.Error(w, "nobody", http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, "Hello "+who.Value)
	})
	mux.HandleFunc("/ws", func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{protocol.Subprotocol}})
		if err == nil {
			serve(r.Context(), conn)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b, err := New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func TestBrowserKeepsCookies(t *testing.T) {
	t.Parallel()
	b := aServer(t, nil)
	if _, err := b.Get(t.Context(), "/home"); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("without a cookie: %v", err)
	}
	answer, err := b.Post(t.Context(), "/join", url.Values{"name": {"Ada"}})
	if err != nil || string(answer.Body) != "Hello Ada" || answer.URL.Path != "/home" {
		t.Errorf("%s at %s, %v", answer.Body, answer.URL, err)
	}
}

type ears struct {
	State
	heard  []string
	framed []protocol.Frame
	ended  error
}

func (e *ears) Heard(m Message, _ time.Time) error {
	e.Change(func() { e.heard = append(e.heard, m.Type) })
	return nil
}

func (e *ears) Framed(f protocol.Frame, _ time.Time) error {
	e.Change(func() { e.framed = append(e.framed, f) })
	return nil
}

func (e *ears) Ended(err error) { e.Change(func() { e.ended = err }) }

func TestPage(t *testing.T) {
	t.Parallel()
	b := aServer(t, func(ctx context.Context, conn *websocket.Conn) {
		_ = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"hello"}`))
		_ = conn.Write(ctx, websocket.MessageBinary, protocol.Frame{Kind: protocol.Output, Payload: []byte("x")}.Append(nil))
		for _, reply := range []string{`{"type":"reply","id":1,"ok":true,"value":7}`, `{"type":"reply","id":2,"ok":false,"error":"no"}`} {
			_, _, _ = conn.Read(ctx)
			_ = conn.Write(ctx, websocket.MessageText, []byte(reply))
		}
		_, _, _ = conn.Read(ctx)
		_ = conn.CloseNow() // before it answers
	})
	e := &ears{}
	p, err := b.Connect(t.Context(), "/ws", e)
	if err != nil {
		t.Fatal(err)
	}
	var seven int
	if err := p.Ask(t.Context(), "first", nil, &seven); err != nil || seven != 7 {
		t.Errorf("%d, %v", seven, err)
	}
	if err := p.Ask(t.Context(), "second", nil, nil); err == nil || err.Error() != "second: no" {
		t.Errorf("a refusal: %v", err)
	}
	for range 2 { // the second is asked when it is gone
		if err := p.Ask(t.Context(), "third", nil, nil); !errors.Is(err, ErrClosed) {
			t.Errorf("without an answer: %v", err)
		}
	}
	if err := e.Until(t.Context(), func() (bool, error) { return e.ended != nil, nil }); err != nil {
		t.Fatal(err)
	}
	if len(e.heard) != 1 || e.heard[0] != "hello" || len(e.framed) != 1 {
		t.Errorf("heard %v, %d frames", e.heard, len(e.framed))
	}
}
