package gateway

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	tokenKeyFile = "token.key"
	tokenPrefix  = "apilab_"
	tokenKeySize = 32

	// serverNameSuffix is below a domain that is reserved for private use.
	serverNameSuffix = ".apilab.internal"
)

// A tokenKey makes and recognises the learners' bearer tokens: "apilab_", the learner's ID, "_", and a signature
// (HMAC-SHA-256) of the ID. So no token is stored, all stay valid over restarts, and removing the key file revokes them all.
// A token of a later generation has its number and a dot before the signature, which then covers both; a token for the inside
// has the word "inside" there.
type tokenKey []byte

func loadTokenKey(dir string) (tokenKey, error) {
	path := filepath.Join(dir, tokenKeyFile)
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key = make([]byte, tokenKeySize)
		if _, err := rand.Read(key); err != nil {
			return nil, fmt.Errorf("make the gateway's token key: %w", err)
		}
		return key, writeFile(path, key)
	}
	if err != nil {
		return nil, fmt.Errorf("read the gateway's token key: %w", err)
	}
	if len(key) != tokenKeySize {
		return nil, fmt.Errorf("the gateway's token key %s is damaged: remove the file and get a new kubeconfig", path)
	}
	return key, nil
}

// inside is in place of a generation in the tokens of the learner's terminals. They are good on the loopback listener alone,
// and are not revoked: an open terminal goes on when its learner gets a new kubeconfig.
const inside = -1

// A credential is what a token says.
type credential struct {
	learner    string
	generation int // or inside
}

func (k tokenKey) token(c credential) string {
	signed, mark := c.learner, ""
	switch {
	case c.generation == inside:
		mark = "inside."
	case c.generation > 0:
		mark = strconv.Itoa(c.generation) + "."
	}
	if mark != "" {
		signed += "\x00" + mark
	}
	return tokenPrefix + c.learner + "_" + mark + base64.RawURLEncoding.EncodeToString(k.sign("token", signed))
}

// read says what a token says, if it is one of ours. The comparison takes the same time for every wrong token of a learner.
func (k tokenKey) read(token string) (credential, bool) {
	rest, ok := strings.CutPrefix(token, tokenPrefix)
	if !ok {
		return credential{}, false
	}
	learner, rest, ok := strings.Cut(rest, "_") // an ID is a DNS label: no underscore
	if !ok || learner == "" {
		return credential{}, false
	}
	c := credential{learner: learner}
	if mark, _, ok := strings.Cut(rest, "."); ok {
		var err error
		if c.generation, err = strconv.Atoi(mark); err != nil {
			c.generation = inside
		}
	}
	return c, hmac.Equal([]byte(token), []byte(k.token(c)))
}

// address names a learner's cluster where only its own API server can judge a token, a service account's: in the TLS server
// name of a kubeconfig for this machine, in the path of one for others. It is signed, so that nobody addresses, and thereby
// starts, a cluster but those who were given its kubeconfig.
func (k tokenKey) address(learner string) string {
	return learner + "-" + hex.EncodeToString(k.sign("name", learner)[:8])
}

// addressed says whose address it is.
func (k tokenKey) addressed(address string) (learner string, ok bool) {
	learner = address[:max(0, strings.LastIndexByte(address, '-'))]
	return learner, learner != "" && hmac.Equal([]byte(address), []byte(k.address(learner)))
}

// serverName is the TLS server name in a learner's kubeconfig for this machine.
func (k tokenKey) serverName(learner string) string { return k.address(learner) + serverNameSuffix }

// named says whose server name it is.
func (k tokenKey) named(serverName string) (learner string, ok bool) {
	label, ok := strings.CutSuffix(serverName, serverNameSuffix)
	if !ok {
		return "", false
	}
	return k.addressed(label)
}

func (k tokenKey) sign(purpose, learner string) []byte {
	mac := hmac.New(sha256.New, k)
	mac.Write([]byte(purpose + "\x00" + learner))
	return mac.Sum(nil)
}
