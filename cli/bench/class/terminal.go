package class

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/apilab/apilab/cli/bench/browser"
	"github.com/apilab/apilab/server/protocol"
)

// reportEvery is how many bytes of output a page draws before it says so, as ours do.
const reportEvery = 64 << 10

// A terminal is one of the learner's, seen and typed into by one page after another. Its fields are guarded by the
// learner's state.
type terminal struct {
	id         uint32
	gone       bool // the server does not know it any more
	transcript transcript
	drawn      uint64      // said to be
	pressed    time.Time   // when the key was that has no echo yet; zero: none waits
	writer     string      // of the page load that types
	input      []byte      // typed by this writer
	acked      uint64      // of it, taken by the server
	feeder     *connection // whose output counts

	sending sync.Mutex    // held while input is sent, which keeps it in order; guards the next one
	page    *browser.Page // where it is attached; nil: nowhere
}

// attach shows the terminal on a page. A load of a page draws everything, with a writer of its own; one that has lost its
// connection goes on where it was, and sends again what was not taken.
func (t *terminal) attach(ctx context.Context, c *connection) error {
	t.sending.Lock()
	defer t.sending.Unlock()
	l, writer := c.learner, strconv.Itoa(c.load)
	var from uint64
	l.Change(func() {
		t.feeder = c
		if writer == t.writer {
			from = t.transcript.next
		} else {
			t.writer, t.input, t.acked, t.drawn = writer, nil, 0, 0
		}
		t.transcript.attach(from)
	})
	var attached protocol.Attached
	if err := l.request(ctx, c.page, "term.attach", map[string]any{"terminal": t.id, "writer": writer, "from": from}, &attached); err != nil {
		return err
	}
	t.page = c.page
	var rest []byte
	l.Change(func() {
		t.acked = attached.Acked
		rest = t.input[min(t.acked, uint64(len(t.input))):]
	})
	if len(rest) == 0 {
		return nil
	}
	return c.page.Send(ctx, protocol.Frame{Kind: protocol.Input, Terminal: t.id, Offset: attached.Acked, Payload: rest})
}

// detach says that the page is gone.
func (t *terminal) detach() {
	t.sending.Lock()
	defer t.sending.Unlock()
	t.page = nil
}

// press types a key. Without a connection it is kept until there is one.
func (t *terminal) press(ctx context.Context, l *learner, key string) {
	t.sending.Lock()
	defer t.sending.Unlock()
	var offset uint64
	l.Change(func() {
		offset = uint64(len(t.input))
		t.input = append(t.input, key...)
		if t.page != nil && key != enter { // what follows that is the command's
			t.pressed = time.Now()
		}
	})
	if t.page != nil { // what is lost on the way is sent again
		_ = t.page.Send(ctx, protocol.Frame{Kind: protocol.Input, Terminal: t.id, Offset: offset, Payload: []byte(key)})
	}
}

// take notes a frame; the learner's state is locked. It returns how far the page has drawn, where that is to be said.
func (t *terminal) take(f protocol.Frame, at time.Time, tally *tally) (drawn uint64) {
	switch f.Kind {
	case protocol.Ack:
		t.acked = f.Offset
	case protocol.Output:
		if !t.pressed.IsZero() {
			tally.milliseconds(&tally.echoed, at.Sub(t.pressed))
			t.pressed = time.Time{}
		}
		t.transcript.take(f.Offset, f.Payload)
		if t.transcript.next >= t.drawn+reportEvery {
			t.drawn = t.transcript.next
			return t.drawn
		}
	}
	return 0
}

// settled tells whether the server has taken all that was typed; the learner's state is locked.
func (t *terminal) settled() bool { return t.acked >= uint64(len(t.input)) }
