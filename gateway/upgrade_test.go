package gateway

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// dialUpgrade speaks HTTP/1.1 by hand, as SPDY clients do, and returns the connection after a 101.
func (b *bench) dialUpgrade(t *testing.T) (*tls.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := tls.Dial("tcp", b.Addr(), b.trust(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r := b.request(t, "POST", "/api/v1/namespaces/lab/pods/web/exec?command=sh", nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "SPDY/3.1")
	if err := r.Write(conn); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, r)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols || response.Header.Get("Upgrade") != "SPDY/3.1" {
		t.Fatalf("response %+v, %v", response, err)
	}
	return conn, reader
}

// echoUpgrade switches protocols, says each byte back and closes left when the client is gone.
func echoUpgrade(t *testing.T, left chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 {
			t.Errorf("an upgrade came by %s", r.Proto)
		}
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", r.Header.Get("Upgrade"))
		w.WriteHeader(http.StatusSwitchingProtocols)
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer close(left)
		defer conn.Close()
		_, _ = io.Copy(conn, buffered)
	}
}

func TestSPDYUpgradePasses(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	b := newBench(t, echoUpgrade(t, left))
	conn, reader := b.dialUpgrade(t)
	for _, want := range []string{"stdin\n", "\x00\xff\x80\n"} {
		if _, err := io.WriteString(conn, want); err != nil {
			t.Fatal(err)
		}
		if got, err := reader.ReadString('\n'); err != nil || got != want {
			t.Fatalf("echo %q, %v", got, err)
		}
	}
	if r := b.Recorder(learner).Records(); len(r) != 1 || r[0].Done || r[0].Status.Code != http.StatusSwitchingProtocols || r[0].Subresource != "exec" {
		t.Errorf("while it is open: %+v", r)
	}
	_ = conn.Close()
	<-left
	b.records(t, 1)
}

func TestStopCutsUpgrades(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	b := newBench(t, echoUpgrade(t, left))
	_, reader := b.dialUpgrade(t)
	if err := b.stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := reader.ReadByte(); err == nil {
		t.Error("the connection goes on")
	}
	select {
	case <-left:
	case <-time.After(10 * time.Second):
		t.Error("the API server's end goes on")
	}
}

// A client that asked for one protocol must not be switched to another.
func TestUpgradeToAnotherProtocolFails(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "something-else")
		w.WriteHeader(http.StatusSwitchingProtocols)
	})
	b.client.Transport = &http.Transport{TLSClientConfig: b.trust("")} // HTTP/1.1, as upgrades need
	r := b.request(t, "POST", "/api/v1/namespaces/lab/pods/web/exec", nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "SPDY/3.1")
	if response, _ := b.do(t, r); response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the client got %s", response.Status)
	}
	if got := b.records(t, 1)[0].Status.Code; got != http.StatusServiceUnavailable {
		t.Errorf("recorded %d", got)
	}
}

// An exec is a GET where it goes over a websocket, and yet must not be repeated like one.
func TestBrokenUpgradeIsNotRepeated(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	b := newBench(t, func(http.ResponseWriter, *http.Request) {
		requests.Add(1)
		panic(http.ErrAbortHandler)
	})
	b.client.Transport = &http.Transport{TLSClientConfig: b.trust("")}
	r := b.request(t, "GET", "/api/v1/namespaces/lab/pods/web/exec?command=rm", nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	if response, _ := b.do(t, r); response.StatusCode != http.StatusServiceUnavailable || requests.Load() != 1 {
		t.Errorf("the client got %s after %d requests", response.Status, requests.Load())
	}
}

func TestWebsocketUpgradePasses(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"v5.channel.k8s.io"}})
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		for {
			kind, data, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			if err := conn.Write(r.Context(), kind, data); err != nil {
				return
			}
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r := b.request(t, "GET", "/api/v1/namespaces/lab/pods/web/exec", nil)
	conn, _, err := websocket.Dial(ctx, r.URL.String(), &websocket.DialOptions{
		HTTPClient:   &http.Client{Transport: &http.Transport{TLSClientConfig: b.trust("")}},
		HTTPHeader:   r.Header,
		Subprotocols: []string{"v5.channel.k8s.io"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if conn.Subprotocol() != "v5.channel.k8s.io" {
		t.Errorf("subprotocol %q", conn.Subprotocol())
	}
	if err := conn.Write(ctx, websocket.MessageBinary, []byte("\x00hello")); err != nil {
		t.Fatal(err)
	}
	if _, data, err := conn.Read(ctx); err != nil || string(data) != "\x00hello" {
		t.Fatalf("echo %q, %v", data, err)
	}
}
