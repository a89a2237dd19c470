package digest

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Session proves one user's knowledge of a password under one nonce of a server, for any number
// of requests.
type Session struct {
	challenge Challenge
	cnonce    string
	lead      string // all that is the same in each proof
	first     string // the hash of user and password, in hex
	count     uint32
	scratch   []byte
}

// NewSession answers a challenge. The client's nonce consists of letters and digits.
func NewSession(c Challenge, user, password, cnonce string) *Session {
	s := &Session{challenge: c, cnonce: cnonce}
	s.first = s.hash(user + ":" + c.Realm + ":" + password)
	if c.Algorithm.sess() {
		s.first = s.hash(s.first + ":" + c.Nonce + ":" + cnonce)
	}
	var b strings.Builder
	b.WriteString("Digest ")
	switch {
	case c.UserHash:
		b.WriteString(`username="` + s.hash(user+":"+c.Realm) + `"`)
	case plain(user):
		b.WriteString(`username="`)
		quote(&b, user)
		b.WriteString(`"`)
	default:
		b.WriteString("username*=UTF-8''" + escaped(user))
	}
	text := func(name, value string) {
		b.WriteString(", " + name + `="`)
		quote(&b, value)
		b.WriteString(`"`)
	}
	text("realm", c.Realm)
	text("nonce", c.Nonce)
	if c.Opaque != nil {
		text("opaque", *c.Opaque)
	}
	if c.Algorithm != Unnamed {
		b.WriteString(", algorithm=" + names()[c.Algorithm])
	}
	if c.UserHash {
		b.WriteString(", userhash=true")
	}
	if c.Auth {
		b.WriteString(", qop=auth")
	}
	if c.Auth || c.Algorithm.sess() {
		text("cnonce", cnonce)
	}
	s.lead = b.String()
	return s
}

// spent reports that no nonce count is left.
func (s *Session) spent() bool { return s.count == ^uint32(0) }

// Append adds the value of Authorization for one request, whose target is uri. It allocates
// nothing once dst is large enough.
func (s *Session) Append(dst []byte, method, uri string) []byte {
	s.count++
	b := append(append(s.scratch[:0], method...), ':')
	var second, proof [2 * sha256.Size]byte
	n := s.hex(&second, append(b, uri...))
	b = append(append(append(append(b[:0], s.first...), ':'), s.challenge.Nonce...), ':')
	if s.challenge.Auth {
		b = append(append(append(appendCount(b, s.count), ':'), s.cnonce...), ":auth:"...)
	}
	b = append(b, second[:n]...)
	s.hex(&proof, b)
	s.scratch = b[:0]

	dst = append(append(dst, s.lead...), `, uri="`...)
	for i := range len(uri) {
		if uri[i] == '"' || uri[i] == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, uri[i])
	}
	dst = append(dst, '"')
	if s.challenge.Auth {
		dst = appendCount(append(dst, ", nc="...), s.count)
	}
	return append(append(append(dst, `, response="`...), proof[:n]...), '"')
}

// appendCount writes a nonce count: eight digits.
func appendCount(b []byte, n uint32) []byte {
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[n>>shift&15])
	}
	return b
}

// hex writes the hash of b in hex, and returns its length.
func (s *Session) hex(to *[2 * sha256.Size]byte, b []byte) int {
	if s.challenge.Algorithm >= SHA256 {
		sum := sha256.Sum256(b)
		return hex.Encode(to[:], sum[:])
	}
	sum := md5.Sum(b)
	return hex.Encode(to[:], sum[:])
}

func (s *Session) hash(text string) string {
	var to [2 * sha256.Size]byte
	return string(to[:s.hex(&to, []byte(text))])
}

// plain reports whether a name can stand in quotes.
func plain(name string) bool {
	for i := range len(name) {
		if name[i] < ' ' || name[i] > '~' {
			return false
		}
	}
	return true
}

func quote(b *strings.Builder, text string) {
	for i := range len(text) {
		if text[i] == '"' || text[i] == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
}

// escaped is a name as RFC 8187 has it.
func escaped(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; letter(c) || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteString(strings.ToUpper(strconv.FormatUint(0x100|uint64(name[i]), 16)[1:]))
	}
	return b.String()
}
