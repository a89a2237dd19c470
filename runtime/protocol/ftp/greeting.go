package ftp

import (
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/reply"
)

// Greeting is what one connection says before its first operation: TLS, who the user is, that data
// connections are protected, and that data is binary.
type Greeting struct {
	protocol *Protocol
	stage    stage
	banner   string
	in       reply.Reader
}

// stage is what the greeting waits for.
type stage uint8

const (
	stageBanner stage = iota
	stageTLS          // the answer to AUTH TLS
	stageBegins       // TLS
	stageUser
	stagePassword
	stageBuffer  // the answer to PBSZ
	stageProtect // the answer to PROT
	stageBinary  // the answer to TYPE
)

// says is the command whose answer each stage waits for.
func (s stage) says() string {
	return [...]string{"greeting", "AUTH TLS", "", "USER", "PASS", "PBSZ", "PROT", "TYPE I"}[s]
}

// Greet begins a connection.
func (p *Protocol) Greet() *Greeting { return &Greeting{protocol: p, in: p.reader()} }

// Begin implements codec.Greeting: the server speaks first.
func (g *Greeting) Begin(dst []byte) []byte { return dst }

// Banner is what the server says first.
func (g *Greeting) Banner() string { return g.banner }

// Secures implements codec.Securer.
func (g *Greeting) Secures() bool { return g.stage == stageBegins }

// Secured implements codec.Securer.
func (g *Greeting) Secured(dst, _ []byte) []byte {
	g.stage = stageUser
	return g.command(dst, "USER ", g.protocol.config.User)
}

func (g *Greeting) command(dst []byte, word, argument string) []byte {
	return append(append(append(dst, word...), argument...), "\r\n"...)
}

// Hear takes the server's next reply, which begins b. Used is 0 if it is not whole.
func (g *Greeting) Hear(dst, b []byte) (out []byte, used int, d codec.Dialogue, err error) {
	one, used, err := g.in.Cut(b)
	if err != nil || used == 0 {
		return dst, 0, nil, err
	}
	out, d, err = g.hear(dst, &one)
	return out, used, d, err
}

func (g *Greeting) hear(dst []byte, r *reply.Reply) ([]byte, codec.Dialogue, error) {
	p := g.protocol
	switch {
	case g.stage == stageBanner && r.Code == 120: // it is ready in some minutes
		return dst, nil, nil
	case g.stage == stageUser && r.Code == 331:
		g.stage = stagePassword
		return g.command(dst, "PASS ", p.config.Password), nil, nil
	case r.Code == 332:
		return dst, nil, &http1.Error{Kind: http1.KindAuth, Detail: "the server asks for an account (ACCT) beside user and password, and none can be given"}
	case r.Code >= 400 || !r.Positive():
		return dst, nil, g.refused(r)
	}
	switch g.stage {
	case stageBanner:
		if g.banner = reply.Clip(r.Text()); p.config.Explicit {
			g.stage = stageTLS
			return append(dst, "AUTH TLS\r\n"...), nil, nil
		}
		g.stage = stageUser
		return g.command(dst, "USER ", p.config.User), nil, nil
	case stageTLS:
		g.stage = stageBegins
		return dst, nil, nil
	case stageUser, stagePassword:
		if p.secures() {
			g.stage = stageBuffer
			return append(dst, "PBSZ 0\r\n"...), nil, nil
		}
	case stageBuffer:
		g.stage = stageProtect
		return append(dst, "PROT P\r\n"...), nil, nil
	case stageBinary:
		return dst, &Conn{protocol: p, in: p.reader()}, nil
	}
	g.stage = stageBinary
	return append(dst, "TYPE I\r\n"...), nil, nil
}

// refused is the error of a reply that ends the greeting.
func (g *Greeting) refused(r *reply.Reply) error {
	asked := g.stage.says()
	if r.Code < 400 {
		return r.Unexpected(asked)
	}
	err := r.Refused(asked)
	switch {
	case r.Code == 530 && (g.stage == stageUser || g.stage == stagePassword):
		err.Kind = http1.KindAuth
	case g.stage == stageTLS && r.Code/100 == 5:
		err.Kind = http1.KindTLS
		err.Detail += ": turn TLS on there, or leave tls out"
	case g.stage == stageBuffer || g.stage == stageProtect:
		err.Kind = http1.KindTLS
		err.Detail += ": the server does not protect data"
	}
	return err
}
