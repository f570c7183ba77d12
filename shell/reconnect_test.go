package shell

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Output that is read in pieces, by pages that go away and come back anywhere, is the same stream, whole and once.
func TestNoOutputIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	const lines = 150_000 // more than the ring holds
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 1))
			term, err := Start(t.Context(), newOptions(t))
			if err != nil {
				t.Fatal(err)
			}
			defer term.Close()
			if _, err := term.Write("w", 0, fmt.Appendf(nil, "seq %d; exit\r", lines)); err != nil {
				t.Fatal(err)
			}
			var all bytes.Buffer
			for at := uint64(0); ; {
				// A page reads for a while, and goes.
				for range rnd.IntN(20) {
					start, p, err := term.Read(t.Context(), at, 1+rnd.IntN(40_000))
					if err == io.EOF {
						checkSequence(t, all.String(), lines)
						return
					}
					if err != nil || start != at {
						t.Fatalf("read from %d: start %d, %v", at, start, err)
					}
					all.Write(p)
					at += uint64(len(p))
				}
				// One that comes back may ask for what it has seen before, and gets the same again.
				back := min(at, uint64(rnd.IntN(60_000)))
				start, p, err := term.Read(t.Context(), at-back, int(back)+1)
				if back > 0 && err == nil {
					if start < at-back || !bytes.HasPrefix(all.Bytes()[start:], p[:min(len(p), int(at-start))]) {
						t.Fatalf("another reading of [%d, %d) differs", at-back, at)
					}
				}
			}
		})
	}
}

func checkSequence(t *testing.T, out string, lines int) {
	t.Helper()
	_, out, _ = strings.Cut(out, "\x1b]133;C\a")
	out, _, _ = strings.Cut(plain(out), "exit\n")
	next := 1
	for line := range strings.Lines(out) {
		var n int
		if _, err := fmt.Sscanf(line, "%d\n", &n); err == nil {
			if n != next {
				t.Fatalf("after %d came %d", next-1, n)
			}
			next++
		}
	}
	if next != lines+1 {
		t.Fatalf("%d lines of %d", next-1, lines)
	}
}

// A page that does not know whether its last frames arrived sends them again, in whole, in part, late and twice.
func TestNoInputIsLostOrReplayed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 2))
			o := newOptions(t)
			c := open(t, o)
			c.send("cat > got\r")
			c.busy()
			var want bytes.Buffer
			for i := range 3000 {
				fmt.Fprintf(&want, "line %d %s\n", i, strings.Repeat("x", rnd.IntN(60)))
			}
			in := want.Bytes()
			writer := "w0"
			base := uint64(0) // what earlier writers have sent
			for {
				acked := c.Acked(writer)
				if base+acked == uint64(len(in)) {
					break
				}
				if rnd.IntN(50) == 0 { // a reload: a new page goes on
					base += acked
					writer += "+"
					acked = 0
				}
				from := acked - min(acked, uint64(rnd.IntN(3000)))
				if rnd.IntN(20) == 0 {
					from = acked + uint64(1+rnd.IntN(100)) // a frame that overtook another
				}
				to := min(from+uint64(rnd.IntN(5000)), uint64(len(in))-base)
				if to <= from {
					continue
				}
				got, err := c.Write(writer, from, in[base+from:base+to])
				if err != nil || got < acked || got > max(acked, to) {
					t.Fatalf("wrote [%d, %d) at %d: acked %d, %v", from, to, acked, got, err)
				}
				if got < to { // the shell has to read first
					select {
					case <-c.grew:
					case <-time.After(10 * time.Millisecond):
					}
				}
			}
			if _, err := c.Write("end", 0, []byte{4}); err != nil {
				t.Fatal(err)
			}
			c.idle()
			got, err := os.ReadFile(filepath.Join(o.Home, "got"))
			if err != nil || !bytes.Equal(got, in) {
				t.Errorf("%d bytes arrived of %d, %v", len(got), len(in), err)
			}
		})
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := open(t, newOptions(t))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, _, err := c.Read(ctx, 1<<40, 1)
		done <- err
	}()
	cancel()
	if err := <-done; err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

func FuzzRing(f *testing.F) {
	f.Add([]byte("hello"), uint8(3), uint64(2), uint8(9))
	f.Add(bytes.Repeat([]byte("abc"), 50), uint8(16), uint64(140), uint8(255))
	f.Fuzz(func(t *testing.T, p []byte, size uint8, from uint64, limit uint8) {
		if size == 0 || limit == 0 {
			return
		}
		r := newRing(int(size))
		for rest := p; len(rest) > 0; {
			n := min(len(rest), 1+int(rest[0])%7)
			r.write(rest[:n])
			rest = rest[n:]
		}
		start, got := r.read(from, int(limit))
		if start < from || len(got) > int(limit) || start+uint64(len(got)) > max(from, uint64(len(p))) {
			t.Fatalf("[%d, +%d) of %d", start, len(got), len(p))
		}
		if len(got) > 0 && !bytes.Equal(got, p[start:start+uint64(len(got))]) {
			t.Fatalf("wrong bytes at %d", start)
		}
		if from < uint64(len(p)) && (len(got) == 0 || start > from && start != uint64(len(p)-min(len(p), int(size)))) {
			t.Fatalf("bytes are missing: start %d of %d, %d bytes", start, len(p), len(got))
		}
	})
}

func FuzzMarks(f *testing.F) {
	f.Add([]byte("\x1b]2;title\a\x1b]133;C\atext\x1b]133;D;0\x1b\\\x1b]133;A\a"))
	f.Fuzz(func(t *testing.T, p []byte) {
		var whole, pieces marks
		whole.write(p)
		for i := range p {
			pieces.write(p[i : i+1])
		}
		if whole.title != pieces.title || whole.busy != pieces.busy || len(whole.osc) > maxOSC {
			t.Fatalf("%+v and %+v", whole, pieces)
		}
	})
}
