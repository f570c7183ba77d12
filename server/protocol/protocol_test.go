package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestFrameLayout(t *testing.T) {
	t.Parallel()
	frame := Frame{Kind: Input, Terminal: 0x01020304, Offset: 0x05060708090a0b0c, Payload: []byte("hi")}
	want := []byte{2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 'h', 'i'}
	if got := frame.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("Append: % x, want % x", got, want)
	}
	got, err := ParseFrame(want)
	if err != nil || got.Kind != frame.Kind || got.Terminal != frame.Terminal || got.Offset != frame.Offset || string(got.Payload) != "hi" {
		t.Errorf("ParseFrame: %+v, %v", got, err)
	}
}

func TestParseFrameRefuses(t *testing.T) {
	t.Parallel()
	for name, message := range map[string][]byte{
		"nothing":         {},
		"short":           make([]byte, HeaderSize-1),
		"unknown kind":    Frame{Kind: 9}.Append(nil),
		"kind zero":       Frame{}.Append(nil),
		"ack with bytes":  Frame{Kind: Ack, Payload: []byte("x")}.Append(nil),
		"flow with bytes": Frame{Kind: Flow, Payload: []byte("x")}.Append(nil),
		"offset overflow": Frame{Kind: Input, Offset: math.MaxUint64, Payload: []byte("x")}.Append(nil),
	} {
		if frame, err := ParseFrame(message); err == nil {
			t.Errorf("%s: parsed as %+v", name, frame)
		}
	}
}

func FuzzParseFrame(f *testing.F) {
	f.Add([]byte{})
	f.Add(Frame{Kind: Input, Terminal: 1, Offset: 12, Payload: []byte("ls\r")}.Append(nil))
	f.Add(Frame{Kind: Flow, Terminal: math.MaxUint32, Offset: math.MaxUint64}.Append(nil))
	f.Fuzz(func(t *testing.T, message []byte) {
		frame, err := ParseFrame(message)
		if err != nil {
			return
		}
		if again := frame.Append(nil); !bytes.Equal(again, message) {
			t.Fatalf("% x became % x", message, again)
		}
		if end := frame.Offset + uint64(len(frame.Payload)); end < frame.Offset {
			t.Fatalf("the frame ends before it begins: %+v", frame)
		}
	})
}

func TestParseRequest(t *testing.T) {
	t.Parallel()
	request, err := ParseRequest([]byte(`{"type":"term.attach","id":7,"terminal":3,"writer":"w","from":9007199254740991,"new":true}`))
	if err != nil || request.Type != "term.attach" || request.ID == nil || *request.ID != 7 {
		t.Fatalf("ParseRequest: %+v, %v", request, err)
	}
	var args TerminalAttach
	if err := request.Decode(&args); err != nil || args != (TerminalAttach{Terminal: 3, Writer: "w", From: 1<<53 - 1}) {
		t.Errorf("Decode: %+v, %v", args, err)
	}
	if request, err := ParseRequest([]byte(`{"type":"cluster.start"}`)); err != nil || request.ID != nil {
		t.Errorf("a request without id: %+v, %v", request, err)
	}
	for _, bad := range []string{``, `[]`, `null`, `"x"`, `{}`, `{"type":1}`, `{"type":"x","id":"1"}`, `{"type":"x","id":-1}`, `{"type":"x"}{}`} {
		if request, err := ParseRequest([]byte(bad)); err == nil {
			t.Errorf("%q: parsed as %+v", bad, request)
		}
	}
	request, _ = ParseRequest([]byte(`{"type":"term.open","cols":"wide"}`))
	if err := request.Decode(&TerminalOpen{}); err == nil || !strings.Contains(err.Error(), "term.open") {
		t.Errorf("fields of a wrong type: %v", err)
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(`{"type":"exercise.answer","id":1,"exercise":"t/a","check":"c","value":"42"}`))
	f.Add([]byte(`{"type":"file.write","path":"../x","text":"\u0000","version":"1"}`))
	f.Add([]byte(`{"type":"term.open","cols":-1,"rows":1e9}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		request, err := ParseRequest(message)
		if err != nil {
			return
		}
		for _, args := range []any{&Exercise{}, &Answer{}, &Hint{}, &TerminalOpen{}, &TerminalAttach{}, &TerminalResize{},
			&TerminalClose{}, &File{}, &FileWrite{}, &EditorDone{}, &None{}} {
			var syntax *json.SyntaxError
			if err := request.Decode(args); errors.As(err, &syntax) {
				t.Fatalf("a request that was parsed has a syntax error: %v", err)
			}
		}
	})
}

func TestEncode(t *testing.T) {
	t.Parallel()
	for want, message := range map[string]Message{
		`{"type":"rv","resourceVersion":"12"}`:                               RV{ResourceVersion: "12"},
		`{"type":"reply","id":3,"ok":true,"value":{"terminal":1}}`:           Reply{ID: 3, OK: true, Value: Opened{Terminal: 1}},
		`{"type":"reply","id":3,"ok":false,"error":"no"}`:                    Reply{ID: 3, Error: "no"},
		`{"type":"notice","level":"warning","text":"\u003cb\u003e"}`:         Notice{Level: Warning, Text: "<b>"},
		`{"type":"content","reload":true}`:                                   ContentChanged{Reload: true},
		`{"type":"terminals","terminals":[]}`:                                Terminals{Terminals: []Terminal{}},
		`{"type":"editor.gone","token":"t"}`:                                 EditorGone{Token: "t"},
		`{"type":"editor","token":"t","name":"a","text":"b","language":"c"}`: Editor{Token: "t", Name: "a", Text: "b", Language: "c"},
		`{"type":"bye","reason":"stopping"}`:                                 Bye{Reason: "stopping"},
	} {
		if got, err := Encode(message); err != nil || string(got) != want {
			t.Errorf("Encode: %s, %v; want %s", got, err, want)
		}
	}
	for _, message := range []Message{Hello{}, Cluster{}, ExerciseChanged{}, Requested{}} {
		data, err := Encode(message)
		var head struct{ Type string }
		if err != nil || json.Unmarshal(data, &head) != nil || head.Type != message.kind() {
			t.Errorf("Encode(%T): %s, %v", message, data, err)
		}
	}
}
