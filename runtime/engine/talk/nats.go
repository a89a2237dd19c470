package talk

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"time"
	"unicode/utf8"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/session"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/nats"
)

// letter is nats.request and nats.publish.
type letter struct {
	begins    *nats.Protocol
	operation *nats.Operation
	stamps    bool
}

var _ verb = (*letter)(nil)

func (l *letter) open() codec.Opening { return greetNATS(l.begins) }

func greetNATS(p *nats.Protocol) codec.Opening {
	var random nats.Random
	_, _ = rand.Read(random[:]) // it never fails
	return codec.Opening{Greeting: p.Greet(random)}
}

func (l *letter) say(x *Exchange, d codec.Dialogue) error {
	values := x.values
	if l.stamps {
		values = x.stamped()
	}
	if x.stock.show != nil {
		x.shows(l.operation.Show(nil, values))
	}
	counts := x.account.Deliveries()
	return d.(*nats.Conn).Operate(l.operation, nats.Order{Values: values, Keeps: x.keeps, Sent: x.account.Messages().Sent(), Late: counts.Late(), Errors: counts.Errors()})
}

func (l *letter) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	o := x.with.(*nats.Conn).Outcome()
	x.wrong, _ = o.Err.(*http1.Error)
	after := x.stock.clock.Now - x.said
	switch {
	case x.wrong != nil:
	case l.operation.Verb == nats.Stream:
		x.account.Deliveries().Acknowledged(after, o.Duplicate)
	case l.operation.Verb == nats.Request:
		x.account.Messages().Answered()
		x.account.Deliveries().Replied(after)
	}
	if x.keeps {
		x.head = o.Fields.Clone()
	}
	x.keep(payload)
	return true
}

func (l *letter) deaf() bool { return l.operation.Verb == nats.Publish }

func (l *letter) status() uint16 { return 200 }

func (l *letter) protocol() string { return "NATS" }

func (l *letter) left(uint16, string) error { return nil }

// nats prepares an operation, or says where a subscription goes.
func (p *Plan) nats(r *request.Request, w *workflow.Workflow, memory *Memory) error {
	to := r.NATS
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	b, err := memory.broker(to, w)
	if err != nil {
		return err
	}
	key := natsKey(to)
	if to.Verb >= request.NATSSubscribe {
		key = "session " + key
	} else {
		headers, all := to.Headers, r.Placeholders
		if to.Stamp {
			headers, all = stampedHead(headers, all)
		}
		m := nats.Message{
			Verb:    map[request.NATSVerb]nats.Verb{request.NATSPublish: nats.Publish, request.NATSFlush: nats.Flush, request.NATSStream: nats.Stream, request.NATSRequest: nats.Request}[to.Verb],
			Subject: natsText(to.Subject, all), Data: natsText(to.Data, all),
		}
		for _, h := range headers {
			m.Header = append(m.Header, nats.Field{Name: h.Name, Value: natsText(h.Value, all)})
		}
		p.verb = &letter{begins: b.protocol, operation: nats.Compile(m), stamps: to.Stamp}
	}
	p.Host = pool.TalkHost{Key: key, Secure: to.First, TLS: b.tls, Resume: b.resume}
	if to.Verb < request.NATSSubscribe {
		p.trunk(to.Target)
	}
	p.Shown = http1.Call{Method: r.Method, Scheme: to.Target.Scheme, Host: to.Target.Host, Port: to.Target.Port}
	return nil
}

// natsText cuts a text where placeholders stand in it.
func natsText(text string, all []request.Placeholder) (t nats.Text) {
	for _, part := range sqlArgument(text, all) {
		t = append(t, nats.Part{Text: part.Text, Value: part.Value})
	}
	return t
}

// broker is what begins the connections of a target.
type broker struct {
	protocol *nats.Protocol
	tls      *tls.Config // nil: the workflow's, where they have TLS
	resume   bool        // a user's connections take up its TLS session
}

// natsKey tells apart connections that begin in different ways.
func natsKey(to *request.NATS) string {
	return fmt.Sprintf("nats %s %t %q %q %q %q %q %q %s", to.Target.URL(), to.First, to.User, to.Password, to.Token, to.Seed, to.Credentials, to.Inbox, to.Secure.Key)
}

// broker returns what begins the connections of a target.
func (m *Memory) broker(to *request.NATS, w *workflow.Workflow) (*broker, error) {
	config := nats.Config{
		User: to.User, Password: to.Password, Token: to.Token, Seed: to.Seed, Credentials: to.Credentials,
		Inbox: to.Inbox, TLS: to.Target.Secure, First: to.First, MessageMax: w.HTTP.MaxBody,
	}
	key := natsKey(to)
	if to.Verb == request.NATSSubscribe {
		config.Subscription = &nats.Subscription{Subject: to.Subject, Queue: to.Queue}
		key = fmt.Sprintf("%s %q %q", key, to.Subject, to.Queue)
	}
	if c := to.Pull; c != nil {
		config.Consumer = &nats.Consumer{Stream: c.Stream, Name: c.Name, Batch: c.Batch, Within: c.Within}
		key = fmt.Sprintf("%s pull %q %q %d %d", key, c.Stream, c.Name, c.Batch, c.Within)
	}
	b := m.brokers[key]
	if b != nil {
		return b, nil
	}
	if m.brokers == nil || len(m.brokers) >= protocolsMax {
		m.brokers = map[string]*broker{}
	}
	b = new(broker)
	var err error
	if b.protocol, err = nats.New(config); err != nil {
		return nil, err
	}
	if b.tls, b.resume, err = securing(&to.Secure, &w.HTTP.TLS); err != nil {
		return nil, err
	}
	m.brokers[key] = b
	return b, nil
}

// Subscribed greets for NATS.
type Subscribed struct{ protocol *nats.Protocol }

var _ Greeting = Subscribed{}

// NewSubscribed returns the greeting of a request.
func (m *Memory) NewSubscribed(r *request.Request, w *workflow.Workflow) (Greeting, error) {
	b, err := m.broker(r.NATS, w)
	switch {
	case err != nil:
		return nil, err
	case r.NATS.Pull != nil:
		return &pulling{Subscribed: Subscribed{b.protocol}, within: r.NATS.Pull.Within}, nil
	}
	return Subscribed{b.protocol}, nil
}

// Open implements Greeting, as the methods below do.
func (s Subscribed) Open() codec.Opening       { return greetNATS(s.protocol) }
func (s Subscribed) Left(uint16, string) error { return nil }
func (s Subscribed) Status() uint16            { return 200 }

// Begin implements Greeting: the greeting has subscribed.
func (Subscribed) Begin(codec.Dialogue, *measure.Account) bool { return true }

// Leave implements Greeting.
func (Subscribed) Leave(d codec.Dialogue, code uint16) { d.Leave(code, "") }

// Read implements Greeting: a message with what stands around its payload.
func (Subscribed) Read(d codec.Dialogue, _ codec.MessageKind, payload []byte) (m session.Message, opens bool) {
	o := d.(*nats.Conn).Outcome()
	m = session.Message{Data: bytes.Clone(payload), Binary: !utf8.Valid(payload), Type: string(o.Subject), ID: string(o.Reply)}
	for i := range o.Fields.Len() {
		name, value := o.Fields.At(i)
		m.Headers = append(m.Headers, builtin.Pair{Name: string(name), Value: string(value)})
	}
	return m, false
}

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
