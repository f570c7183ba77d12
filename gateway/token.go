package gateway

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
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
)

// A tokenKey makes and recognises the learners' bearer tokens: "apilab_", the learner's ID, "_", and an HMAC of the ID. So
// no token is stored, all stay valid over restarts, and removing the key file revokes them all.
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
	mac := hmac.New(sha256.New, k)
	mac.Write([]byte(learner))
	return tokenPrefix + learner + "_" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
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
