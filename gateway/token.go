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

func (k tokenKey) token(learner string) string {
	return tokenPrefix + learner + "_" + base64.RawURLEncoding.EncodeToString(k.sign("token", learner))
}

// learner says whose token it is. The comparison takes the same time for every wrong token of a learner.
func (k tokenKey) learner(token string) (string, bool) {
	rest, ok := strings.CutPrefix(token, tokenPrefix)
	if !ok {
		return "", false
	}
	learner, _, ok := strings.Cut(rest, "_") // an ID is a DNS label: no underscore
	if !ok || learner == "" {
		return "", false
	}
	return learner, hmac.Equal([]byte(token), []byte(k.token(learner)))
}

// serverName is the TLS server name in a learner's kubeconfig. By it the gateway knows whose cluster a request is for when
// its token is one that only that cluster can judge: a service account's. It is signed, so that nobody addresses, and
// thereby starts, a cluster but those who were given its kubeconfig.
func (k tokenKey) serverName(learner string) string {
	return learner + "-" + hex.EncodeToString(k.sign("name", learner)[:8]) + serverNameSuffix
}

// named says whose server name it is.
func (k tokenKey) named(serverName string) (learner string, ok bool) {
	label, ok := strings.CutSuffix(serverName, serverNameSuffix)
	if !ok {
		return "", false
	}
	learner = label[:max(0, strings.LastIndexByte(label, '-'))]
	return learner, learner != "" && hmac.Equal([]byte(serverName), []byte(k.serverName(learner)))
}

func (k tokenKey) sign(purpose, learner string) []byte {
	mac := hmac.New(sha256.New, k)
	mac.Write([]byte(purpose + "\x00" + learner))
	return mac.Sum(nil)
}
