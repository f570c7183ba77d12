package gateway

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func split(limit int, chunks ...string) (objects []string) {
	s := splitter{limit: limit, emit: func(object []byte, complete bool) {
		if !complete {
			object = append(object, "…"...)
		}
		objects = append(objects, string(object))
	}}
	for _, chunk := range chunks {
		s.write([]byte(chunk))
	}
	return objects
}

func TestSplitter(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		chunks []string
		want   []string
	}{
		"one per line":         {[]string{"{\"a\":1}\n{\"b\":2}\n"}, []string{`{"a":1}`, `{"b":2}`}},
		"cut anywhere":         {[]string{`{"a`, `":"`, `\`, `"}`, `"}{`, `}`}, []string{`{"a":"\"}"}`, `{}`}},
		"braces in strings":    {[]string{`{"a":"}{\\"}`}, []string{`{"a":"}{\\"}`}},
		"pretty":               {[]string{"{\n  \"a\": [\n {} ]\n}\n"}, []string{"{\n  \"a\": [\n {} ]\n}"}},
		"not yet ended":        {[]string{`{"a":1`}, nil},
		"no objects":           {[]string{"null 17 \"x\"\n"}, nil},
		"over the limit":       {[]string{`{"a":"`, strings.Repeat("x", 50), `"}{}`}, []string{`{"a":"` + strings.Repeat("x", 34) + "…", `{}`}},
		"exactly at the bound": {[]string{`{"a":"` + strings.Repeat("x", 32) + `"}`}, []string{`{"a":"` + strings.Repeat("x", 32) + `"}`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := split(40, tt.chunks...); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzSplitter holds the splitter against encoding/json: of a stream of valid objects it finds the same ones, wherever the
// stream is cut.
func FuzzSplitter(f *testing.F) {
	f.Add([]byte(`{"type":"ADDED","object":{"a":"}\\\""}}`+"\n"+`{"b":[{}]}`), 7)
	f.Add([]byte(`{}{}`), 1)
	f.Add([]byte(`}{"`), 2)
	f.Fuzz(func(t *testing.T, stream []byte, cut int) {
		cut = min(max(cut, 0), len(stream))
		got := split(len(stream), string(stream[:cut]), string(stream[cut:]))
		var want []string
		for d := json.NewDecoder(bytes.NewReader(stream)); ; {
			var object json.RawMessage
			if err := d.Decode(&object); err != nil || object[0] != '{' {
				break
			}
			want = append(want, string(object))
		}
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestParseEvent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		frame    string
		complete bool
		want     Event
		ok       bool
	}{
		"complete":                  {`{"type":"ADDED","object":{"a":1}}`, true, Event{Type: "ADDED", Object: []byte(`{"a":1}`)}, true},
		"too large":                 {`{"type":"ADDED","object":{"a":"xxx`, false, Event{Type: "ADDED"}, true},
		"too large, type not first": {`{"object":{"a":"xxx`, false, Event{}, false},
		"invalid":                   {`{"type":}`, true, Event{}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := parseEvent([]byte(tt.frame), tt.complete)
			if ok != tt.ok || got.Type != tt.want.Type || string(got.Object) != string(tt.want.Object) {
				t.Errorf("got %+v, %v", got, ok)
			}
		})
	}
}
