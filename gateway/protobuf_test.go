package gateway

import (
	"slices"
	"testing"
)

func TestLengthSplitter(t *testing.T) {
	t.Parallel()
	const one, empty, large = "\x00\x00\x00\x03abc", "\x00\x00\x00\x00", "\x00\x00\x00\x0b0123456789x"
	want := []string{"abc", "", "over", "abc"}
	stream := one + empty + large + one
	for size := 1; size <= len(stream); size++ {
		var got []string
		s := lengthSplitter{limit: 10, emit: func(frame []byte, complete bool) {
			if !complete {
				frame = []byte("over")
			}
			got = append(got, string(frame))
		}}
		for chunk := range slices.Chunk([]byte(stream), size) {
			s.write(chunk)
		}
		if !slices.Equal(got, want) {
			t.Errorf("in chunks of %d: %q", size, got)
		}
	}
}
