package class

import (
	"bytes"
	"strings"
)

// A transcript is one terminal's output as its pages were given it, whatever became of them in between.
type transcript struct {
	bytes []byte
	next  uint64 // offset that the page which is attached is to be given next

	lost    int // bytes that never came
	doubled int // bytes that one page was given again
	altered int // bytes that another page had been given differently
}

// attach says from which offset on a page has asked for output.
func (t *transcript) attach(from uint64) { t.next = from }

// take notes a frame of output.
func (t *transcript) take(offset uint64, payload []byte) {
	end := offset + uint64(len(payload))
	if offset > t.next {
		t.lost += int(offset - t.next)
	}
	if offset < t.next {
		t.doubled += int(min(t.next, end) - offset)
	}
	t.next = max(t.next, end)
	if missing := int(offset) - len(t.bytes); missing > 0 {
		t.bytes = append(t.bytes, make([]byte, missing)...)
	}
	known := min(uint64(len(t.bytes)), end) - offset
	for i, b := range payload[:known] {
		if t.bytes[offset+uint64(i)] != b {
			t.altered++
		}
	}
	t.bytes = append(t.bytes, payload[known:]...)
}

// The sequences with which the shell marks its output (OSC 133, FinalTerm's shell integration).
var (
	promptMark = []byte("\x1b]133;A\a")
	startMark  = []byte("\x1b]133;C\a")
	endMark    = []byte("\x1b]133;D;")
)

// prompts counts the prompts from an offset on.
func (t *transcript) prompts(from int) int { return bytes.Count(t.bytes[from:], promptMark) }

// output is what the first command from an offset on has printed.
func (t *transcript) output(from int) string {
	_, rest, _ := bytes.Cut(t.bytes[from:], startMark)
	_, rest, _ = bytes.Cut(rest, []byte("\a")) // the title, which follows
	printed, _, _ := bytes.Cut(rest, endMark)
	return strings.ReplaceAll(string(printed), "\r\n", "\n")
}

// difference compares the lines that a terminal has shown with those that were written, all of which differ, and returns the
// bytes of those that are missing, and of those that are there too often or not at all theirs.
func difference(written, shown string) (lost, doubled int) {
	count := map[string]int{}
	for line := range strings.Lines(written) {
		count[line]++
	}
	for line := range strings.Lines(shown) {
		count[line]--
	}
	for line, n := range count {
		switch {
		case n > 0:
			lost += n * len(line)
		case n < 0:
			doubled += -n * len(line)
		}
	}
	return lost, doubled
}
