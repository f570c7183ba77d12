package store

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode"
)

// Codes are typed from a wall or from paper: none of these characters looks like another of them.
const codeAlphabet = "34679ACDEFGHJKMNPQRTVWXY"

// The lengths tell the two kinds of codes apart.
const (
	JoinCodeLength     = 8  // 36 bits
	PersonalCodeLength = 10 // 45 bits
)

// A Code is a join code or a personal code as it is compared: in capitals, without dashes.
type Code string

// ParseCode reads a code as people type it: in any case, with or without dashes and spaces. What is left over may still be
// no code at all.
func ParseCode(typed string) Code {
	return Code(strings.Map(func(r rune) rune {
		if r == '-' || unicode.In(r, unicode.Pd) || unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, typed))
}

// String is the code as it is shown, such as ABCD-EFGH.
func (c Code) String() string {
	half := len(c) / 2
	return string(c[:half]) + "-" + string(c[half:])
}

// newCode returns n random characters of the alphabet.
func newCode(n int) Code {
	code := make([]byte, 0, n)
	for b := make([]byte, 1); len(code) < n; {
		rand.Read(b) // never fails
		// Bytes beyond the last whole alphabet would make its first characters more likely.
		if i := int(b[0]); i < 256-256%len(codeAlphabet) {
			code = append(code, codeAlphabet[i%len(codeAlphabet)])
		}
	}
	return Code(code)
}

// hashRounds makes a search through all personal codes, which are short, take years for who has the file; and a look-up
// some milliseconds.
const hashRounds = 20_000

// hashPersonal is how a personal code is kept: slow, and salted with the database's name, since it is looked up by its hash.
func (s *Store) hashPersonal(ctx context.Context, code Code) ([]byte, error) {
	instance, err := s.Instance(ctx)
	if err != nil {
		return nil, err
	}
	sum, err := pbkdf2.Key(sha256.New, string(code), []byte(instance), hashRounds, sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("hash a personal code: %w", err)
	}
	return sum, nil
}
