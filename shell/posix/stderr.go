package posix

import (
	"context"
	"io"
	"os"
	"strings"
)

// stderr is the interpreter's standard error. It prints the cause of a substitution that was stopped, which is said once by
// who stopped it, or is a Ctrl-C that needs no words.
type stderr struct{ io.Writer }

func (e stderr) Write(p []byte) (int, error) {
	switch text := string(p); {
	case text == context.Canceled.Error()+"\n", text == errInterrupted.Error()+"\n", strings.HasPrefix(text, limitPrefix):
		return len(p), nil
	}
	return e.Writer.Write(p)
}

// Bound, File and Terminal are those of the stream itself, which commands are given.
func (e stderr) Bound(ctx context.Context) io.Writer {
	if b, ok := e.Writer.(bounded); ok {
		return b.Bound(ctx)
	}
	return e.Writer
}

// File is nil if the stream is none.
func (e stderr) File() *os.File {
	switch w := e.Writer.(type) {
	case *os.File:
		return w
	case interface{ File() *os.File }:
		return w.File()
	}
	return nil
}

// Terminal tells whether the stream is one.
func (e stderr) Terminal() bool {
	t, ok := e.Writer.(interface{ Terminal() bool })
	return ok && t.Terminal()
}
