package bench

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/apilab/apilab/server/protocol"
)

// commandTime bounds one command in the terminal.
const commandTime = 30 * time.Second

// A terminal is one of the page's, typed into.
type terminal struct {
	page  *page
	id    uint32
	typed uint64 // bytes
	runs  int
}

func (p *page) openTerminal(ctx context.Context) (*terminal, error) {
	var opened protocol.Opened
	if err := p.Ask(ctx, "term.open", map[string]any{"cols": 120, "rows": 40}, &opened); err != nil {
		return nil, err
	}
	t := &terminal{page: p, id: opened.Terminal}
	args := map[string]any{"terminal": t.id, "writer": "bench", "from": 0}
	if err := p.Ask(ctx, "term.attach", args, nil); err != nil {
		return nil, err
	}
	_, err := t.run(ctx, "true") // when this is done, the shell is up
	return t, err
}

// run types a command and returns the time until its output has ended.
func (t *terminal) run(ctx context.Context, command string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	t.runs++
	// What the terminal echoes is the sum; what the shell prints is its result, which nothing else prints.
	mark := fmt.Appendf(nil, "done-%d-end", 1000+t.runs)
	line := fmt.Appendf(nil, "%s; echo done-$((1000+%d))-end\r", command, t.runs)
	t.page.Change(func() { t.page.output = nil })
	frame := protocol.Frame{Kind: protocol.Input, Terminal: t.id, Offset: t.typed, Payload: line}
	t.typed += uint64(len(line))
	started := time.Now()
	if err := t.page.Send(ctx, frame); err != nil {
		return 0, fmt.Errorf("type into the terminal: %w", err)
	}
	var took time.Duration
	err := t.page.until(ctx, func() (bool, error) {
		took = time.Since(started)
		return bytes.Contains(t.page.output, mark), nil
	})
	if err != nil {
		return 0, fmt.Errorf("%q in the terminal: %w; it says %q", command, err, t.page.output)
	}
	return took, nil
}
