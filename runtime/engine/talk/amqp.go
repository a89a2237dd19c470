package talk

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/session"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/amqp"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// errand is amqp.publish, amqp.get and vu.amqp.declare.
type errand struct {
	begins    *amqp.Protocol
	operation *amqp.Operation
	does      request.AMQPVerb
	stamps    bool
}

var _ verb = (*errand)(nil)

func (e *errand) open() codec.Opening { return codec.Opening{Greeting: e.begins.Greet()} }

func (e *errand) say(x *Exchange, d codec.Dialogue) error {
	values := x.values
	if e.stamps {
		values = x.stamped()
	}
	if x.stock.show != nil {
		x.shows(e.operation.Show(nil, values))
	}
	counts := x.account.Deliveries()
	order := amqp.Order{Values: values, Keeps: x.keeps, Field: request.StampHeader, Counts: amqp.Counts{Late: counts.Late(), Errors: counts.Errors()}}
	if e.does <= request.AMQPConfirm {
		order.Sent, order.Unconfirmed = x.account.Messages().Sent(), counts.Unconfirmed()
	}
	return d.(*amqp.Conn).Operate(e.operation, order)
}

func (e *errand) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	o := x.with.(*amqp.Conn).Outcome()
	x.wrong, _ = o.Err.(*http1.Error)
	counts := x.account.Deliveries()
	switch {
	case o.Returned:
		counts.Returned()
	case x.wrong != nil:
	case e.does == request.AMQPConfirm:
		counts.Confirmed(x.stock.clock.Now - x.said)
	case o.Got:
		x.account.Messages().Answered()
		x.stock.dated(x.account, o.Fields)
		if o.Redelivered {
			counts.Redelivered()
		}
	}
	if !x.keeps {
		return true
	}
	if e.does == request.AMQPDeclare && x.wrong == nil {
		payload = declared(o)
	}
	if o.Got {
		x.head = o.Head()
	}
	x.keep(payload)
	return true
}

// declared is what a declaration found, as JSON.
func declared(o *amqp.Outcome) []byte {
	text, _ := json.Marshal(struct { // numbers and texts have a form
		Queue     string `json:"queue"`
		Messages  uint64 `json:"messages"`
		Consumers uint64 `json:"consumers"`
	}{string(o.Queue), o.Messages, o.Consumers})
	return text
}

func (e *errand) deaf() bool { return e.does == request.AMQPPublish }

func (e *errand) status() uint16 { return 200 }

func (e *errand) protocol() string { return "AMQP" }

func (e *errand) left(uint16, string) error { return nil }

// amqp prepares an operation, or says where a consumer goes.
func (p *Plan) amqp(r *request.Request, w *workflow.Workflow, memory *Memory) error {
	to := r.AMQP
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	b, err := memory.queues(to, w)
	if err != nil {
		return err
	}
	key := amqpKey(to)
	consumes := to.Verb == request.AMQPConsume
	if consumes {
		key = "session " + key
		p.Greeting = &consumption{protocol: b.protocol}
	} else {
		p.verb = &errand{begins: b.protocol, operation: amqpOperation(to, r.Placeholders), does: to.Verb, stamps: to.Flags.Is(request.AMQPStamp)}
	}
	p.Host = pool.TalkHost{Key: key, Secure: to.Target.Secure, TLS: b.tls, Resume: b.resume}
	if !consumes {
		p.trunk(to.Target)
	}
	p.Shown = http1.Call{Method: r.Method, Scheme: to.Target.Scheme, Host: to.Target.Host, Port: to.Target.Port}
	return nil
}

// amqpOperation compiles what a request asks.
func amqpOperation(to *request.AMQP, all []request.Placeholder) *amqp.Operation {
	headers := to.Headers
	if to.Flags.Is(request.AMQPStamp) {
		headers, all = stampedHead(headers, all)
	}
	text := func(s string) amqp.Text { return amqpText(s, all) }
	switch to.Verb {
	case request.AMQPGet:
		return amqp.Get(text(to.Queue), to.Flags.Is(request.AMQPAuto))
	case request.AMQPDeclare:
		d := amqp.Declaration{
			Exchange: to.Exchange, Type: to.Type, Queue: text(to.Queue), Key: text(to.Key),
			Durable: to.Flags.Is(request.AMQPDurable), AutoDelete: to.Flags.Is(request.AMQPAutoDelete), Of: amqp.DeclaresExchange,
		}
		switch {
		case to.Flags.Is(request.AMQPBinds):
			d.Of = amqp.DeclaresBound
		case to.Exchange == "":
			d.Of = amqp.DeclaresQueue
		}
		for _, a := range to.Arguments {
			d.Arguments = append(d.Arguments, amqp.Argument{Name: a.Name, Value: a.Value})
		}
		return amqp.Declare(d)
	}
	m := amqp.Message{
		Exchange: text(to.Exchange), Key: text(to.Key), Body: text(to.Body), Priority: to.Priority, Confirm: to.Verb == request.AMQPConfirm,
		Mandatory: to.Flags.Is(request.AMQPMandatory), Persistent: to.Flags.Is(request.AMQPPersistent),
	}
	for _, p := range to.Properties {
		for of := range amqp.Properties {
			if of.String() == p.Name {
				m.Texts[of] = text(p.Value)
			}
		}
	}
	for _, h := range headers {
		m.Headers = append(m.Headers, amqp.Header{Name: h.Name, Value: text(h.Value)})
	}
	return amqp.Publication(m)
}

// amqpText cuts a text where placeholders stand in it.
func amqpText(text string, all []request.Placeholder) amqp.Text {
	t := amqp.Text{}
	for _, part := range sqlArgument(text, all) {
		t = append(t, amqp.Part{Text: part.Text, Value: part.Value})
	}
	return t
}

// queueServer is what begins the connections of a target.
type queueServer struct {
	protocol *amqp.Protocol
	tls      *tls.Config // nil: the workflow's
	resume   bool        // a user's connections take up its TLS session
}

// amqpKey tells apart connections that begin in different ways.
func amqpKey(to *request.AMQP) string {
	return fmt.Sprintf("amqp %s %q %q %t %s", to.Target.URL(), to.User, to.Password, to.Flags.Is(request.AMQPExternal), to.Secure.Key)
}

// queues returns what begins the connections of a target.
func (m *Memory) queues(to *request.AMQP, w *workflow.Workflow) (*queueServer, error) {
	config := amqp.Config{User: to.User, Password: to.Password, External: to.Flags.Is(request.AMQPExternal), Host: to.Target.Path, MessageMax: w.HTTP.MaxBody}
	key := amqpKey(to)
	if to.Verb == request.AMQPConsume {
		config.Consumer = &amqp.Consumer{Queue: to.Queue, Prefetch: uint16(to.Prefetch), Auto: to.Flags.Is(request.AMQPAuto), Exclusive: to.Flags.Is(request.AMQPExclusive)}
		key = fmt.Sprintf("%s %q %d %d", key, to.Queue, to.Prefetch, to.Flags)
	} else if config.Trunk = to.Target.Connections > 0 && !w.HTTP.NoKeepAlive; config.Trunk {
		key += " trunk"
	}
	b := m.servers[key]
	if b != nil {
		return b, nil
	}
	if m.servers == nil || len(m.servers) >= protocolsMax {
		m.servers = map[string]*queueServer{}
	}
	b = new(queueServer)
	var err error
	if b.protocol, err = amqp.New(config); err != nil {
		return nil, err
	}
	if b.tls, b.resume, err = securing(&to.Secure, &w.HTTP.TLS); err != nil {
		return nil, err
	}
	m.servers[key] = b
	return b, nil
}

// consumption greets for vu.amqp.consume.
type consumption struct {
	protocol *amqp.Protocol
	counts   *measure.Deliveries // of one session; nil: it has not begun
}

var _ Greeting = (*consumption)(nil)

// Consumes returns the greeting of one session by a plan; nil: the plan consumes nothing.
func (p *Plan) Consumes() Greeting {
	of, ok := p.Greeting.(*consumption)
	if !ok {
		return nil
	}
	return &consumption{protocol: of.protocol}
}

// Open implements Greeting, as the methods below do.
func (c *consumption) Open() codec.Opening       { return codec.Opening{Greeting: c.protocol.Greet()} }
func (c *consumption) Left(uint16, string) error { return nil }
func (c *consumption) Status() uint16            { return 200 }

// Begin implements Greeting: the greeting has begun the consumer.
func (c *consumption) Begin(_ codec.Dialogue, a *measure.Account) bool {
	c.counts = a.Deliveries()
	return true
}

// Leave implements Greeting.
func (c *consumption) Leave(d codec.Dialogue, code uint16) { d.Leave(code, "") }

// Read implements Greeting: a message with what stands around its payload.
func (c *consumption) Read(d codec.Dialogue, _ codec.MessageKind, payload []byte) (m session.Message, opens bool) {
	o := d.(*amqp.Conn).Outcome()
	if o.Redelivered {
		c.counts.Redelivered()
	}
	m = session.Message{Data: bytes.Clone(payload), Binary: !utf8.Valid(payload), Type: string(o.Key), Channel: string(o.Exchange), Tag: o.Tag, Again: o.Redelivered}
	for i := range o.Fields.Len() {
		name, value := o.Fields.At(i)
		m.Headers = append(m.Headers, builtin.Pair{Name: string(name), Value: string(value)})
	}
	return m, false
}

// settlements are the words of a queue's consumer.
var settlements = [...]codec.Settlement{session.SettleAck: codec.SettleAck, session.SettleNak: codec.SettleRequeue, session.SettleTerm: codec.SettleReject}
