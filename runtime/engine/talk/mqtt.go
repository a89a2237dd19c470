package talk

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/session"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/mqtt"
)

// post is mqtt.publish, and without an operation mqtt.connect.
type post struct {
	office    *postOffice
	operation *mqtt.Operation
	stamps    bool
	bequeaths bool // mqtt.connect asks for its will
}

var (
	_ verb     = (*post)(nil)
	_ personal = (*post)(nil)
)

func (p *post) open() codec.Opening { return p.office.open(0) }

func (p *post) openFor(x *Exchange) codec.Opening { return p.office.open(x.user) }

func (p *post) say(x *Exchange, d codec.Dialogue) error {
	c := d.(*mqtt.Conn)
	if x.opens != 0 && c.Refusal() == nil {
		x.account.Deliveries().Connected(x.stock.clock.Now - x.opens)
	}
	if p.operation == nil {
		if p.bequeaths {
			return c.Bequeath()
		}
		return c.Disconnect()
	}
	values := x.values
	if p.stamps {
		values = x.stamped()
	}
	if x.stock.show != nil {
		x.shows(p.operation.Show(nil, values))
	}
	return c.Operate(p.operation, mqtt.Order{Values: values, Sent: x.account.Messages().Sent(), Late: x.account.Deliveries().Late()})
}

func (p *post) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	x.wrong, _ = x.with.(*mqtt.Conn).Outcome().Err.(*http1.Error)
	if x.wrong == nil {
		x.account.Deliveries().Acknowledged(x.stock.clock.Now-x.said, false)
	}
	x.keep(payload)
	return true
}

func (p *post) deaf() bool { return p.operation == nil || p.operation.QoS == 0 }

func (p *post) status() uint16 { return 200 }

func (p *post) protocol() string { return "MQTT" }

func (p *post) left(uint16, string) error { return nil }

// mqtt prepares an operation, or says where a subscription goes.
func (p *Plan) mqtt(r *request.Request, w *workflow.Workflow, memory *Memory) error {
	to := r.MQTT
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	o, err := memory.postOffice(to, w)
	if err != nil {
		return err
	}
	key := mqttKey(to)
	switch to.Verb {
	case request.MQTTSubscribe:
		key = "session " + key
	case request.MQTTConnect:
		key = "connect " + key
		p.verb, p.stays = &post{office: o, bequeaths: to.Will != nil && to.Will.Sent}, false
	default:
		headers, all := to.Headers, r.Placeholders
		if to.Stamp {
			headers, all = stampedHead(headers, all)
		}
		m := mqtt.Message{QoS: to.QoS, Retain: to.Retain, Topic: mqttText(to.Topic, all), Data: mqttText(to.Data, all)}
		for _, h := range headers {
			m.Fields = append(m.Fields, mqtt.Field{Name: h.Name, Value: mqttText(h.Value, all)})
		}
		p.verb = &post{office: o, operation: mqtt.Compile(mqtt.Version(to.Version), m), stamps: to.Stamp}
	}
	p.Host = pool.TalkHost{Key: key, Secure: to.Target.Secure, TLS: o.tls, Resume: o.resume}
	p.Shown = http1.Call{Method: r.Method, Scheme: to.Target.Scheme, Host: to.Target.Host, Port: to.Target.Port}
	return nil
}

// mqttText cuts a text where placeholders stand in it.
func mqttText(text string, all []request.Placeholder) (t mqtt.Text) {
	for _, part := range sqlArgument(text, all) {
		t = append(t, mqtt.Part{Text: part.Text, Value: part.Value})
	}
	return t
}

// postOffice is what begins the connections of a target.
type postOffice struct {
	protocol *mqtt.Protocol
	server   string
	client   string // identifier, in which ${vu} may stand; empty: each connection has one of its own
	will     *request.MQTTWill
	memory   *Memory
	tls      *tls.Config // nil: the workflow's, where they have TLS
	resume   bool        // a user's connections take up its TLS session
}

// mqttKey tells apart connections that begin in different ways.
func mqttKey(to *request.MQTT) string {
	will := ""
	if w := to.Will; w != nil {
		will = fmt.Sprintf(" will %q %q %d %t %d", w.Topic, w.Data, w.QoS, w.Retain, w.Delay)
	}
	return fmt.Sprintf("mqtt %s %d %q %q %q %v %d %d %s", to.Target.URL(), to.Version, to.User, to.Password, to.ClientID, to.Resumes, to.Expiry, to.KeepAlive, to.Secure.Key) + will
}

// postOffice returns what begins the connections of a target.
func (m *Memory) postOffice(to *request.MQTT, w *workflow.Workflow) (*postOffice, error) {
	config := mqtt.Config{
		Version: mqtt.Version(to.Version), User: to.User, Password: to.Password, Resumes: to.Resumes,
		KeepAlive: to.KeepAlive, Expiry: to.Expiry, MessageMax: w.HTTP.MaxBody,
	}
	key := mqttKey(to)
	if to.Verb == request.MQTTSubscribe {
		config.Subscription = &mqtt.Subscription{Filters: to.Filters, QoS: to.QoS}
		key = fmt.Sprintf("%s %d %q", key, to.QoS, to.Filters)
	}
	o := m.posts[key]
	if o != nil {
		return o, nil
	}
	if m.posts == nil || len(m.posts) >= protocolsMax {
		m.posts = map[string]*postOffice{}
	}
	o = &postOffice{server: to.Target.URL(), client: to.ClientID, will: to.Will, memory: m}
	var err error
	if o.protocol, err = mqtt.New(config); err != nil {
		return nil, err
	}
	if o.tls, o.resume, err = securing(&to.Secure, &w.HTTP.TLS); err != nil {
		return nil, err
	}
	m.posts[key] = o
	return o, nil
}

// Beside marks the user that setup and teardown run as: its number is that of a virtual user, too.
const Beside = 1 << 63

// open begins a connection of a user.
func (o *postOffice) open(user uint64) codec.Opening {
	number := strconv.FormatUint(user&^Beside, 10)
	if user&Beside != 0 {
		number = "setup-" + number
	}
	named := func(text string) string { return strings.ReplaceAll(text, request.UserWord, number) }
	var will *mqtt.Will
	if w := o.will; w != nil {
		will = &mqtt.Will{Topic: named(w.Topic), Data: named(w.Data), QoS: w.QoS, Retain: w.Retain, Delay: w.Delay}
		if err := will.Check(); err != nil {
			return codec.Opening{Dialogue: mqtt.Refuse(err)}
		}
	}
	if o.client == "" {
		return codec.Opening{Greeting: o.protocol.Greet(freshClient(), nil).Leaves(will)}
	}
	id := named(o.client)
	claim, err := o.memory.claim(o.server, id)
	if err != nil {
		return codec.Opening{Dialogue: mqtt.Refuse(err)}
	}
	return codec.Opening{Greeting: o.protocol.Greet(id, claim).Leaves(will)}
}

// freshClient returns an identifier that no other connection of any process has.
func freshClient() string {
	var random [12]byte
	_, _ = rand.Read(random[:]) // it never fails
	return mqtt.Client(random)
}

// claimsMost bounds the client identifiers that are remembered, as functions may make them up.
const claimsMost = 100_000

// claim takes a client identifier for a connection. One that another connection of this process has would
// end that one.
func (m *Memory) claim(server, id string) (*mqtt.Claim, *http1.Error) {
	key := server + " " + id
	c := m.claims[key]
	switch {
	case c != nil && c.Held:
		return nil, &http1.Error{Kind: http1.KindValue, Detail: fmt.Sprintf("client_id: another connection of this run has %q, and the server would end that one: give this one an mqtt.client of its own, with another client_id, or leave client_id out", id)}
	case c == nil:
		if m.claims == nil {
			m.claims = map[string]*mqtt.Claim{}
		}
		if len(m.claims) >= claimsMost {
			for known, of := range m.claims {
				if !of.Held {
					delete(m.claims, known)
				}
			}
		}
		c = new(mqtt.Claim)
		m.claims[key] = c
	}
	c.Held = true
	return c, nil
}

// Topics greets for a subscription of MQTT.
type Topics struct {
	office *postOffice
	user   uint64
}

var (
	_ Greeting = Topics{}
	_ welcomed = Topics{}
)

// NewTopics returns the greeting of a user's request.
func (m *Memory) NewTopics(r *request.Request, w *workflow.Workflow, user uint64) (Topics, error) {
	o, err := m.postOffice(r.MQTT, w)
	return Topics{o, user}, err
}

// Open implements Greeting, as the methods below do.
func (t Topics) Open() codec.Opening       { return t.office.open(t.user) }
func (t Topics) Left(uint16, string) error { return nil }
func (t Topics) Status() uint16            { return 200 }

// Welcomed measures how long the server took to welcome the client.
func (t Topics) Welcomed(a *measure.Account, after int64) { a.Deliveries().Connected(after) }

// Begin implements Greeting: it subscribes.
func (t Topics) Begin(d codec.Dialogue, a *measure.Account) bool {
	_ = d.(*mqtt.Conn).Subscribe(a.Deliveries().Again()) // it fails where the connection is over, which is reported
	return false
}

// Leave implements Greeting.
func (t Topics) Leave(d codec.Dialogue, code uint16) { d.Leave(code, "") }

// Read implements Greeting: a message with what stands around its payload.
func (t Topics) Read(d codec.Dialogue, kind codec.MessageKind, payload []byte) (m session.Message, opens bool) {
	if kind == mqtt.MessageStands {
		return m, true
	}
	o := d.(*mqtt.Conn).Outcome()
	m = session.Message{Data: bytes.Clone(payload), Binary: !utf8.Valid(payload), Type: string(o.Topic), ID: string(o.Reply), Retains: o.Retains}
	for i := range o.Fields.Len() {
		name, value := o.Fields.At(i)
		m.Headers = append(m.Headers, builtin.Pair{Name: string(name), Value: string(value)})
	}
	return m, false
}
