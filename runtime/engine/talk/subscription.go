package talk

import (
	"bytes"

	"hyperscale/core/workflow/session"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/redis"
	"hyperscale/runtime/protocol/redis/pubsub"
)

// subscription greets for vu.redis.subscribe: behind the greeting of every connection to the server, the
// session is open when the server has confirmed each name.
type subscription struct {
	greets     *redis.Protocol
	names      *pubsub.Names
	messageMax int64
}

var _ Greeting = (*subscription)(nil)

// newSubscription reads the commands of a request that subscribes.
func newSubscription(commands [][]string, greets *redis.Protocol, messageMax int64) *subscription {
	of := map[string][]string{}
	for _, c := range commands {
		of[c[0]] = c[1:]
	}
	return &subscription{greets, pubsub.NewNames(of["SUBSCRIBE"], of["PSUBSCRIBE"], of["SSUBSCRIBE"]), messageMax}
}

// Open implements Greeting, as the methods below do.
func (s *subscription) Open() codec.Opening {
	if s.greets.Greets() {
		return codec.Opening{Greeting: &subscribed{s.greets.Greet(), s}}
	}
	return codec.Opening{Dialogue: s.begin()}
}

func (s *subscription) begin() *pubsub.Conn { return pubsub.New(s.names, s.messageMax) }

// subscribed is the greeting of a connection that will subscribe.
type subscribed struct {
	*redis.Greeting
	of *subscription
}

// Hear implements codec.Greeting.
func (g *subscribed) Hear(dst, b []byte) (out []byte, used int, d codec.Dialogue, err error) {
	if out, used, d, err = g.Greeting.Hear(dst, b); d != nil {
		d = g.of.begin()
	}
	return out, used, d, err
}

// Begin subscribes.
func (s *subscription) Begin(d codec.Dialogue, a *measure.Account) bool {
	d.(*pubsub.Conn).Subscribe(a.Commands().Sent())
	return false
}

// Read returns a message with its channel.
func (s *subscription) Read(d codec.Dialogue, kind codec.MessageKind, payload []byte) (m session.Message, opens bool) {
	if kind == pubsub.MessageStands {
		return m, true
	}
	from := d.(*pubsub.Conn).From()
	return session.Message{Data: bytes.Clone(payload), Binary: kind == codec.MessageBinary, Channel: from.Channel, Pattern: from.Pattern}, false
}

// Leave unsubscribes: the server confirms that, which ends the session.
func (s *subscription) Leave(d codec.Dialogue, _ uint16) { d.(*pubsub.Conn).Unsubscribe() }

// Left is orderly: only what was asked for ends a subscription so.
func (s *subscription) Left(uint16, string) error { return nil }

// Status is that of every answer of Redis which is no error.
func (s *subscription) Status() uint16 { return 200 }

// shows shows the commands that a dialogue has queued, if anything does and they are Redis's.
func (s *Session) shows(d codec.Dialogue) {
	if c, ok := d.(*pubsub.Conn); ok && s.stock.show != nil && len(c.Output()) > 0 {
		s.stock.show("> ", redis.Describe(nil, c.Output(), true))
	}
}
