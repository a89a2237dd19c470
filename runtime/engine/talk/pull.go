package talk

import (
	"time"

	"hyperscale/core/workflow/session"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/nats"
)

// pulling greets for vu.nats.pull. The session is open when the server has said that the consumer is there.
type pulling struct {
	Subscribed
	account *measure.Account
	within  time.Duration
	asked   int64 // when the newest request was queued; 0: none was
}

var _ asker = (*pulling)(nil)

// asker is a Greeting whose session asks for what it receives, and settles it.
type asker interface {
	Greeting
	// ask queues a request for messages, unless one is under way.
	ask(d codec.Dialogue, now int64) (queued bool)
	// ended reports that what came says that a request has ended, and is no message.
	ended(kind codec.MessageKind) bool
	since() int64 // when the newest request was queued
	settle(d codec.Dialogue, m *session.Message, as session.Settlement) (queued bool)
	shift(by int64)
}

// withinGrace is how much longer a request is waited for than the server should keep it.
const withinGrace = int64(5 * time.Second)

// Begin asks for the consumer.
func (p *pulling) Begin(d codec.Dialogue, a *measure.Account) bool {
	p.account = a
	d.(*nats.Conn).Consult(a.Deliveries().Late(), a.Messages().Sent())
	return false
}

// Read returns a message with its place in the stream.
func (p *pulling) Read(d codec.Dialogue, kind codec.MessageKind, payload []byte) (m session.Message, opens bool) {
	if kind == nats.MessageStands {
		return m, true
	}
	m, _ = p.Subscribed.Read(d, kind, payload)
	o := d.(*nats.Conn).Outcome()
	if m.Deliveries, m.Sequence = o.Deliveries, o.Sequence; m.Deliveries > 1 {
		p.account.Deliveries().Consumed().Redelivered++
	}
	return m, false
}

func (p *pulling) ask(d codec.Dialogue, now int64) bool {
	c := d.(*nats.Conn)
	if p.asked > 0 && now-p.asked > int64(p.within)+withinGrace {
		c.Expire() // an old server, or one that has lost it, does not say that it has ended
	}
	if !c.Pull(p.account.Messages().Sent(), &p.account.Deliveries().Consumed().Pulls) {
		return false
	}
	p.asked = max(1, now)
	return true
}

func (p *pulling) ended(kind codec.MessageKind) bool { return kind == nats.MessageVoid }

func (p *pulling) since() int64 { return p.asked }

func (p *pulling) shift(by int64) { p.asked -= by }

func (p *pulling) settle(d codec.Dialogue, m *session.Message, as session.Settlement) bool {
	counts := p.account.Deliveries().Consumed()
	how, count := nats.Ack, &counts.Acks
	switch as.Word {
	case session.SettleNak:
		how, count = nats.Nak, &counts.Naks
	case session.SettleTerm:
		how, count = nats.Term, &counts.Terms
	case session.SettleProgress:
		return d.(*nats.Conn).Settle(m.ID, nats.Progress, 0, p.account.Messages().Sent())
	}
	return d.(*nats.Conn).Settle(m.ID, how, as.Delay, p.account.Messages().Sent(), count)
}

// Ask asks for messages where a session does so, unless some are to be received or a request is under way.
func (s *Session) Ask() (queued bool) {
	a, asks := s.greeting.(asker)
	if !asks || s.dialogue == nil || s.leaving || s.over || !a.ask(s.dialogue, s.stock.clock.Tick()) {
		return false
	}
	if s.stock.show != nil {
		s.stock.show("> ", []byte("pull"))
	}
	return true
}

// Settle queues what has become of a message. Not queued: nothing more can be sent.
func (s *Session) Settle(m *session.Message, as session.Settlement) (queued bool, err error) {
	if s.dialogue == nil || s.leaving || s.over {
		return false, nil
	}
	if d, ok := s.dialogue.(codec.Settler); ok {
		err = d.Settle(m.Tag, settlements[as.Word])
		if http1.KindOf(err) == http1.KindClosed {
			err = nil
		} else {
			queued = err == nil
		}
	} else if a, ok := s.greeting.(asker); ok {
		queued = a.settle(s.dialogue, m, as)
	}
	if queued && s.stock.show != nil {
		s.stock.show("> ", []byte([]string{"ack ", "nak ", "term ", "progress "}[as.Word]+m.ID))
	}
	return queued, err
}
