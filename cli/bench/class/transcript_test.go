package class

import "testing"

func TestTranscript(t *testing.T) {
	t.Parallel()
	type frame struct {
		offset uint64
		text   string
	}
	tests := []struct {
		name                   string
		frames                 []frame
		again                  int64 // where another page attaches after them; -1: none does
		more                   []frame
		lost, doubled, altered int
	}{
		{"in order", []frame{{0, "ab"}, {2, "cd"}}, -1, nil, 0, 0, 0},
		{"a hole", []frame{{0, "ab"}, {5, "fg"}}, -1, nil, 3, 0, 0},
		{"bytes twice", []frame{{0, "abcd"}, {2, "cdef"}}, -1, nil, 0, 2, 0},
		{"a page that goes on", []frame{{0, "abc"}}, 3, []frame{{3, "def"}}, 0, 0, 0},
		{"a page that misses some", []frame{{0, "abc"}}, 3, []frame{{4, "ef"}}, 1, 0, 0},
		{"a page that draws all again", []frame{{0, "abc"}}, 0, []frame{{0, "ab"}, {2, "cdef"}}, 0, 0, 0},
		{"another history", []frame{{0, "abc"}}, 0, []frame{{0, "axc"}}, 0, 0, 1},
	}
	for _, tt := range tests {
		var s transcript
		for _, f := range tt.frames {
			s.take(f.offset, []byte(f.text))
		}
		if tt.again >= 0 {
			s.attach(uint64(tt.again))
		}
		for _, f := range tt.more {
			s.take(f.offset, []byte(f.text))
		}
		if s.lost != tt.lost || s.doubled != tt.doubled || s.altered != tt.altered {
			t.Errorf("%s: lost %d, doubled %d, altered %d; want %d, %d, %d", tt.name, s.lost, s.doubled, s.altered, tt.lost, tt.doubled, tt.altered)
		}
	}
}

func TestTranscriptReadsMarks(t *testing.T) {
	t.Parallel()
	var s transcript
	s.take(0, []byte("\x1b]133;A\a$ echo a\r\n\x1b]133;C\a\x1b]2;echo a\aa\r\nb\r\n\x1b]133;D;0\a\x1b]133;A\a$ "))
	if got := s.output(3); got != "a\nb\n" {
		t.Errorf("output %q", got)
	}
	if got := s.prompts(3); got != 1 {
		t.Errorf("%d prompts", got)
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		written, shown string
		lost, doubled  int
	}{
		{"a\nb\n", "a\nb\n", 0, 0}, {"a\nb\n", "a\n", 2, 0}, {"a\nb\n", "a\na\nb\n", 0, 2}, {"a\nbb\n", "a\nb\nb\n", 3, 4},
	} {
		if lost, doubled := difference(tt.written, tt.shown); lost != tt.lost || doubled != tt.doubled {
			t.Errorf("%q shown as %q: lost %d, doubled %d; want %d, %d", tt.written, tt.shown, lost, doubled, tt.lost, tt.doubled)
		}
	}
}
