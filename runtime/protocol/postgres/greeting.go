package postgres

import (
	"bytes"
	"crypto/md5" //nolint:gosec // the protocol's own
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/scram"
)

const version3 = 3 << 16

// Greeting is what one connection says before its first operation: who it is, and the proof.
type Greeting struct {
	protocol *Protocol
	random   [18]byte // of its nonce
	scram    *scram.Client
	proves   bool // SCRAM is under way, and the server has not proved itself
	works    bool // the password is being salted
	admitted bool // AuthenticationOk has come
	secure   security
	binding  []byte // what SCRAM binds
	server   string // its version
	means    string // how it proved itself
	backend  backend
}

// security is how far TLS is.
type security uint8

const (
	securityNone   security = iota // in clear, or not begun
	securityAsked                  // the server answers next
	securityBegins                 // it has agreed
	securityStands
)

var (
	_ codec.Greeting = (*Greeting)(nil)
	_ codec.Worker   = (*Greeting)(nil)
	_ codec.Securer  = (*Greeting)(nil)
)

// Greet begins a connection. Random is 18 bytes that no other connection uses.
func (p *Protocol) Greet(random [18]byte) *Greeting { return &Greeting{protocol: p, random: random} }

// Begin appends what the client says first.
func (g *Greeting) Begin(dst []byte) []byte {
	switch c := &g.protocol.config; {
	case c.Direct:
		g.secure = securityBegins
		return dst
	case c.TLS:
		g.secure = securityAsked
		return append(dst, asksTLS...)
	}
	return g.starts(dst)
}

const agreesTLS = 'S'

// asksTLS is SSLRequest.
var asksTLS = []byte{0, 0, 0, 8, 4, 210, 22, 47}

// Secures implements codec.Securer.
func (g *Greeting) Secures() bool { return g.secure == securityBegins }

// Secured implements codec.Securer.
func (g *Greeting) Secured(dst, binding []byte) []byte {
	g.secure, g.binding = securityStands, binding
	return g.starts(dst)
}

// ALPN is the protocol that a server chooses where TLS begins at once.
const ALPN = "postgresql"

// Chosen judges what a server has chosen by ALPN. One that chooses nothing may be of another protocol, to which
// an attacker has led the connection.
func Chosen(protocol string) error {
	if protocol == ALPN {
		return nil
	}
	return &http1.Error{Kind: http1.KindTLS, Detail: fmt.Sprintf("the server chooses %q by ALPN, not %s: sslnegotiation=direct needs PostgreSQL 17, or take it out of the URL", protocol, ALPN)}
}

// agrees takes the server's answer to SSLRequest, which is a byte. Its error, if it tells one, is not to
// be believed: nothing proves who tells it.
func (g *Greeting) agrees(answer byte) error {
	switch answer {
	case agreesTLS:
		g.secure = securityBegins
		return nil
	case 'N', 'E':
		return &http1.Error{Kind: http1.KindTLS, Detail: "the server offers no TLS: set ssl = on in its postgresql.conf, or write sslmode = \"disable\" in sql.client"}
	}
	return breach("the server answers %q to the question for TLS: is this a PostgreSQL server?", answer)
}

// starts appends the message that says who begins.
func (g *Greeting) starts(dst []byte) []byte {
	c := &g.protocol.config
	start := len(dst)
	dst = binary.BigEndian.AppendUint32(append(dst, 0, 0, 0, 0), version3)
	for _, pair := range [][2]string{{"user", c.User}, {"database", c.Database}, {"application_name", "hyperscale"}, {"client_encoding", "UTF8"}} {
		if pair[1] != "" {
			dst = append(append(append(append(dst, pair[0]...), 0), pair[1]...), 0)
		}
	}
	dst = append(dst, 0)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst
}

// Works implements codec.Worker.
func (g *Greeting) Works() bool { return g.works }

// Means is how the user proved itself: "scram-sha-256". Empty: the server asked for nothing.
func (g *Greeting) Means() string { return g.means }

// Server is the version that the server tells.
func (g *Greeting) Server() string { return g.server }

// Hear takes the server's next message, which begins b. Used is 0 if it is not whole, or while Works.
func (g *Greeting) Hear(dst, b []byte) (out []byte, used int, d codec.Dialogue, err error) {
	g.works = false
	if g.secure == securityAsked {
		return dst, 1, nil, g.agrees(b[0])
	}
	switch b[0] {
	case 'R', 'S', 'K', 'N', 'E', 'Z', 'v':
	default:
		return dst, 0, nil, breach("the greeting has a message that begins with %q: is this a PostgreSQL server?", b[0])
	}
	if len(b) < headLength {
		return dst, 0, nil, nil
	}
	length := int64(binary.BigEndian.Uint32(b[1:])) - 4
	if length < 0 || length > codec.GreetingBytes {
		return dst, 0, nil, breach("%s of the greeting says that it has %d bytes", messageName(b[0]), length+4)
	}
	if int64(len(b)-headLength) < length {
		return dst, 0, nil, nil
	}
	used = headLength + int(length)
	body := b[headLength:used]
	switch b[0] {
	case 'R':
		if out, err = g.authenticate(dst, body); g.works {
			used = 0
		}
		return out, used, nil, err
	case 'S':
		if name, rest, _ := bytes.Cut(body, []byte{0}); string(name) == "server_version" {
			g.server = string(bytes.TrimRight(rest, "\x00"))
		}
	case 'E':
		return dst, used, nil, g.refused(body)
	case 'v':
		return dst, used, nil, breach("the server does not speak version 3.0 of the protocol")
	case 'K':
		if !g.admitted {
			return dst, used, nil, errOrder('K')
		}
		if len(body) == keyLength && !g.protocol.config.Leaves {
			g.backend.has, g.backend.direct = true, g.protocol.config.Direct
			copy(g.backend.key[:], body)
		}
	case 'Z':
		switch {
		case !g.admitted:
			return dst, used, nil, errOrder('Z')
		case string(body) != "I":
			return dst, used, nil, breach("ReadyForQuery says %q before the first statement", body)
		}
		c := g.protocol.Begin()
		c.backend = g.backend
		return dst, used, c, nil
	}
	return dst, used, nil, nil
}

func refusal(format string, values ...any) error {
	return &http1.Error{Kind: http1.KindAuth, Detail: fmt.Sprintf(format, values...)}
}

// The requests of Authentication.
const (
	authOk       = 0
	authClear    = 3
	authMD5      = 5
	authSASL     = 10
	authContinue = 11
	authFinal    = 12
)

// authenticate answers a request for a proof.
func (g *Greeting) authenticate(dst, b []byte) ([]byte, error) {
	c := &g.protocol.config
	if len(b) < 4 || g.admitted {
		return dst, errOrder('R')
	}
	asks, b := binary.BigEndian.Uint32(b), b[4:]
	switch asks {
	case authOk:
		if g.proves {
			return dst, refusal("the server ends SCRAM without its own proof")
		}
		g.admitted = true
		return dst, nil
	case authClear, authMD5, authSASL:
		if g.scram != nil {
			return dst, breach("the server asks for another proof in the middle of SCRAM")
		}
		if c.Password == "" {
			return dst, refusal("the server asks for a password: give password = secret(...) to sql.client")
		}
	}
	switch {
	case asks == authClear && g.secure != securityStands:
		return dst, refusal("the server asks for the password in clear, and there is no TLS: set scram-sha-256 in its pg_hba.conf, or write sslmode = \"verify-full\" in sql.client")
	case asks == authClear:
		g.means = "password"
		return appendMessage(dst, 'p', c.Password+"\x00"), nil
	case asks == authMD5 && len(b) == 4:
		g.means = "md5"
		return appendMessage(dst, 'p', "md5"+md5Of(md5Of(c.Password+c.User)+string(b))+"\x00"), nil
	case asks == authSASL:
		return g.beginSASL(dst, b)
	case asks == authContinue && g.proves:
		proof, done, err := g.scram.Final(nil, b)
		if g.works = !done && err == nil; g.works || err != nil {
			return dst, err
		}
		return appendMessage(dst, 'p', string(proof)), nil
	case asks == authFinal && g.proves:
		if err := g.scram.Verify(b); err != nil {
			return dst, err
		}
		g.proves = false
		return dst, nil
	}
	return dst, refusal("the server asks for proof %d, and there are scram-sha-256, md5 and password", asks)
}

// beginSASL chooses a mechanism of those that the server offers.
func (g *Greeting) beginSASL(dst, b []byte) ([]byte, error) {
	offered := strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
	name := scram.SHA256.Mechanism()
	binds := len(g.binding) > 0 && slices.Contains(offered, scram.SHA256.Plus())
	if !binds && !slices.Contains(offered, name) {
		return dst, refusal("the server offers %.80q, and not %s", offered, name)
	}
	if binds {
		name = scram.SHA256.Plus()
	}
	g.means = strings.ToLower(name)
	g.scram, g.proves = scram.New(scram.SHA256, "", g.protocol.config.Password, base64.RawURLEncoding.EncodeToString(g.random[:]), g.protocol.keys), true
	g.scram.Bind(g.binding, binds)
	first := g.scram.First(nil)
	body := append(append([]byte(name), 0), binary.BigEndian.AppendUint32(nil, uint32(len(first)))...)
	return appendMessage(dst, 'p', string(append(body, first...))), nil
}

func md5Of(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// refused makes an error of what the server tells instead of going on.
func (g *Greeting) refused(b []byte) error {
	t, err := readError(b, g.protocol.config.Password)
	if err != nil {
		return err
	}
	if g.secure != securityStands && t.code == "28000" && (strings.HasSuffix(t.message, "no encryption") || strings.HasSuffix(t.message, "SSL off")) {
		t.message += ": write sslmode = \"require\" in sql.client"
	}
	fault := t.fault("")
	if strings.HasPrefix(t.code, "28") {
		fault.Kind = http1.KindAuth
		fault.Detail = t.code + ": " + fault.Detail
	}
	return fault
}
