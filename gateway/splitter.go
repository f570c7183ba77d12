package gateway

import (
	"bytes"
	"encoding/json"
)

// A splitter cuts a stream of JSON objects, as a watch sends it, into its objects, wherever the chunks that arrive may end.
// What is no object, between them, is skipped.
type splitter struct {
	limit int                                // bytes of one object
	emit  func(object []byte, complete bool) // of an object over the limit, only its beginning; a copy of its own

	object   []byte
	size     int
	depth    int
	inString bool
	escaped  bool
}

// write takes the next chunk and emits each object that ends in it.
func (s *splitter) write(p []byte) {
	start := 0 // of the current object's part in p
	for i, b := range p {
		switch {
		case s.depth == 0:
			if b == '{' {
				s.depth, start = 1, i
			}
		case s.escaped:
			s.escaped = false
		case s.inString:
			s.escaped = b == '\\'
			s.inString = b != '"'
		case b == '"':
			s.inString = true
		case b == '{' || b == '[':
			s.depth++
		case b == '}' || b == ']':
			if s.depth--; s.depth == 0 {
				s.keep(p[start : i+1])
				s.emit(s.object, s.size <= s.limit)
				s.object, s.size = nil, 0
			}
		}
	}
	if s.depth > 0 {
		s.keep(p[start:])
	}
}

func (s *splitter) keep(p []byte) {
	s.size += len(p)
	if room := s.limit - len(s.object); room > 0 {
		s.object = append(s.object, p[:min(len(p), room)]...)
	}
}

// parseEvent reads one watch event. Of one over the limit it finds the type alone.
func parseEvent(frame []byte, complete bool) (Event, bool) {
	var event Event
	if complete {
		var wire struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if json.Unmarshal(frame, &wire) != nil {
			return event, false
		}
		return Event{Type: wire.Type, Object: wire.Object}, true
	}
	tokens := json.NewDecoder(bytes.NewReader(frame))
	for _, want := range []json.Token{json.Delim('{'), "type"} { // API servers write the type first
		if token, err := tokens.Token(); err != nil || token != want {
			return event, false
		}
	}
	value, err := tokens.Token()
	if err != nil {
		return event, false
	}
	kind, ok := value.(string)
	return Event{Type: kind}, ok
}
