package smtp

import (
	"bytes"
	"fmt"
	"strings"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/reply"
)

// Greeting is what one connection says before its first message: who the client is, TLS, and what proves
// its user.
type Greeting struct {
	protocol *Protocol
	stage    stage
	secured  bool
	rounds   int // of what proves the user
	said     About
	in       reply.Reader
}

// About is what a server tells of itself.
type About struct {
	Banner     string   // the text behind 220
	Extensions []string // in its order, behind TLS if there is some
	pipelining bool
	startTLS   bool
	mechanisms []string
}

// stage is what the greeting waits for.
type stage uint8

const (
	stageBanner stage = iota
	stageHello        // the answer to EHLO
	stageOlder        // the answer to HELO
	stageTLS          // the answer to STARTTLS
	stageBegins       // TLS
	stageProof        // the answer to AUTH
)

// Greet begins a connection.
func (p *Protocol) Greet() *Greeting { return &Greeting{protocol: p, in: p.reader()} }

// Begin implements codec.Greeting: the server speaks first.
func (g *Greeting) Begin(dst []byte) []byte { return dst }

// About is what the server has told of itself.
func (g *Greeting) About() *About { return &g.said }

// Secures implements codec.Securer.
func (g *Greeting) Secures() bool { return g.stage == stageBegins }

// Secured implements codec.Securer: what the server said in clear is forgotten.
func (g *Greeting) Secured(dst, _ []byte) []byte {
	g.secured = true
	return g.hello(dst)
}

// hello asks for the server's extensions.
func (g *Greeting) hello(dst []byte) []byte {
	g.stage, g.said = stageHello, About{Banner: g.said.Banner}
	return fmt.Appendf(dst, "EHLO %s\r\n", g.protocol.config.Hello)
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
	c := &g.protocol.config
	switch g.stage {
	case stageBanner:
		if r.Code != 220 {
			return dst, nil, g.refused(r, "greeting")
		}
		g.said.Banner = reply.Clip(r.Text())
		return g.hello(dst), nil, nil
	case stageHello:
		if r.Code/100 == 5 && !c.StartTLS && c.Mechanism == MechanismNone { // a server from before extensions
			g.stage = stageOlder
			return fmt.Appendf(dst, "HELO %s\r\n", c.Hello), nil, nil
		}
		if r.Code != 250 {
			return dst, nil, g.refused(r, "EHLO")
		}
		g.said.read(r)
		return g.proceed(dst)
	case stageOlder:
		if r.Code != 250 {
			return dst, nil, g.refused(r, "HELO")
		}
		return dst, g.begin(), nil
	case stageTLS:
		if r.Code != 220 {
			return dst, nil, g.refused(r, "STARTTLS")
		}
		g.stage = stageBegins
		return dst, nil, nil
	}
	dst, proved, err := g.proves(dst, r)
	if err != nil || !proved {
		return dst, nil, err
	}
	return dst, g.begin(), nil
}

// proceed says what follows the server's extensions.
func (g *Greeting) proceed(dst []byte) ([]byte, codec.Dialogue, error) {
	c := &g.protocol.config
	switch {
	case c.StartTLS && !g.secured && !g.said.startTLS:
		return dst, nil, &http1.Error{Kind: http1.KindTLS, Detail: "the server does not offer STARTTLS: turn it on there, or write smtps:// or starttls = \"never\" in smtp.client"}
	case c.StartTLS && !g.secured:
		g.stage = stageTLS
		return append(dst, "STARTTLS\r\n"...), nil, nil
	case c.Mechanism != MechanismNone:
		dst, err := g.prove(dst)
		return dst, nil, err
	}
	return dst, g.begin(), nil
}

// begin begins the connection behind its greeting.
func (g *Greeting) begin() *Conn {
	return &Conn{protocol: g.protocol, in: g.protocol.reader(), pipelines: g.said.pipelining}
}

// read takes the extensions of a server.
func (a *About) read(r *reply.Reply) {
	first := true
	for line := range r.Lines() {
		if first { // its name
			first = false
			continue
		}
		a.Extensions = append(a.Extensions, reply.Clip(line))
		word, rest, _ := strings.Cut(string(bytes.ToUpper(line)), " ")
		switch {
		case word == "PIPELINING":
			a.pipelining = true
		case word == "STARTTLS":
			a.startTLS = true
		case word == "AUTH":
			a.mechanisms = strings.Fields(rest)
		case strings.HasPrefix(word, "AUTH=") && a.mechanisms == nil: // from before RFC 4954
			a.mechanisms = strings.Fields(word[len("AUTH="):] + " " + rest)
		}
	}
}

// refused is the error of a reply that ends the greeting.
func (g *Greeting) refused(r *reply.Reply, asked string) error {
	if r.Code < 400 {
		return r.Unexpected(asked)
	}
	return r.Refused(asked)
}
