package mysql

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/redact"
)

// The capabilities that the codec knows.
const (
	canLongPassword = 1 << 0
	canLongFlag     = 1 << 2
	canDatabase     = 1 << 3
	canProtocol41   = 1 << 9
	canTLS          = 1 << 11
	canTransactions = 1 << 13
	canSecure       = 1 << 15
	canSeveral      = 1 << 16
	canResults      = 1 << 17
	canTypedResults = 1 << 18
	canPlugins      = 1 << 19
	canAttributes   = 1 << 20
	canLongProof    = 1 << 21
	canBrief        = 1 << 24

	canNeeded = canProtocol41 | canSecure
	canWished = canLongPassword | canLongFlag | canTransactions | canResults | canTypedResults | canPlugins | canAttributes | canLongProof | canBrief
)

const (
	version10   = 10
	charsetUTF8 = 45 // utf8mb4_general_ci, which MySQL and MariaDB both know
	saltLength  = 20
)

// Greeting is what one connection says before its first operation: who it is, and the proof.
type Greeting struct {
	protocol *Protocol
	number   byte   // of the next packet
	met      bool   // the server has said who it is
	can      uint32 // what both sides can
	plugin   string // of the proof under way
	salt     []byte
	proof    []byte // that introduces the user
	secure   security
	switched bool   // the server has asked for another plugin
	admitted bool   // the server takes the proof, and says OK next
	server   string // its version
}

// security is how far TLS is.
type security uint8

const (
	securityNone   security = iota // in clear, or not begun
	securityBegins                 // it is asked for, and begins
	securityStands
)

var (
	_ codec.Greeting = (*Greeting)(nil)
	_ codec.Securer  = (*Greeting)(nil)
)

// Greet begins a connection.
func (p *Protocol) Greet() *Greeting { return &Greeting{protocol: p} }

// Begin appends nothing: the server begins.
func (g *Greeting) Begin(dst []byte) []byte { return dst }

// Server is the version that the server tells, and Plugin how the password was proved.
func (g *Greeting) Server() string { return g.server }

// Plugin is how the password was proved.
func (g *Greeting) Plugin() string { return g.plugin }

// Secures implements codec.Securer.
func (g *Greeting) Secures() bool { return g.secure == securityBegins }

// Secured implements codec.Securer.
func (g *Greeting) Secured(dst, _ []byte) []byte {
	g.secure = securityStands
	return g.introduce(dst)
}

// Hear takes the server's next packet, which begins b. Used is 0 if it is not whole.
func (g *Greeting) Hear(dst, b []byte) (out []byte, used int, d codec.Dialogue, err error) {
	const question = "is this a MySQL server?"
	if len(b) < headLength {
		return dst, 0, nil, nil
	}
	length := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
	switch {
	case length > codec.GreetingBytes-headLength || length == 0:
		return dst, 0, nil, breach("a packet of the greeting says that it has %d bytes: %s", length, question)
	case b[3] != g.number:
		return dst, 0, nil, breach("a packet of the greeting has the number %d, and %d is next: %s", b[3], g.number, question)
	case len(b) < headLength+length:
		return dst, 0, nil, nil
	}
	used = headLength + length
	body := b[headLength:used]
	g.number = b[3] + 1
	switch {
	case body[0] == headError:
		return dst, used, nil, g.refused(body)
	case !g.met:
		g.met = true
		out, err = g.meet(dst, body)
	case body[0] == headOK:
		if _, ok := readOK(body[1:]); !ok {
			return dst, used, nil, breach("an OK is not whole")
		}
		return dst, used, g.protocol.Begin(g.can&canBrief != 0), nil
	case g.admitted:
		return dst, used, nil, breach("the server takes the proof, and does not say OK")
	case body[0] == headEnd:
		out, err = g.change(dst, body[1:])
	case body[0] == headMore:
		out, err = g.more(dst, body[1:])
	default:
		return dst, used, nil, breach("a packet of the greeting begins with %d", body[0])
	}
	return out, used, nil, err
}

const versionMost = 256 // bytes of a version that are kept

// meet takes who the server is, and says who the client is.
func (g *Greeting) meet(dst, b []byte) ([]byte, error) {
	if b[0] != version10 {
		return dst, breach("the server speaks version %d of the protocol, and 10 is what there is: is this a MySQL server?", b[0])
	}
	const fixed = 4 + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 10 // thread, salt, filler, capabilities, charset, status, capabilities, length, filler
	version, b, whole := bytes.Cut(b[1:], []byte{0})
	if !whole || len(b) < fixed {
		return dst, breach("the server's greeting is not whole")
	}
	g.server = strings.ToValidUTF8(redact.Excerpt(string(version), versionMost), "\uFFFD")
	g.salt = append(g.salt, b[4:12]...)
	can := uint32(binary.LittleEndian.Uint16(b[13:])) | uint32(binary.LittleEndian.Uint16(b[18:]))<<16
	if can&canNeeded != canNeeded {
		return dst, breach("the server is older than MySQL 4.1")
	}
	rest := b[fixed:]
	if len(rest) < saltLength-8 {
		return dst, breach("the server's greeting has a salt of %d bytes", 8+len(rest))
	}
	g.salt = append(g.salt, rest[:saltLength-8]...)
	g.plugin = pluginNative
	if can&canPlugins != 0 {
		_, name, _ := bytes.Cut(rest[saltLength-8:], []byte{0})
		name, _, _ = bytes.Cut(name, []byte{0})
		g.plugin = string(name)
	}
	c := &g.protocol.config
	wish := uint32(canNeeded | canWished)
	if c.Several {
		wish |= canSeveral
	}
	if c.Database != "" {
		wish |= canDatabase
	}
	g.can = wish & can
	if g.can&canDatabase == 0 && c.Database != "" {
		return dst, breach("the server takes no database")
	}
	if !introduces(g.plugin) { // the server will ask for the one of the user
		g.plugin = pluginNative
	}
	var err error
	if g.proof, err = g.prove(); err != nil {
		return dst, err
	}
	switch {
	case !c.TLS:
		return g.introduce(dst), nil
	case can&canTLS == 0:
		return dst, &http1.Error{Kind: http1.KindTLS, Detail: "the server offers no TLS: give it a certificate by ssl_cert and ssl_key, or write sslmode = \"disable\" in sql.client"}
	}
	g.can |= canTLS
	g.secure = securityBegins
	start := len(dst)
	return g.seal(g.head(begin(dst)), start), nil
}

// head appends what a question for TLS and an introduction begin with.
func (g *Greeting) head(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, g.can)
	dst = binary.LittleEndian.AppendUint32(dst, 1<<30) // bytes of a packet
	dst = append(dst, charsetUTF8)
	return append(dst, make([]byte, 23)...)
}

// introduce says who the client is, with the proof that the server asks for by itself.
func (g *Greeting) introduce(dst []byte) []byte {
	c := &g.protocol.config
	proof := g.proof
	start := len(dst)
	dst = g.head(begin(dst))
	dst = append(append(dst, c.User...), 0)
	if g.can&canLongProof != 0 {
		dst = appendLength(dst, len(proof))
	} else {
		dst = append(dst, byte(len(proof)))
	}
	dst = append(dst, proof...)
	if c.Database != "" {
		dst = append(append(dst, c.Database...), 0)
	}
	if g.can&canPlugins != 0 {
		dst = append(append(dst, g.plugin...), 0)
	}
	if g.can&canAttributes != 0 {
		dst = append(dst, byte(len(attributes)))
		dst = append(dst, attributes...)
	}
	return g.seal(dst, start)
}

// attributes are what the server's tables show of a connection.
const attributes = "\x0c_client_name\x0ahyperscale\x0cprogram_name\x0ahyperscale"

func (g *Greeting) seal(dst []byte, start int) []byte {
	dst = seal(dst, start, g.number)
	g.number++
	return dst
}

// answer appends a packet.
func (g *Greeting) answer(dst, b []byte) []byte {
	start := len(dst)
	return g.seal(append(begin(dst), b...), start)
}

// change takes another plugin, with a salt of its own.
func (g *Greeting) change(dst, b []byte) ([]byte, error) {
	if g.switched {
		return dst, breach("the server asks for another proof again and again")
	}
	g.switched = true
	name, salt, whole := bytes.Cut(b, []byte{0})
	if !whole {
		return dst, refusal("the server asks for the proof of MySQL 3, and there are %s", plugins)
	}
	if g.plugin = string(name); !known(g.plugin) {
		return dst, refusal("the server asks for the proof %.80q, and there are %s", g.plugin, plugins)
	}
	if len(salt) != saltEd25519 || g.plugin != pluginEd25519 { // whose last byte may be 0
		salt = bytes.TrimSuffix(salt, []byte{0})
	}
	g.salt = append(g.salt[:0], salt...)
	proof, err := g.prove()
	if err != nil {
		return dst, err
	}
	return g.answer(dst, proof), nil
}

// refused makes an error of what the server tells instead of going on.
func (g *Greeting) refused(b []byte) error {
	t, err := readError(b, g.protocol.config.Password)
	if err != nil {
		return err
	}
	fault := t.fault()
	if t.state == "28000" {
		fault.Kind = http1.KindAuth
		fault.Detail = fmt.Sprintf("%d: %s", t.number, fault.Detail)
	}
	return fault
}

func refusal(format string, values ...any) error {
	return &http1.Error{Kind: http1.KindAuth, Detail: fmt.Sprintf(format, values...)}
}
