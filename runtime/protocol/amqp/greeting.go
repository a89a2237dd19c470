package amqp

import (
	"bytes"
	"strings"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// preamble is what a client says first.
const preamble = "AMQP\x00\x00\x09\x01"

// Greeting is what one connection says before its first operation: the mechanism that proves its user, the
// limits of both sides, the virtual host, and its channel, with the consumer if it has one.
type Greeting struct {
	protocol *Protocol
	stage    stage
	frameMax int
	channels uint16 // the greatest number of one
	blocked  bool   // the server takes no messages now
	said     about
}

// about is what a server tells of itself.
type about struct{ product, version string }

// stage is what the greeting waits for.
type stage uint8

const (
	stageStart stage = iota
	stageTune
	stageOpen
	stageChannel
	stageQos
	stageConsume
)

// Greet begins a connection.
func (p *Protocol) Greet() *Greeting { return &Greeting{protocol: p} }

// Begin implements codec.Greeting.
func (g *Greeting) Begin(dst []byte) []byte { return append(dst, preamble...) }

// Server is what the server tells of itself, and the bytes of a frame that both sides take.
func (g *Greeting) Server() (product, version string, frameMax int) {
	return g.said.product, g.said.version, g.frameMax
}

// Hear takes the server's next frame, which begins b. Used is 0 if it is not whole.
func (g *Greeting) Hear(dst, b []byte) (out []byte, used int, d codec.Dialogue, err error) {
	if version, is := bytes.CutPrefix(b, []byte("AMQP")); is && g.stage == stageStart {
		if len(version) < 4 {
			return dst, 0, nil, nil
		}
		return dst, 0, nil, &http1.Error{Kind: http1.KindProtocol, Detail: "the server speaks another version of AMQP: " + versionText(version) + ", and this is 0.9.1"}
	}
	if n := min(len(b), len("AMQP")); string(b[:n]) == "AMQP"[:n] && g.stage == stageStart {
		return dst, 0, nil, nil
	}
	var f frame
	if used, _, err = f.cut(b, frameGreeting-frameOver); used == 0 || err != nil {
		return dst, 0, nil, err
	}
	if f.kind == frameHeartbeat {
		return dst, used, nil, nil
	}
	if f.kind != frameMethod {
		return dst, used, nil, breach("the server sent content in its greeting")
	}
	var m call
	if err = m.read(&f); err != nil {
		return dst, used, nil, err
	}
	out, d, err = g.hear(dst, &m)
	return out, used, d, err
}

func versionText(b []byte) string {
	return strings.Join([]string{digit(b[1]), digit(b[2]), digit(b[3])}, ".")
}

func digit(b byte) string {
	if b > 9 {
		return "?"
	}
	return string('0' + b)
}

// wants is the method that each stage waits for.
func (s stage) wants() method {
	return [...]method{connectionStart, connectionTune, connectionOpenOK, channelOpenOK, basicQosOK, basicConsumeOK}[s]
}

// hear takes a method.
func (g *Greeting) hear(dst []byte, m *call) ([]byte, codec.Dialogue, error) {
	switch m.of {
	case connectionClose, channelClose:
		return dst, nil, g.refused(m)
	case connectionBlocked, connectionUnblocked:
		g.blocked = m.of == connectionBlocked
		return dst, nil, nil
	case g.stage.wants():
	case connectionSecure:
		return dst, nil, &http1.Error{Kind: http1.KindAuth, Detail: "the server asks for a second proof of the user, and PLAIN has one"}
	default:
		return dst, nil, breach("the server said %s in its greeting, in place of %s", m.name, shapeOf(g.stage.wants()).name)
	}
	c := g.protocol.config.Consumer
	switch g.stage {
	case stageStart:
		dst, err := g.start(dst, m)
		g.stage = stageTune
		return dst, nil, err
	case stageTune:
		dst, err := g.tune(dst, m)
		g.stage = stageOpen
		return dst, nil, err
	case stageOpen:
		dst = appendMethod(dst, channelOpen, nil)
		if c != nil {
			dst = appendMethod(dst, basicQos, []uint64{0, uint64(c.Prefetch), 0})
			dst = appendMethod(dst, basicConsume, []uint64{0, 0, bit(c.Auto), bit(c.Exclusive), 0}, c.Queue, tag)
		}
	case stageConsume:
		return dst, g.begin(), nil
	}
	if g.stage == stageChannel && c == nil {
		return dst, g.begin(), nil
	}
	g.stage++
	return dst, nil, nil
}

func bit(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// start answers what the server begins with.
func (g *Greeting) start(dst []byte, m *call) ([]byte, error) {
	if m.numbers[0] != 0 || m.numbers[1] != 9 {
		return dst, &http1.Error{Kind: http1.KindProtocol, Detail: "the server does not speak AMQP 0.9.1"}
	}
	all, ok := readTable(m.texts[0], nil, reads{all: true})
	if !ok {
		return dst, errTable
	}
	for _, f := range all {
		switch string(f.name) {
		case "product":
			g.said.product = string(f.value)
		case "version":
			g.said.version = string(f.value)
		}
	}
	name, proof := g.protocol.mechanism()
	offered := strings.Fields(string(m.texts[1]))
	for _, one := range offered {
		if one == name {
			return appendMethod(dst, connectionStartOK, nil, ourProperties, name, proof, "en_US"), nil
		}
	}
	return dst, &http1.Error{Kind: http1.KindAuth, Detail: "the server takes " + clip(strings.Join(offered, " "), g.protocol.secret()) + ", and not " + name + remedies[name]}
}

var remedies = map[string]string{"EXTERNAL": ": enable rabbitmq_auth_mechanism_ssl, and name EXTERNAL in auth_mechanisms"}

// ourProperties are what the client tells of itself. What it is capable of makes RabbitMQ say why it
// refuses a user, that it has blocked publishers, and that a queue is gone.
var ourProperties = string(appendProperties(nil))

func appendProperties(dst []byte) []byte {
	var able []Argument
	for _, name := range []string{"publisher_confirms", "basic.nack", "consumer_cancel_notify", "connection.blocked", "authentication_failure_close"} {
		able = append(able, Argument{name, true})
	}
	dst = appendTable(dst, []Argument{{"product", "hyperscale"}})
	dst = append(appendShort(dst, "capabilities"), 'F')
	return appendLong(dst, appendTable(nil, able))
}

// tune takes the limits of the server, and opens the virtual host.
func (g *Greeting) tune(dst []byte, m *call) ([]byte, error) {
	g.frameMax = frameMostOurs
	if theirs := m.numbers[1]; theirs > 0 {
		if theirs < frameLeast {
			return dst, breach("the server takes frames of %d bytes, and AMQP demands %d", theirs, frameLeast)
		}
		g.frameMax = int(min(theirs, frameMostOurs))
	}
	if g.channels = channelNumber; g.protocol.config.Trunk {
		if g.channels = channelsMost; m.numbers[0] > 0 {
			g.channels = uint16(min(m.numbers[0], channelsMost))
		}
	}
	dst = appendMethod(dst, connectionTuneOK, []uint64{uint64(g.channels), uint64(g.frameMax), 0}) // no heartbeats
	return appendMethod(dst, connectionOpen, nil, g.protocol.config.Host), nil
}

// refused is the error of a connection that the server does not take.
func (g *Greeting) refused(m *call) error {
	err := serverError(m, string(m.texts[0]), g.protocol.secret())
	if m.numbers[0] == codeRefused && m.of == connectionClose {
		err.Kind = http1.KindAuth
	}
	return err
}

func (g *Greeting) begin() *Conn {
	c := &Conn{most: g.protocol.most, frameMost: g.frameMax - frameOver}
	c.line, c.numbers = &c.own, g.channels
	if of := g.protocol.config.Consumer; of != nil {
		c.role = roleConsumes
		if of.Auto {
			c.role = roleConsumesAuto
		}
	}
	if g.blocked {
		c.channel.holds, c.paused = holdsBlocked, holdsBlocked
	}
	return c
}
