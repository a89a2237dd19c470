package http3

import (
	"crypto/tls"

	"github.com/quic-go/quic-go"

	"hyperscale/runtime/protocol/http1"
)

// Entry is one behaviour and the conclusion that a client must draw.
type Entry struct {
	Name   string
	Server Behaviour
	Want   Want
	Body   int // bytes of the hostile request's body
}

// Behaviour is the server's script. The zero value behaves well.
type Behaviour struct {
	// Then answers the first request. It is nil: as all others.
	Then func(x *Exchange)
	// Opens is what the server's control stream says on the first connection, in place of SETTINGS.
	Opens func(c *quic.Conn)
	// Left gets the code with which the client ends a connection; nil: nothing does.
	Left func(code uint64)
	// Early answers before the request's body is read.
	Early bool
	// Race lets streams overtake each other: a client that reads them in another order is right, too.
	Race  bool
	Lossy int // one datagram of so many, and its order, gets lost in each direction; 0: none
	TLS   func(*tls.Config)
	QUIC  func(*quic.Config, *quic.Transport)
	// Port is what is on the port in place of QUIC.
	Port Port
}

// Port says what is on the server's port.
type Port uint8

// The choices.
const (
	PortQUIC    Port = iota
	PortNothing      // no process listens
	PortSilent       // datagrams are read, and none is answered
	PortGarbage      // each datagram is answered by one that is no QUIC
)

// Want is the client's required conclusion.
type Want struct {
	Kind http1.Kind // KindNone: the answer is good
	Body int        // bytes of the answer
	Same bool       // the next request comes on the same connection
	Late bool       // it needs the whole deadline
	Once bool       // nothing can be asked afterwards
}

// Exchange is the hostile request.
type Exchange struct {
	*quic.Stream
	Conn *quic.Conn
}

// Frame returns a frame of a short payload.
func Frame(kind byte, payload string) string {
	return string([]byte{kind, 0x40 | byte(len(payload)>>8), byte(len(payload))}) + payload
}

// Head is the HEADERS frame of a status of the static table, 200: with other fields behind it.
func Head(fields ...string) string {
	block := "\x00\x00\xd9"
	for i := 0; i < len(fields); i += 2 {
		name, value := fields[i], fields[i+1]
		if len(name) < 7 {
			block += string([]byte{0x20 | byte(len(name))}) + name
		} else {
			block += string([]byte{0x27, byte(len(name) - 7)}) + name
		}
		block += string([]byte{byte(len(value))}) + value
	}
	return Frame(1, block)
}

// Say writes bytes, and leaves the stream open.
func (x *Exchange) Say(text string) { _, _ = x.Write([]byte(text)) }

// End writes bytes, and ends the stream.
func (x *Exchange) End(text string) {
	x.Say(text)
	_ = x.Stream.Close()
}
