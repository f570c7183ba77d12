package hub

import (
	"context"
	"slices"
	"testing"

	"github.com/apilab/apilab/server/protocol"
)

// A printer has put out what a test says.
type printer struct {
	Shell
	end     uint64
	resized int
}

func (p *printer) Resize(int, int) error { p.resized++; return nil }

func (p *printer) Read(_ context.Context, from uint64, _ int) (start uint64, out []byte, err error) {
	return from, make([]byte, p.end-from), nil
}

func TestTerminalRemembersTheSizesOfItsOutput(t *testing.T) {
	p := &printer{}
	terminal := newTerminal(1, p, Size{Cols: 80, Rows: 24})
	resize := func(cols int) {
		if err := terminal.Resize(cols, 24); err != nil {
			t.Fatal(err)
		}
	}
	show := func(end uint64) {
		from := p.end
		p.end = end
		if _, _, err := terminal.Read(t.Context(), from, 0); err != nil {
			t.Fatal(err)
		}
	}
	resize(80) // it has it
	if p.resized != 0 {
		t.Error("the size that it has was set again")
	}
	show(10)
	resize(90)
	resize(100) // nothing was printed in between
	show(20)
	resize(60)
	all := []protocol.TerminalSize{{Cols: 80, Rows: 24}, {At: 10, Cols: 100, Rows: 24}, {At: 20, Cols: 60, Rows: 24}}
	for from, want := range map[uint64][]protocol.TerminalSize{0: all, 9: all, 10: all[1:], 15: all[1:], 20: all[2:], 99: all[2:]} {
		if got := terminal.Sizes(from); !slices.Equal(got, want) {
			t.Errorf("from %d on: %+v, want %+v", from, got, want)
		}
	}
	for i := range uint64(3 * maxSizes) {
		show(21 + i)
		resize(int(100 + i))
	}
	got := terminal.Sizes(0)
	if n := len(got); n != maxSizes || got[n-1].Cols != 100+3*maxSizes-1 {
		t.Errorf("%d sizes are kept, the last is %+v", n, got[n-1])
	}
}
