package talk

import (
	"crypto/rand"
	"fmt"
	"slices"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka"
)

// record is kafka.produce.
type record struct {
	of        *kafkaCluster
	operation *kafka.Operation
	partition int32 // below 0: that of the key
}

var _ verb = (*record)(nil)

// goes is where an exchange with a Kafka cluster goes.
type goes struct {
	topic     *kafkaTopic // nil: its leaders are not known
	partition int32
	tried     int // brokers that were asked who leads, and could not be reached
}

func (v *record) open() codec.Opening {
	var random kafka.Random
	_, _ = rand.Read(random[:]) // it never fails
	return codec.Opening{Greeting: v.of.begins.Greet(random)}
}

// route returns the leader of the record's partition, or the broker to ask who that is.
func (v *record) route(x *Exchange) (*Node, error) {
	name, err := v.operation.In(x.stock.text[:0], x.values)
	if x.stock.text = name; err != nil {
		return nil, err
	}
	t := v.of.topics[string(name)]
	x.goes.topic = t
	if t == nil {
		x.trip = tripBegins
		return v.of.asks(), nil
	}
	at := v.partition
	if at < 0 {
		if at, x.stock.text = v.operation.Choose(len(t.leaders), x.values, x.stock.text); at < 0 {
			at = t.next()
		}
	}
	x.goes.partition = at
	switch {
	case int(at) >= len(t.leaders):
		t.forget()
		return nil, &http1.Error{Kind: http1.KindValue, Detail: fmt.Sprintf("partition: the topic has %d, from 0 on, and %d is asked for", len(t.leaders), at)}
	case t.leaders[at] == nil:
		t.forget()
		return nil, &http1.Error{Kind: "server LEADER_NOT_AVAILABLE", Detail: fmt.Sprintf("no broker leads partition %d, as the cluster tells: the next operation asks again", at)}
	}
	x.trip = tripRouted
	return t.leaders[at], nil
}

func (v *record) say(x *Exchange, d codec.Dialogue) error {
	c := d.(*kafka.Conn)
	if x.trip != tripRouted {
		return v.learn(x, c)
	}
	if x.stock.show != nil {
		x.shows(v.operation.Show(nil, x.goes.partition, x.values))
	}
	return c.Produce(v.operation, x.goes.partition, kafka.Order{
		Values: x.values, Now: x.stock.clock.Millis(), Keeps: x.keeps, Sent: x.account.Messages().Sent(), Late: x.account.Deliveries().Late(),
	})
}

// learn asks who leads the partitions of the topic.
func (v *record) learn(x *Exchange, c *kafka.Conn) error {
	name, err := v.operation.In(x.stock.text[:0], x.values)
	if x.stock.text = name; err != nil {
		return err
	}
	x.trip = tripLearns
	x.shows(append([]byte("metadata "), name...))
	return c.Learn(string(name), kafka.Order{Late: x.account.Deliveries().Late()})
}

func (v *record) hear(x *Exchange, _ codec.MessageKind, payload []byte) bool {
	o := x.with.(*kafka.Conn).Outcome()
	x.wrong, _ = o.Err.(*http1.Error)
	if o.Throttled > 0 {
		x.account.Deliveries().Throttled()
	}
	switch {
	case x.trip == tripLearns && x.wrong != nil:
	case x.trip == tripLearns:
		name, _ := v.operation.In(x.stock.text[:0], x.values) // it was asked for
		x.stock.text = name
		v.of.learnt(string(name), o.Layout)
		x.trip = tripElsewhere
	case x.wrong == nil:
		x.account.Deliveries().Record(x.stock.clock.Now - x.said)
		x.keep(payload)
	case o.Moved && x.goes.topic != nil:
		x.goes.topic.forget()
	}
	return true
}

func (v *record) deaf() bool { return v.operation.Acks == kafka.AcksNone }

func (v *record) status() uint16 { return 200 }

func (v *record) protocol() string { return "Kafka" }

func (v *record) left(uint16, string) error { return nil }

// Astray takes note that an exchange failed, and reports whether it must go to another broker: it could not
// reach the one that it would have asked who leads, and has sent nothing of its record.
func (x *Exchange) Astray(kind http1.Kind) bool {
	v := x.plan.routed
	if v == nil || kind == http1.KindCancelled || kind == http1.KindValue {
		return false
	}
	if x.trip == tripRouted {
		if x.goes.topic != nil {
			x.goes.topic.forget()
		}
		return false
	}
	v.of.passOver()
	if measure.TimedOut(string(kind)) || kind == http1.KindAuth || x.goes.tried+1 >= v.of.askable() {
		return false
	}
	x.goes.tried++
	x.trip, x.enough, x.got = tripBegins, false, 0
	return true
}

// kafka prepares an operation.
func (p *Plan) kafka(r *request.Request, w *workflow.Workflow, memory *Memory) error {
	to := r.Kafka
	if w.HTTP.Proxy != nil {
		return &http1.InputError{Field: "url", Value: r.URL, Remedy: "take the proxy out of http.client: it carries HTTP"}
	}
	cluster, err := memory.kafka(to, w)
	if err != nil {
		return err
	}
	m := kafka.Message{
		Topic: kafkaText(to.Topic, r.Placeholders), Acks: map[string]kafka.Acks{"0": kafka.AcksNone, "1": kafka.AcksLeader, "all": kafka.AcksAll}[to.Acks],
		Compression: map[string]kafka.Compression{"gzip": kafka.Gzip, "snappy": kafka.Snappy, "zstd": kafka.Zstd}[to.Compression],
	}
	if to.Key != nil {
		m.Key = kafkaText(*to.Key, r.Placeholders)
	}
	if to.Value != nil {
		m.Value = kafkaText(*to.Value, r.Placeholders)
	}
	for _, h := range to.Headers {
		m.Headers = append(m.Headers, kafka.Field{Name: h.Name, Value: kafkaText(h.Value, r.Placeholders)})
	}
	p.routed = &record{of: cluster, operation: kafka.Compile(m), partition: to.Partition}
	p.verb = p.routed
	seed := cluster.nodes[0]
	p.Host = seed.Host
	p.Shown = http1.Call{Method: r.Method, Scheme: seed.Call.Scheme, Host: seed.Call.Host, Port: seed.Call.Port}
	return nil
}

// kafkaText cuts a text where placeholders stand in it.
func kafkaText(text string, all []request.Placeholder) (t kafka.Text) {
	for _, part := range argument(text, all) {
		t = append(t, kafka.Part{Text: part.Text, Value: part.Value})
	}
	return t
}

// kafka returns what is known of a target.
func (m *Memory) kafka(to *request.Kafka, w *workflow.Workflow) (*kafkaCluster, error) {
	key := fmt.Sprintf("kafka %s %q %q %s", to.Mechanism, to.User, to.Password, to.Secure.Key)
	for _, s := range to.Seeds {
		key += " " + s.URL()
	}
	c := m.kafkas[key]
	if c != nil {
		return c, nil
	}
	if m.kafkas == nil || len(m.kafkas) >= clustersMost {
		m.kafkas = map[string]*kafkaCluster{}
	}
	mechanism := slices.Index([]string{"", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}, to.Mechanism)
	c = &kafkaCluster{key: key, begins: kafka.New(kafka.Config{
		Mechanism: kafka.Mechanism(mechanism), User: to.User, Password: to.Password, AnswerMax: w.HTTP.MaxBody, Keys: &m.keys, Pool: &m.records,
	})}
	var err error
	if c.like.TLS, c.like.Resume, err = securing(&to.Secure, &w.HTTP.TLS); err != nil {
		return nil, err
	}
	c.like.Secure = to.Seeds[0].Secure
	for _, s := range to.Seeds {
		c.node(s.Host, s.Port)
	}
	c.seeds = len(c.nodes)
	m.kafkas[key] = c
	return c, nil
}
