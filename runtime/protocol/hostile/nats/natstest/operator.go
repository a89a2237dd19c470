package natstest

import (
	"crypto/ed25519"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// identity is a key of the tree of an operator.
type identity struct {
	key    ed25519.PrivateKey
	prefix byte
}

// The prefixes of keys: O, A and U.
const (
	operatorKey = 14 << 3
	accountKey  = 0
	userKey     = 20 << 3
)

func newIdentity(prefix, seed byte) identity {
	return identity{ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize))), prefix}
}

func encoded(raw []byte) string {
	sum := uint16(0)
	for _, c := range raw {
		for bit := 7; bit >= 0; bit-- {
			high := sum>>15 != uint16(c)>>bit&1
			if sum <<= 1; high {
				sum ^= 0x1021
			}
		}
	}
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(binary.LittleEndian.AppendUint16(raw, sum))
}

func (i identity) public() string {
	return encoded(append([]byte{i.prefix}, i.key.Public().(ed25519.PublicKey)...))
}

func (i identity) seed() string {
	return encoded(append([]byte{18<<3 | i.prefix>>5, i.prefix & 31 << 3}, i.key.Seed()...))
}

// signs makes a JWT about another identity.
func (i identity) signs(of identity, name, claims string) string {
	part := base64.RawURLEncoding.EncodeToString
	text := part([]byte(`{"typ":"JWT","alg":"ed25519-nkey"}`)) + "." + part(fmt.Appendf(nil, `{"jti":%q,"iat":1700000000,"iss":%q,"name":%q,"sub":%q,"nats":%s}`, name, i.public(), name, of.public(), claims))
	return text + "." + part(ed25519.Sign(i.key, []byte(text)))
}

// Operate starts a server that knows users by the JWTs of its operator's account, and returns the text of a
// user's credentials file.
func Operate(tb testing.TB, config string) (s *Server, credentials string) {
	tb.Helper()
	operator, account, user := newIdentity(operatorKey, 'o'), newIdentity(accountKey, 'a'), newIdentity(userKey, 'u')
	own := operator.signs(operator, "operator", `{"type":"operator","version":2}`)
	of := operator.signs(account, "account", `{"limits":{"subs":-1,"data":-1,"payload":-1,"imports":-1,"exports":-1,"wildcards":true,"conn":-1,"leaf":-1},"type":"account","version":2}`)
	proof := account.signs(user, "user", `{"pub":{},"sub":{},"subs":-1,"data":-1,"payload":-1,"type":"user","version":2}`)
	s = Start(tb, fmt.Sprintf("operator: %s\nresolver: MEMORY\nresolver_preload: { %s: %s }\n%s", own, account.public(), of, config))
	return s, fmt.Sprintf("-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n", proof, user.seed())
}
