package tools

import (
	"io"
	"os"
	"strings"
)

// create opens a file for writing, by truncating it or for appending.
func (c *Call) create(name string, add bool) (io.WriteCloser, error) {
	flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if add {
		flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	f, err := c.Host.FS.OpenFile(c.path(name), flag, 0o644)
	if err != nil {
		return nil, typed(name, err)
	}
	return f, nil
}

func join(words []string) string { return strings.Join(words, " ") }
