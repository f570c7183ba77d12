package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/apilab/apilab/checker"
	"github.com/apilab/apilab/cluster"
	"github.com/apilab/apilab/server/protocol"
)

func TestHelloComesFirst(t *testing.T) {
	t.Parallel()
	s := start(t)
	tab := s.learner(t).open(t)
	tab.wait("hello", nil)
	var hello protocol.Hello
	tab.messages[0].decode(t, &hello)
	if tab.messages[0].Type != "hello" || hello.Version != "v0.0.0-test" || hello.Learner != "You" || hello.Shell != "sandboxed" ||
		hello.Cluster.ID != "local" || hello.Terminals == nil || hello.Exercises == nil {
		t.Errorf("hello %s", tab.messages[0].raw)
	}
	tab.get("ping", nil, nil)
}

func TestClusterIsStartedAndItsPhasesAreTold(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	s := start(t, func(o *Options) { o.provider().hold = hold })
	tab := s.learner(t).open(t)
	is := func(state cluster.State) func(message) bool {
		return func(m message) bool {
			var c protocol.Cluster
			return json.Unmarshal(m.raw, &c) == nil && c.Status.State == state
		}
	}
	tab.until("the phases", func() bool { // in hello, or after it
		for _, m := range tab.messages {
			if bytes.Contains(m.raw, []byte("API server answers")) {
				return true
			}
		}
		return false
	})
	close(hold)
	tab.wait("cluster", is(cluster.Ready))
	var usage cluster.Usage
	tab.get("cluster.usage", nil, &usage)
	if usage.PrivateBytes == 0 {
		t.Error("no usage")
	}
	tab.get("cluster.reset", nil, nil)
	tab.until("a second cluster", func() bool { made, deleted := s.o.provider().count(); return made == 2 && deleted == 1 })
}

func TestForeignOriginIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	for _, origin := range []string{"https://evil.example", "http://127.0.0.1:1", "http://localhost.evil.example", "null", ""} {
		o := v.dialOptions()
		o.HTTPHeader.Set("Origin", origin)
		conn, response, err := websocket.Dial(t.Context(), "ws://"+s.Addr()+"/ws", o)
		if err == nil {
			conn.CloseNow()
			t.Errorf("%q: accepted", origin)
			continue
		}
		body := make([]byte, 1024)
		n, _ := response.Body.Read(body)
		if text := string(body[:n]); response.StatusCode != http.StatusForbidden || !strings.Contains(text, "for the pages of http://"+s.Addr()) {
			t.Errorf("%q: %d %s", origin, response.StatusCode, text)
		}
	}
}

func TestOtherProtocolsAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	o := s.learner(t).dialOptions()
	o.Subprotocols = []string{"apilab.v0"}
	conn, _, err := websocket.Dial(t.Context(), "ws://"+s.Addr()+"/ws", o)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusProtocolError || !strings.Contains(err.Error(), "apilab.v1") {
		t.Errorf("read: %v", err)
	}
}

func TestBadMessagesCloseWithAReason(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	for name, test := range map[string]struct {
		kind websocket.MessageType
		data []byte
		code websocket.StatusCode
		says string
	}{
		"oversize text":   {websocket.MessageText, bytes.Repeat([]byte("x"), protocol.MaxMessage+1), websocket.StatusMessageTooBig, "1048576"},
		"oversize binary": {websocket.MessageBinary, make([]byte, protocol.MaxMessage+1), websocket.StatusMessageTooBig, "1048576"},
		"no JSON":         {websocket.MessageText, []byte("hello"), websocket.StatusInvalidFramePayloadData, "protocol"},
		"short frame":     {websocket.MessageBinary, []byte{2}, websocket.StatusInvalidFramePayloadData, "header"},
	} {
		tab := v.open(t)
		tab.wait("hello", nil)
		if err := tab.conn.Write(tab.ctx, test.kind, test.data); err != nil && len(test.data) < 1<<16 {
			t.Fatalf("%s: %v", name, err)
		}
		var closed error
		tab.until(name+": the end", func() bool { closed = tab.closed; return closed != nil })
		var c websocket.CloseError
		if !errors.As(closed, &c) || c.Code != test.code || !strings.Contains(c.Reason, test.says) {
			t.Errorf("%s: closed by %v, want %d and a reason with %q", name, closed, test.code, test.says)
		}
	}
}

func TestUnknownAndWrongRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	s := start(t)
	opened := tapes(s.Server)
	tab := s.learner(t).open(t)
	id := tab.openTerminal()
	<-opened
	for kind, fields := range map[string]map[string]any{
		"no.such.type":      nil,
		"exercise.open":     {"exercise": "basics/nothing"},
		"exercise.hint":     {"exercise": "basics/say", "check": "said"}, // not open
		"exercise.answer":   {"exercise": 3},
		"term.attach":       {"terminal": 1, "writer": "w"},
		"term.resize":       {"terminal": id, "cols": 0, "rows": 10},
		"term.open":         {"cols": 1 << 20, "rows": 2},
		"editor.done":       {"token": "x"},
		"exercise.solution": {"exercise": ""},
	} {
		if r := tab.ask(kind, fields); r.OK || r.Error == "" {
			t.Errorf("%s: %+v", kind, r)
		}
	}
	if r := tab.ask("term.attach", map[string]any{"terminal": id, "writer": strings.Repeat("w", 65)}); r.OK {
		t.Error("a writer of 65 bytes was taken")
	}
}

func TestPanickingRequestIsAnswered(t *testing.T) {
	s := start(t) // not parallel: it adds to the table
	requests["test.panic"] = quick(func(context.Context, *page, protocol.None) (any, error) { panic("a mistake") })
	defer delete(requests, "test.panic")
	tab := s.learner(t).open(t)
	if r := tab.ask("test.panic", nil); r.OK || strings.Contains(r.Error, "a mistake") {
		t.Errorf("reply %+v", r)
	}
	tab.get("ping", nil, nil)
	if !strings.Contains(s.log.String(), "a mistake") {
		t.Error("the log does not tell it")
	}
}

func TestTerminalInputAndOutput(t *testing.T) {
	t.Parallel()
	s := start(t)
	opened := tapes(s.Server)
	v := s.learner(t)
	tab := v.open(t)
	id := tab.openTerminal()
	tape := <-opened
	tab.wait("terminals", func(m message) bool {
		var l protocol.Terminals
		return json.Unmarshal(m.raw, &l) == nil && len(l.Terminals) == 1 && l.Terminals[0].ID == id && l.Terminals[0].Title == "sh"
	})
	tape.put([]byte("$ "))
	tab.sendFrame(protocol.Frame{Kind: protocol.Input, Terminal: id, Payload: []byte("ls\r")})
	tab.sendFrame(protocol.Frame{Kind: protocol.Input, Terminal: id, Payload: []byte("ls\r")}) // sent again
	tab.sendFrame(protocol.Frame{Kind: protocol.Input, Terminal: id, Offset: 3, Payload: []byte("pwd\r")})
	tab.until("the acknowledgement", func() bool {
		for _, f := range tab.frames {
			if f.Kind == protocol.Ack && f.Terminal == id && f.Offset == 7 {
				return true
			}
		}
		return false
	})
	if got := tape.input(); got != "ls\rpwd\r" {
		t.Errorf("typed %q", got)
	}
	tab.until("the prompt", func() bool { out, err := tab.output(id, 0); return err == nil && string(out) == "$ " })

	tab.get("term.resize", map[string]any{"terminal": id, "cols": 100, "rows": 30}, nil)
	if tape.size.Cols != 100 || tape.size.Rows != 30 {
		t.Errorf("size %+v", tape.size)
	}
	if a, want := v.open(t).attach(id, "other", 0).Sizes, []protocol.TerminalSize{{Cols: 80, Rows: 24}, {At: 2, Cols: 100, Rows: 30}}; !slices.Equal(a, want) {
		t.Errorf("a page that comes later is told of sizes %+v, want %+v", a, want)
	}
	tape.Close()
	tab.wait("terminals", func(m message) bool { return bytes.Contains(m.raw, []byte(`"exited":true`)) })
	tab.get("term.close", map[string]any{"terminal": id}, nil)
	tab.wait("terminals", func(m message) bool { return bytes.Contains(m.raw, []byte(`"terminals":[]`)) })
}

// A page loses its connection again and again while a program puts out 8 MiB and the page types: no byte may be lost,
// doubled or out of order, in either direction.
func TestResumeLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	opened := tapes(s.Server)
	v := s.learner(t)
	first := v.open(t)
	id := first.openTerminal()
	tape := <-opened
	first.leave()

	random := rand.New(rand.NewPCG(1, 2))
	want := make([]byte, 8<<20)
	for i := range want {
		want[i] = byte(random.Uint32())
	}
	typed := []byte(strings.Repeat("kubectl get pods -w\r", 200))

	// The program: no faster than the page draws, or else its oldest output is lost by design.
	drawn := make(chan int, 1<<16)
	go func() {
		ahead := 0
		for i := 0; i < len(want); i += 10_000 {
			for ahead > tapeSize/2 {
				ahead -= <-drawn
			}
			n := min(10_000, len(want)-i)
			tape.put(want[i : i+n])
			ahead += n
		}
	}()

	var (
		got   []byte
		acked uint64
	)
	for round := 0; len(got) < len(want) || acked < uint64(len(typed)); round++ {
		tab := v.dial(t)
		deadline := time.Now().Add(time.Duration(random.IntN(30)+5) * time.Millisecond)
		if round > 200 {
			deadline = time.Now().Add(patience) // enough of that
		}
		func() {
			defer tab.leave()
			ctx, cancel := context.WithDeadline(tab.ctx, deadline)
			defer cancel()
			request, _ := json.Marshal(map[string]any{"type": "term.attach", "id": 1, "terminal": id, "writer": "w", "from": len(got)})
			if tab.conn.Write(ctx, websocket.MessageText, request) != nil {
				return
			}
			attached := false
			for len(got) < len(want) || acked < uint64(len(typed)) {
				kind, data, err := tab.conn.Read(ctx)
				if err != nil {
					return // cut in the middle
				}
				if kind == websocket.MessageText {
					var r reply
					if json.Unmarshal(data, &r) == nil && r.ID == 1 {
						var a protocol.Attached
						if err := json.Unmarshal(r.Value, &a); err != nil || a.From != uint64(len(got)) || a.Gap != 0 || a.Acked < acked {
							t.Errorf("attached %s, %v, at %d", data, err, len(got))
						}
						attached, acked = true, a.Acked
						for at := acked; at < uint64(len(typed)); at += 50 { // all that is not known to be taken, again
							f := protocol.Frame{Kind: protocol.Input, Terminal: id, Offset: at, Payload: typed[at:min(at+50, uint64(len(typed)))]}
							if tab.conn.Write(ctx, websocket.MessageBinary, f.Append(nil)) != nil {
								return
							}
						}
					}
					continue
				}
				f, err := protocol.ParseFrame(data)
				if err != nil || !attached {
					t.Errorf("a frame before the reply, or a bad one: %v", err)
					return
				}
				if f.Kind == protocol.Ack {
					acked = max(acked, f.Offset)
					continue
				}
				if f.Offset != uint64(len(got)) {
					t.Errorf("output at %d, want %d", f.Offset, len(got))
					return
				}
				got = append(got, f.Payload...)
				drawn <- len(f.Payload)
				flow := protocol.Frame{Kind: protocol.Flow, Terminal: id, Offset: uint64(len(got))}
				if tab.conn.Write(ctx, websocket.MessageBinary, flow.Append(nil)) != nil {
					return
				}
			}
		}()
		if t.Failed() {
			return
		}
	}
	if !bytes.Equal(got, want) {
		t.Error("the output is not what was put out")
	}
	if tape.input() != string(typed) {
		t.Errorf("typed %d bytes, want %d", len(tape.input()), len(typed))
	}
}

func TestOutputThatIsNoLongerKeptIsAGap(t *testing.T) {
	t.Parallel()
	s := start(t)
	opened := tapes(s.Server)
	v := s.learner(t)
	tab := v.open(t)
	id := tab.openTerminal()
	tape := <-opened
	tape.put(make([]byte, 1000))
	tab.until("the first output", func() bool { out, err := tab.output(id, 0); return err == nil && len(out) == 1000 })
	tab.leave()
	for range 3 {
		tape.put(make([]byte, tapeSize))
	}
	const oldest = 2*tapeSize + 1000
	tab = v.open(t)
	if a := tab.attach(id, "w", 100); a.From != oldest || a.Gap != oldest-100 || a.End < a.From {
		t.Errorf("attached %+v", a)
	}
	tab.until("the output", func() bool { out, err := tab.output(id, oldest); return err == nil && len(out) == window })
	if a := tab.attach(id, "w", 1<<40); a.From != oldest+window || a.Gap != 0 || a.End != a.From {
		t.Errorf("attached beyond the end: %+v", a)
	}
}

// A page that draws nothing is sent no more than the window, and holds up neither the program nor other pages.
func TestSlowPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	opened := tapes(s.Server)
	v := s.learner(t)
	slow := v.open(t)
	id := slow.openTerminal()
	tape := <-opened
	quickly := v.open(t)
	quickly.attach(id, "q", 0)

	total := 0
	for range 16 {
		tape.put(make([]byte, 64<<10))
		total += 64 << 10
		quickly.until("the output", func() bool { out, err := quickly.output(id, 0); return err == nil && len(out) >= min(total, total) })
		quickly.sendFrame(protocol.Frame{Kind: protocol.Flow, Terminal: id, Offset: uint64(total)})
	}
	slow.get("ping", nil, nil) // other messages pass
	size := func() int {
		slow.mu.Lock()
		defer slow.mu.Unlock()
		out, err := slow.output(id, 0)
		if err != nil {
			t.Error(err)
		}
		return len(out)
	}
	slow.until("the window", func() bool { out, _ := slow.output(id, 0); return len(out) == window })
	slow.get("ping", nil, nil)
	if n := size(); n != window {
		t.Errorf("the slow page was sent %d bytes", n)
	}
	slow.sendFrame(protocol.Frame{Kind: protocol.Flow, Terminal: id, Offset: 1000})
	slow.until("1000 bytes more", func() bool { out, _ := slow.output(id, 0); return len(out) == window+1000 })
}

// A page that reads nothing at all is sent to until its socket is full; the hub and other pages do not notice.
func TestDeafPageHoldsUpNobody(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	v.dial(t) // never reads
	tab := v.open(t)
	h, err := s.hub(s.local)
	if err != nil {
		t.Fatal(err)
	}
	for range 20_000 {
		h.Notify(protocol.Info, "x"+strings.Repeat("y", 1000))
	}
	tab.get("ping", nil, nil)
}

func TestThousandMessagesASecondAreSlowedAndAnswered(t *testing.T) {
	t.Parallel()
	s := start(t)
	tab := s.learner(t).open(t)
	const n = messageBurst + messageRate
	begin := time.Now()
	for i := range n {
		tab.send(map[string]any{"type": "ping", "id": 1000 + i})
	}
	tab.until("all replies", func() bool {
		count := 0
		for _, m := range tab.messages {
			if m.Type == "reply" {
				count++
			}
		}
		return count == n
	})
	if took := time.Since(begin); took < 900*time.Millisecond {
		t.Errorf("%d messages were taken in %v", n, took)
	}
	tab.wait("notice", func(m message) bool { return bytes.Contains(m.raw, []byte("more slowly")) })
}

func TestProgramThatTakesNoInputEndsThePage(t *testing.T) {
	t.Parallel()
	s := start(t)
	opened := tapes(s.Server)
	v := s.learner(t)
	tab := v.open(t)
	id := tab.openTerminal()
	tape := <-opened
	tape.change(func() { tape.blocked = true })
	chunk := make([]byte, 256<<10)
	for i := range 6 {
		if tab.conn.Write(tab.ctx, websocket.MessageBinary, protocol.Frame{Kind: protocol.Input, Terminal: id, Offset: uint64(i * len(chunk)), Payload: chunk}.Append(nil)) != nil {
			break
		}
	}
	tab.until("the end", func() bool { return tab.closed != nil })
	if websocket.CloseStatus(tab.closed) != websocket.StatusTryAgainLater {
		t.Errorf("closed by %v", tab.closed)
	}
	tape.change(func() { tape.blocked = false })
	again := v.open(t)
	if a := again.attach(id, "w", 0); a.Acked > uint64(6*len(chunk)) {
		t.Errorf("attached %+v", a)
	}
}

func TestTooManyTerminals(t *testing.T) {
	t.Parallel()
	s := start(t)
	opened := tapes(s.Server)
	tab := s.learner(t).open(t)
	var ids []uint32
	for range 8 {
		ids = append(ids, tab.openTerminal())
		<-opened
	}
	if r := tab.ask("term.open", map[string]any{"cols": 80, "rows": 24}); r.OK || !strings.Contains(r.Error, "close one") {
		t.Errorf("a ninth terminal: %+v", r)
	}
	tab.get("term.close", map[string]any{"terminal": ids[0]}, nil)
	tab.openTerminal()
}

func TestEditorOnThePage(t *testing.T) {
	t.Parallel()
	s := start(t)
	opened := tapes(s.Server)
	v := s.learner(t)
	tab := v.open(t)
	tab.openTerminal()
	tape := <-opened

	type result struct {
		saved bool
		text  string
		err   error
	}
	edit := func(ctx context.Context) <-chan result {
		done := make(chan result, 1)
		go func() {
			saved, text, err := tape.edit(ctx, editOf("cm.yaml", "a: 1\n"))
			done <- result{saved, text, err}
		}()
		return done
	}
	done := edit(t.Context())
	var asked protocol.Editor
	tab.wait("editor", nil).decode(t, &asked)
	if asked.Name != "cm.yaml" || asked.Text != "a: 1\n" || asked.Token == "" {
		t.Errorf("asked %+v", asked)
	}
	late := v.open(t) // a reload in the middle
	var again protocol.Editor
	late.wait("editor", nil).decode(t, &again)
	if again != asked {
		t.Errorf("the page that came later is asked %+v", again)
	}
	late.get("editor.done", map[string]any{"token": asked.Token, "save": true, "text": "a: 2\n"}, nil)
	if r := <-done; !r.saved || r.text != "a: 2\n" || r.err != nil {
		t.Errorf("edited %+v", r)
	}
	gone := func(token string) func(message) bool {
		return func(m message) bool { return bytes.Contains(m.raw, []byte(token)) }
	}
	tab.wait("editor.gone", gone(asked.Token))
	if r := tab.ask("editor.done", map[string]any{"token": asked.Token, "save": true, "text": "a: 3\n"}); r.OK {
		t.Error("an editor was answered twice")
	}

	ctx, cancel := context.WithCancel(t.Context())
	done = edit(ctx)
	var second protocol.Editor
	tab.wait("editor", func(m message) bool { return !bytes.Contains(m.raw, []byte(asked.Token)) }).decode(t, &second)
	cancel()
	if r := <-done; r.saved || !errors.Is(r.err, context.Canceled) {
		t.Errorf("the program ended: %+v", r)
	}
	tab.wait("editor.gone", gone(second.Token))
}

func TestPagesAreToldThatTheServerStops(t *testing.T) {
	t.Parallel()
	s := start(t)
	tab := s.learner(t).open(t)
	tab.wait("hello", nil)
	s.stop()
	tab.wait("bye", nil)
	tab.until("the end", func() bool { return tab.closed != nil })
	if websocket.CloseStatus(tab.closed) != websocket.StatusGoingAway {
		t.Errorf("closed by %v", tab.closed)
	}
}

func TestTooManyPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	v := s.learner(t)
	var last *tab
	for range maxPages {
		last = v.open(t)
	}
	last.wait("hello", nil)
	_, response, err := websocket.Dial(t.Context(), "ws://"+s.Addr()+"/ws", v.dialOptions())
	if err == nil || response.StatusCode != http.StatusTooManyRequests {
		t.Errorf("page %d: %v", maxPages+1, err)
	}
}

func TestExerciseOpensWhenTheClusterIsReady(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	s := start(t, func(o *Options) { o.provider().hold = hold })
	tab := s.learner(t).open(t)
	var state checker.ExerciseState
	tab.get("exercise.open", map[string]any{"exercise": "basics/say"}, &state)
	if state.ID != "basics/say" || state.Phase != checker.Preparing || len(state.Checks) != 1 || state.Checks[0].State != checker.Waiting {
		t.Errorf("before the cluster is ready: %+v", state)
	}
	close(hold)
	is := func(m message) bool {
		var c protocol.ExerciseChanged
		return json.Unmarshal(m.raw, &c) == nil && c.State.ID == "basics/say" && c.State.Phase == checker.Open
	}
	tab.wait("exercise", is)
}
