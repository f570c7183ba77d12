package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

// editReply is the answer to an Edit.
type editReply struct {
	Saved bool   `json:"saved"`
	Text  string `json:"text"`
	Error string `json:"error,omitempty"`
}

// control is the server's end of the editor's socket: one connection for each text, a request and a reply in JSON.
type control struct {
	l      net.Listener
	cancel context.CancelFunc
	wg     sync.WaitGroup
	once   sync.Once
}

func serveEdits(path string, edit func(context.Context, Edit) (bool, string, error)) (*control, error) {
	if edit == nil {
		return &control{cancel: func() {}}, nil
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("start editor: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("start editor: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &control{l: l, cancel: cancel}
	c.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.wg.Go(func() { serveEdit(ctx, conn, edit) })
		}
	})
	return c, nil
}

func serveEdit(ctx context.Context, conn net.Conn, edit func(context.Context, Edit) (bool, string, error)) {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	var e Edit
	dec := json.NewDecoder(io.LimitReader(conn, 2*maxEdit))
	if err := dec.Decode(&e); err != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // the program that asked ends as its end of the connection does
		io.Copy(io.Discard, conn)
		cancel()
	}()
	var r editReply
	var err error
	if r.Saved, r.Text, err = edit(ctx, e); err != nil {
		r = editReply{Error: err.Error()}
	}
	json.NewEncoder(conn).Encode(r)
}

func (c *control) close() {
	c.once.Do(func() {
		c.cancel()
		if c.l != nil {
			c.l.Close()
		}
		c.wg.Wait()
	})
}

// askEdit is the program's end: it waits until the learner has saved or given up.
func askEdit(ctx context.Context, socket string, e Edit) (saved bool, text string, err error) {
	if socket == "" {
		return false, "", errors.New("there is no editor here: write the file with cat > FILE <<'EOF'")
	}
	if len(e.Text) > maxEdit {
		return false, "", fmt.Errorf("%s is larger than %d MiB", e.Name, maxEdit>>20)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return false, "", errors.New("the page's editor does not answer")
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := json.NewEncoder(conn).Encode(e); err != nil {
		return false, "", fmt.Errorf("ask the editor: %w", err)
	}
	var r editReply
	if err := json.NewDecoder(conn).Decode(&r); err != nil {
		if ctx.Err() != nil {
			return false, "", ctx.Err()
		}
		return false, "", errors.New("the page's editor went away")
	}
	if r.Error != "" {
		return false, "", errors.New(r.Error)
	}
	return r.Saved, r.Text, nil
}
