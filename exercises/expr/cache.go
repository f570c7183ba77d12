package expr

import (
	"slices"
	"strings"
	"sync"
)

// compiled keeps expressions, so that a curriculum that is loaded again compiles only what has changed.
var compiled = cache{limit: 10_000}

// A cache of compiled expressions. A full one is emptied: what is in use is soon in it again.
type cache struct {
	limit int // expressions

	mu    sync.Mutex
	known map[string]*Expression // by kind, variables and source
}

func (c *cache) get(source string, kind Kind, with []string) (*Expression, error) {
	with = slices.Sorted(slices.Values(with))
	key := string(kind) + "\x00" + strings.Join(with, "\x00") + "\x00\x00" + source
	c.mu.Lock()
	x := c.known[key]
	c.mu.Unlock()
	if x != nil {
		return x, nil
	}
	x, err := compile(source, kind, with)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= c.limit {
		c.known = map[string]*Expression{}
	}
	c.known[key] = x
	return x, nil
}
