package gateway

import (
	"encoding/binary"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// protobufAsJSON turns an object of a built-in kind, in the envelope of Kubernetes, into JSON: kubectl and client-go speak
// protobuf to the API server where they know the kind. It is nil for anything else.
func protobufAsJSON(data []byte) json.RawMessage {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		return nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	return text
}

// parseProtobufEvent reads one frame of a watch in protobuf. One over the limit is an event of which nothing is known.
func parseProtobufEvent(frame []byte, complete bool, limit int) (Event, bool) {
	if !complete {
		return Event{}, true
	}
	var wire metav1.WatchEvent
	if wire.Unmarshal(frame) != nil {
		return Event{}, false
	}
	return Event{Type: wire.Type, Object: asJSON(wire.Object.Raw, runtime.ContentTypeProtobuf, limit)}, true
}

const lengthSize = 4 // bytes of length, big endian, before each frame

// A lengthSplitter cuts a stream of frames with their length before them, as a watch in protobuf sends it, into its frames.
type lengthSplitter struct {
	limit int
	emit  func(frame []byte, complete bool)

	length []byte // as far as it came
	frame  []byte // kept of the current frame
	rest   uint32 // of the current frame, still to come
	over   bool   // it is larger than the limit
}

func (s *lengthSplitter) write(p []byte) {
	for len(p) > 0 {
		if len(s.length) < lengthSize {
			n := min(lengthSize-len(s.length), len(p))
			s.length = append(s.length, p[:n]...)
			p = p[n:]
			if len(s.length) < lengthSize {
				return
			}
			s.rest = binary.BigEndian.Uint32(s.length)
			s.over = int64(s.rest) > int64(s.limit)
		}
		part := p[:min(int64(s.rest), int64(len(p)))]
		p, s.rest = p[len(part):], s.rest-uint32(len(part))
		if !s.over {
			s.frame = append(s.frame, part...)
		}
		if s.rest == 0 {
			s.emit(s.frame, !s.over)
			s.length, s.frame = s.length[:0], nil
		}
	}
}
