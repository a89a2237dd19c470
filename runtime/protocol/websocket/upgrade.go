package websocket

import (
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Upgrade greets for one connection at a time: AppendFields, then Begin. One that has served a
// connection may serve the next, whose dialogue has the same memory.
type Upgrade struct {
	protocol *Protocol
	key      [keyLen]byte
	conn     Conn
}

var _ codec.Upgrade = (*Upgrade)(nil)

const (
	keyLen = 24
	// acceptGUID is the constant of RFC 6455, 1.3.
	acceptGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
)

// Upgrade returns the greeting of a new connection.
func (p *Protocol) Upgrade() *Upgrade { return &Upgrade{protocol: p} }

// AppendFields appends the request's fields. Random becomes the key.
func (u *Upgrade) AppendFields(dst []byte, random [16]byte) []byte {
	base64.StdEncoding.Encode(u.key[:], random[:])
	dst = append(dst, u.protocol.fields...)
	dst = append(dst, u.key[:]...)
	return append(dst, u.protocol.more...)
}

// accept is the answer to a key.
func accept(key []byte) string {
	var text [keyLen + len(acceptGUID)]byte
	copy(text[copy(text[:], key):], acceptGUID)
	sum := sha1.Sum(text[:])
	return base64.StdEncoding.EncodeToString(sum[:])
}

// Begin judges the answer and returns the dialogue, a *Conn.
func (u *Upgrade) Begin(status int, head codec.Fields, mask func() uint32) (codec.Dialogue, error) {
	if status != 101 {
		return nil, notUpgraded(status)
	}
	a := answerOf(head)
	if wrong := u.judge(&a); wrong != "" {
		return nil, &http1.Error{Kind: http1.KindProtocol, Detail: wrong}
	}
	chosen := extension{}
	if a.extensions > 0 {
		if u.protocol.compression == CompressionOff {
			return nil, &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf("the server chose the extension %.80q, and none was offered", a.extension)}
		}
		var wrong string
		if chosen, wrong = parseExtension(a.extension); wrong == "" && !chosen.fresh && u.protocol.compression == CompressionFresh {
			wrong = "the server keeps its compression context, 32 KiB a connection: write compression = \"takeover\" to allow it"
		}
		if wrong != "" {
			return nil, &http1.Error{Kind: http1.KindProtocol, Detail: wrong}
		}
	}
	u.conn.reset(u.protocol, mask, a.protocol, chosen)
	return &u.conn, nil
}

func notUpgraded(status int) error {
	if status >= 300 {
		return &http1.Error{Kind: http1.KindStatus, Detail: fmt.Sprintf("the server answered the upgrade with %d instead of 101", status)}
	}
	return &http1.Error{Kind: http1.KindProtocol, Detail: fmt.Sprintf("the server answered the upgrade with %d instead of 101: does this path speak WebSocket?", status)}
}

// answer holds what a head says of the upgrade.
type answer struct {
	upgrade, connection  bool
	accept, protocol     string
	extension            string
	accepts, protocols   int // how many fields
	extensions, upgrades int
}

func answerOf(head codec.Fields) (a answer) {
	for i := range head.Len() {
		name, value := head.At(i)
		text := string(value)
		switch {
		case strings.EqualFold(string(name), "Upgrade"):
			a.upgrades++
			a.upgrade = strings.EqualFold(text, "websocket")
		case strings.EqualFold(string(name), "Connection"):
			a.connection = a.connection || hasOption(text, "upgrade")
		case strings.EqualFold(string(name), "Sec-WebSocket-Accept"):
			a.accepts++
			a.accept = text
		case strings.EqualFold(string(name), "Sec-WebSocket-Protocol"):
			a.protocols++
			a.protocol = text
		case strings.EqualFold(string(name), "Sec-WebSocket-Extensions"):
			if strings.Trim(text, " \t,") != "" {
				a.extensions++
				a.extension = strings.TrimPrefix(a.extension+", "+text, ", ")
			}
		}
	}
	return a
}

// judge says what is wrong with an answer, without its extensions; "": nothing.
func (u *Upgrade) judge(a *answer) string {
	switch {
	case a.upgrades == 0:
		return "the answer has no field Upgrade: websocket"
	case !a.upgrade || a.upgrades > 1:
		return "the answer's field Upgrade is not websocket alone"
	case !a.connection:
		return "the answer has no field Connection: Upgrade"
	case a.accepts == 0:
		return "the answer has no field Sec-WebSocket-Accept"
	case a.accepts > 1 || a.accept != accept(u.key[:]):
		return "the answer's Sec-WebSocket-Accept is not that of our key: it answers another request"
	case a.protocols > 1:
		return "the answer chooses more than one protocol"
	case a.protocols == 1 && !slices.Contains(u.protocol.protocols, a.protocol):
		return fmt.Sprintf("the server chose the protocol %.80q, which was not offered", a.protocol)
	}
	return ""
}

// hasOption looks for an element of a list, whatever its case.
func hasOption(list, option string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.Trim(part, " \t"), option) {
			return true
		}
	}
	return false
}
