package redis

import (
	"bytes"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Greeting is what one connection says before its first operation: HELLO, AUTH, SELECT, READONLY. They go out
// together, and operations follow when all of them are answered.
type Greeting struct {
	protocol *Protocol
	heard    int // answers
	first    []byte
}

// Greets reports whether connections have something to say before their first operation.
func (p *Protocol) Greets() bool { return len(p.greeting) > 0 }

// Greet begins a connection that greets.
func (p *Protocol) Greet() *Greeting { return &Greeting{protocol: p} }

// Begin appends what the client says.
func (g *Greeting) Begin(dst []byte) []byte {
	for _, o := range g.protocol.greeting {
		dst = o.Append(dst, nil)
	}
	return dst
}

// Hear takes the server's next answer, which begins b. Used is 0 if it is not whole; then the same
// bytes come again, with more behind them. With the last answer it returns the connection. The
// kind of an error is auth if the server refuses the user.
func (g *Greeting) Hear(dst, b []byte) (out []byte, used int, d codec.Dialogue, err error) {
	p := g.protocol
	c := Conn{pool: p.pool, most: greetingMost}
	c.ask(asked{of: p.greeting[g.heard], total: 1, keeps: g.heard == 0}, 0, nil)
	var on reply
	on.of = &c
	used, broken := c.feed(b, &on)
	if broken != nil {
		if p.password != "" && bytes.Contains(b, []byte(p.password)) {
			broken = errRepeats
		}
		return dst, 0, nil, broken
	}
	if c.Open() > 0 {
		c.quiet()
		return dst, 0, nil, nil
	}
	if on.err != nil {
		return dst, used, nil, refused(on.err.Kind, on.err.Detail)
	}
	if g.heard == 0 {
		g.first = on.body
	}
	if g.heard++; g.heard < len(p.greeting) {
		return dst, used, nil, nil
	}
	if used < len(b) && b[used] != typePush { // it came before any operation went out
		return dst, used, nil, errUnasked
	}
	return dst, used, p.Begin(), nil
}

// First is the first command's answer as JSON: that of HELLO says who the server is.
func (g *Greeting) First() []byte { return g.first }

// Begin begins a connection behind its greeting.
func (p *Protocol) Begin() *Conn { return &Conn{pool: p.pool, most: p.answerMax} }

// reply keeps the answer of one command.
type reply struct {
	of   *Conn
	err  *http1.Error
	body []byte
}

// Message implements codec.Listener.
func (r *reply) Message(_ codec.MessageKind, body []byte) {
	r.body = bytes.Clone(body)
	r.err, _ = r.of.Outcome().Err.(*http1.Error)
}

// Pong implements codec.Listener: a greeting asks for none.
func (r *reply) Pong(uint64) {}

// Leaves implements codec.Listener: Redis says no goodbye.
func (r *reply) Leaves(uint16, string) {}
