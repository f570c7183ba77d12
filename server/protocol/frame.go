// Package protocol is the language of the page's websocket (docs/protocol.md): JSON messages in text frames and the
// terminals' bytes in binary ones. It reads and writes them, and knows nothing of who says what when.
package protocol

import (
	"encoding/binary"
	"fmt"
)

// Subprotocol is what both sides must speak.
const Subprotocol = "apilab.v1"

// MaxMessage bounds a message from the page, in bytes.
const MaxMessage = 1 << 20

// A Kind says what a binary frame carries.
type Kind uint8

// The kinds of frames.
const (
	Output Kind = 1 // server to page: bytes to draw
	Input  Kind = 2 // page to server: bytes typed
	Ack    Kind = 3 // server to page: input taken
	Flow   Kind = 4 // page to server: output drawn
)

// HeaderSize is the length of a frame without its payload.
const HeaderSize = 1 + 4 + 8

// A Frame is one binary message of a terminal. Its offset counts bytes of the terminal's output (Output, Flow) or of one
// writer's input (Input, Ack). Ack and Flow have no payload.
type Frame struct {
	Kind     Kind
	Terminal uint32
	Offset   uint64
	Payload  []byte
}

// ParseFrame reads a binary message. The payload is a part of message.
func ParseFrame(message []byte) (Frame, error) {
	if len(message) < HeaderSize {
		return Frame{}, fmt.Errorf("a binary frame of %d bytes: its header alone has %d", len(message), HeaderSize)
	}
	f := Frame{
		Kind:     Kind(message[0]),
		Terminal: binary.BigEndian.Uint32(message[1:]),
		Offset:   binary.BigEndian.Uint64(message[5:]),
		Payload:  message[HeaderSize:],
	}
	switch f.Kind {
	case Output, Input:
		if f.Offset+uint64(len(f.Payload)) < f.Offset {
			return Frame{}, fmt.Errorf("a binary frame that ends beyond the last offset")
		}
	case Ack, Flow:
		if len(f.Payload) > 0 {
			return Frame{}, fmt.Errorf("a binary frame of kind %d with a payload", f.Kind)
		}
	default:
		return Frame{}, fmt.Errorf("a binary frame of the unknown kind %d", f.Kind)
	}
	return f, nil
}

// Append writes the frame to the end of b.
func (f Frame) Append(b []byte) []byte {
	b = append(b, byte(f.Kind))
	b = binary.BigEndian.AppendUint32(b, f.Terminal)
	b = binary.BigEndian.AppendUint64(b, f.Offset)
	return append(b, f.Payload...)
}
