package talk

import (
	"crypto/rand"
	"fmt"

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

var _ routed = (*record)(nil)

// routed is a verb whose cluster tells where it goes.
type routed interface {
	verb
	cluster() *kafkaCluster
	// route returns the broker to go to: a leader, or the one to ask who leads.
	route(x *Exchange) (*Node, error)
	// strayed takes note that a leader could not be reached.
	strayed(x *Exchange)
}

// goes is where an exchange with a Kafka cluster goes.
type goes struct {
	topic     *kafkaTopic // nil: its leaders are not known
	asks      *Node       // who leads it
	partition int32
	tried     int    // brokers that were asked who leads, and could not be reached
	name      string // of the topic
	reads            // of an operation that reads
}

func (v *record) open() codec.Opening {
	var random kafka.Random
	_, _ = rand.Read(random[:]) // it never fails
	return codec.Opening{Greeting: v.of.begins.Greet(random)}
}

func (v *record) cluster() *kafkaCluster { return v.of }

// strayed implements routed: what is known of the topic is old.
func (v *record) strayed(x *Exchange) {
	if x.goes.topic != nil {
		x.goes.topic.forget()
	}
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
		x.trip, x.goes.asks = tripBegins, v.of.asks()
		return x.goes.asks, nil
	}
	at := v.partition
	if at < 0 {
		if at, x.stock.text = v.operation.Choose(len(t.leaders), x.values, x.stock.text); at < 0 {
			at = t.next()
		}
	}
	x.goes.partition, x.trip = at, tripRouted
	switch {
	case int(at) >= len(t.leaders):
		t.forget()
		return nil, &http1.Error{Kind: http1.KindValue, Detail: fmt.Sprintf("partition: the topic has %d, from 0 on, and %d is asked for", len(t.leaders), at)}
	case t.leaders[at] == nil:
		t.forget()
		return nil, &http1.Error{Kind: "server LEADER_NOT_AVAILABLE", Detail: fmt.Sprintf("no broker leads partition %d, as the cluster tells: the next operation asks again", at)}
	}
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
		Values: x.values, Now: x.stock.clock.Millis(), Keeps: x.keeps, Sent: x.account.Messages().Sent(),
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
	return c.Learn(string(name), kafka.Order{})
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
		v.strayed(x)
		return false
	}
	of := v.cluster()
	of.passOver(x.goes.asks)
	if measure.TimedOut(string(kind)) || kind == http1.KindAuth || x.goes.tried+1 >= of.askable() {
		return false
	}
	x.goes.tried++
	x.trip, x.enough, x.got = tripBegins, false, 0
	return true
}
