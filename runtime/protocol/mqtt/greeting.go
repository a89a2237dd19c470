package mqtt

import (
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Greeting is what one connection says before its first operation: CONNECT, and the server's CONNACK.
type Greeting struct {
	protocol *Protocol
	client   string
	claim    *Claim // nil: nothing watches the identifier
	will     *Will  // nil: it has none
	resumed  bool
	limits   limits
}

var (
	_ codec.Greeting = (*Greeting)(nil)
	_ codec.Dropped  = (*Greeting)(nil)
)

// Greet begins a connection of a client identifier, which it frees when it ends.
func (p *Protocol) Greet(client string, c *Claim) *Greeting {
	return &Greeting{protocol: p, client: client, claim: c}
}

// Begin says who the client is.
func (g *Greeting) Begin(dst []byte) []byte { return g.protocol.appendConnect(dst, g.client, g.will) }

// Leaves gives the connection a will, which Check has taken.
func (g *Greeting) Leaves(w *Will) *Greeting {
	g.will = w
	return g
}

// Drop implements codec.Dropped: there will be no dialogue.
func (g *Greeting) Drop() { g.claim.free() }

// Server is what the server's CONNACK tells.
func (g *Greeting) Server() (packetMost uint32, qosMost uint8, keepAlive uint16, resumed bool) {
	return g.limits.packetMost, g.limits.qosMost, g.limits.keepAlive, g.resumed
}

// Hear takes the server's CONNACK, which begins b. Used is 0 if it is not whole.
func (g *Greeting) Hear(dst, b []byte) (out []byte, used int, d codec.Dialogue, err error) {
	if len(b) > 0 && b[0] != byte(packetConnack)<<4 {
		return dst, 0, nil, errNoServer
	}
	p, used, head := readHead(b)
	switch {
	case head != nil:
		return dst, 0, nil, head
	case used > 0 && (p.size < 2 || p.size > controlMost || g.protocol.config.Version != Version5 && p.size != 2):
		return dst, 0, nil, errConnack
	case used == 0 || len(b) < used+p.size:
		return dst, 0, nil, nil
	}
	p.body = b[used : used+p.size]
	if err := g.answered(p.body); err != nil {
		return dst, 0, nil, err
	}
	c := &Conn{
		version: g.protocol.config.Version, most: g.protocol.most, limits: g.limits,
		subscription: g.protocol.config.Subscription, resumes: g.protocol.config.Resumes, claim: g.claim,
	}
	return dst, used + p.size, c, nil
}

// answered judges a CONNACK.
func (g *Greeting) answered(b []byte) *http1.Error {
	flags, code := b[0], b[1]
	five := g.protocol.config.Version == Version5
	var p properties
	var err *http1.Error
	switch {
	case flags > 1:
		return errConnack
	case !five || len(b) == 2: // a server of version 3 answers so whatever the client says
		p.receive, p.qosMost = 65535, 2
		if code >= 0x80 && !five {
			return errConnack
		}
	default:
		var rest []byte
		if p, rest, err = cutProperties(b[2:], false); err != nil {
			return err
		}
		if len(rest) > 0 {
			return errConnack
		}
	}
	switch {
	case code != 0:
		return refusal(code, string(p.reason), g.protocol.config.Password)
	case five && len(b) == 2:
		return errConnack
	case flags == 1 && !g.protocol.config.Resumes:
		return errResumed
	}
	g.resumed = flags == 1
	if g.limits = p.limits; !g.limits.told {
		g.limits.keepAlive = g.protocol.config.KeepAlive
	}
	return nil
}
