package cli

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// A certificate is read from its files, and again when they change: whoever renews it need not stop a class.
type certificate struct {
	cert, key string // files

	mu      sync.Mutex
	looked  time.Time
	changed time.Time
	pair    *tls.Certificate
}

// lookAgain is how long a certificate is used before its file is looked at.
const lookAgain = time.Minute

// get is what a tls.Config asks. While a new file cannot be read, the certificate of before is given.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.pair != nil && now.Sub(c.looked) < lookAgain {
		return c.pair, nil
	}
	c.looked = now
	info, err := os.Stat(c.cert)
	if err == nil && c.pair != nil && info.ModTime().Equal(c.changed) {
		return c.pair, nil
	}
	if err == nil {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(c.cert, c.key); err == nil {
			c.pair, c.changed = &pair, info.ModTime()
		}
	}
	if c.pair == nil {
		return nil, fmt.Errorf("read the certificate of --tls-cert and --tls-key: %w", err)
	}
	return c.pair, nil
}
