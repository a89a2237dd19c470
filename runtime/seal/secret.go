package seal

import (
	"bytes"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bounds of secrets.
const (
	secretMin   = 16   // bytes of one
	secretMax   = 1024 // bytes of one
	distinctMin = 8    // different bytes in one
	secretsMax  = 4    // of one node
	textMax     = secretsMax*(secretMax+2) + 64<<10
)

// ID names a secret without telling it: the first bytes of a digest that has no other use. Two nodes
// compare IDs before they derive keys.
type ID [4]byte

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// none is the ID of no secret, in an opening with fewer than secretsMax.
var none ID

// Secret is what the nodes and clients of a cluster share. The zero Secret is none.
type Secret struct {
	id   ID
	root []byte // a pseudorandom key of RFC 5869
}

// ID returns the name of the secret.
func (s Secret) ID() ID { return s.id }

// New returns the text of a new secret, of 256 random bits.
func New() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never returns an error, it ends the process
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Parse reads secrets, one a line. A node seals with the first, and opens with all: a secret rotates
// while the file has two. Empty lines and lines that begin with # mean nothing. An error never
// contains a secret.
func Parse(text []byte) ([]Secret, error) {
	if len(text) > textMax {
		return nil, fmt.Errorf("the secrets have more than %d bytes: write one a line, as `hyperscale secret new` prints it", textMax)
	}
	var all []Secret
	for i, line := range bytes.Split(text, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if why := weak(line); why != "" {
			return nil, fmt.Errorf("the secret in line %d %s: make one with `hyperscale secret new`", i+1, why)
		}
		s, err := secretOf(line)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(t Secret) bool { return t.id == s.id }) {
			return nil, fmt.Errorf("the secret in line %d stands twice: take one line out", i+1)
		}
		all = append(all, s)
	}
	switch {
	case len(all) == 0:
		return nil, errors.New("there is no secret: write one line, as `hyperscale secret new` prints it")
	case len(all) > secretsMax:
		return nil, fmt.Errorf("there are %d secrets, at most %d may stand: take out those that no node seals with", len(all), secretsMax)
	}
	return all, nil
}

// secretOf derives the root of a secret's keys from its bytes.
func secretOf(b []byte) (Secret, error) {
	root, err := hkdf.Extract(sha256.New, b, []byte("hyperscale secret 1"))
	if err != nil {
		return Secret{}, fmt.Errorf("derive the root of a secret's keys: %w", err)
	}
	id, err := hkdf.Expand(sha256.New, root, "id", len(ID{}))
	if err != nil {
		return Secret{}, fmt.Errorf("derive the name of a secret: %w", err)
	}
	s := Secret{id: ID(id), root: root}
	if s.id == none {
		return Secret{}, errors.New("the secret's name is the one that means none: make another one with `hyperscale secret new`")
	}
	return s, nil
}

// usual are the secrets that people write first, without their digits and separators.
var usual = []string{
	"password", "passwort", "passw0rd", "secret", "changeme", "changethis", "hyperscale", "cluster", "letmein", "default", "example", "qwertyuiop",
	"abcdefghijklmnop", "abcdefghijklmnopqrstuvwxyz", "correcthorsebatterystaple", "supersecret", "mysecret", "topsecret", "test", "admin", "abcdef",
}

// weak says why a secret can be guessed, or returns an empty text.
func weak(b []byte) string {
	switch {
	case len(b) < secretMin:
		return fmt.Sprintf("has %d bytes, must have at least %d", len(b), secretMin)
	case len(b) > secretMax:
		return fmt.Sprintf("has %d bytes, must have at most %d", len(b), secretMax)
	}
	var seen [256]bool
	distinct := 0
	for _, c := range b {
		if !seen[c] {
			seen[c] = true
			distinct++
		}
	}
	if distinct < distinctMin {
		return fmt.Sprintf("has %d different bytes, must have at least %d", distinct, distinctMin)
	}
	letters := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(string(b)))
	for len(letters) > 0 {
		i := slices.IndexFunc(usual, func(word string) bool { return strings.HasPrefix(letters, word) })
		if i < 0 {
			break
		}
		letters = letters[len(usual[i]):]
	}
	if letters == "" {
		return "is made of usual words and digits"
	}
	return ""
}
