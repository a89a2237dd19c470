package kafka

import (
	"encoding/binary"
	"errors"
	"io"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka/group"
	"hyperscale/runtime/protocol/kafka/wire"
)

// Conn is the client's side of one connection behind its greeting. It carries operations, one at a time.
// Message comes once for each operation that something ends; Outcome then says how it ended.
type Conn struct {
	most    int64 // bytes of an answer
	speaks  versions
	pool    *Pool
	out     outbox
	in      intake
	number  int32  // of the request that was queued last
	asked   asked  // the operation under way
	topic   []byte // of Produce and Metadata
	outcome Outcome
	body    []byte // of the outcome
	broken  *http1.Error
	left    bool
	learns  bool // it asks where to go, and sends no record yet

	producer *producer // nil: the broker does not count its records
	beside
}

// asked is a request that a broker answers.
type asked struct {
	of     api
	number int32
	open   bool // it has no answer
	keeps  bool
	topics int // that Metadata tells of

	partition int32      // of Produce
	positions []Position // of Fetch and ListOffsets
}

var (
	_ codec.Named   = (*Conn)(nil)
	_ codec.Learner = (*Conn)(nil)

	_ codec.Lively    = (*Conn)(nil)
	_ codec.Lingering = (*Conn)(nil)
)

// Order is what an operation is sent with.
type Order struct {
	Values [][]byte
	Now    int64   // milliseconds since 1970: the record's time
	Keeps  bool    // its answer is read
	Sent   *uint64 // counts the record when the kernel has it; nil: nothing does
}

// Outcome is how an operation ended. Bytes are valid during Message.
type Outcome struct {
	Err       error        // of the kind "server NAME"; nil: none
	Moved     bool         // Err says that what is known of the cluster is old
	Layout    *Layout      // of Learn
	Partition int32        // of Produce
	Offset    int64        // the record's
	Throttled int32        // milliseconds that the broker asks to wait
	Found     []Found      // of Fetch and Locate
	Group     group.Answer // of Ask
}

// Outcome is that of the operation that ended last. It is valid during Message.
func (c *Conn) Outcome() *Outcome { return &c.outcome }

// begins queues the head of a request.
func (c *Conn) begins(a api, version int16) {
	c.number++
	c.out.bytes = appendHead(c.out.bytes, a, version, c.number)
}

// Produce queues a record for a partition. After an error nothing of it is queued, and the connection goes on.
func (c *Conn) Produce(o *Operation, partition int32, with Order) error {
	one := [1]Entry{{Operation: o, Values: with.Values, Now: with.Now, Sent: with.Sent}}
	return c.ProduceAll(one[:], partition, with.Keeps)
}

// ProduceAll queues records for a partition in one batch: their topic, acks and coding are the same. Keeps says
// that the answer is read, which has the place of the first one.
func (c *Conn) ProduceAll(all []Entry, partition int32, keeps bool) error {
	o := all[0].Operation
	switch {
	case !c.mayTalk():
		return errOver
	case c.speaks.produce < 0:
		return errVersion(apiProduce)
	case o.Compression == Zstd && c.speaks.produce < zstdSince:
		return errZstd
	}
	start := len(c.out.bytes)
	c.learns = false
	c.begins(apiProduce, c.speaks.produce)
	b := append(c.out.bytes, 255, 255) // of no transaction
	b = binary.BigEndian.AppendUint16(b, uint16(o.Acks))
	b = binary.BigEndian.AppendUint32(b, ackMillis)
	b = append(b, 0, 0, 0, 1, 0, 0) // topics: one, whose length is put in
	topic := len(b)
	b, err := o.In(b, all[0].Values)
	if err != nil {
		c.out.bytes = b[:start]
		c.number--
		return err
	}
	binary.BigEndian.PutUint16(b[topic-2:], uint16(len(b)-topic))
	b = append(b, 0, 0, 0, 1) // partitions
	b = binary.BigEndian.AppendUint32(b, uint32(partition))
	records := len(b)
	from := uncounted()
	if c.producer != nil {
		from = c.producer.counts(b[topic:records-8], partition, len(all))
	}
	b = appendBatch(append(b, 0, 0, 0, 0), all, from, c.pool)
	putLength(b, records)
	putLength(b, start)
	c.out.bytes = b
	for i := range all {
		for _, count := range [...]*uint64{all[i].Sent, all[i].Begun} {
			if count != nil {
				c.out.departs = append(c.out.departs, departure{len(b), count})
			}
		}
	}
	if o.Acks != AcksNone {
		c.asks(apiProduce, &Order{Keeps: keeps})
		c.topic, c.asked.partition = append(c.topic[:0], b[topic:records-8]...), partition
	}
	return nil
}

// Learn queues the question which brokers lead the partitions of a topic; of none: which brokers there are.
func (c *Conn) Learn(topic string, with Order) error {
	switch {
	case !c.mayTalk():
		return errOver
	case c.speaks.metadata < 0:
		return errVersion(apiMetadata)
	}
	start := len(c.out.bytes)
	c.learns = true
	c.begins(apiMetadata, c.speaks.metadata)
	b := append(c.out.bytes, 0, 0, 0, 0)
	if topic != "" {
		b[len(b)-1] = 1
		b = wire.AppendText(b, topic)
	}
	if c.speaks.metadata >= 4 {
		b = append(b, 0) // a topic that is missing stays missing
	}
	putLength(b, start)
	c.out.bytes = b
	c.asks(apiMetadata, &with)
	c.topic, c.asked.topics = append(c.topic[:0], topic...), min(1, len(topic))
	return nil
}

// asks notes a request that is answered.
func (c *Conn) asks(a api, with *Order) {
	c.asked = asked{of: a, number: c.number, open: true, keeps: with.Keeps}
}

// Owes implements codec.Phased: an operation that asks where to go has sent no record.
func (c *Conn) Owes() bool { return c.learns }

// Learnt implements codec.Learner.
func (c *Conn) Learnt() bool { return c.learns && !c.asked.open && len(c.out.left()) == 0 }

// Send implements codec.Dialogue: operations go by Produce and its kin.
func (c *Conn) Send(codec.MessageKind, []byte, *uint64) error { return errOver }

// Ping does nothing: Kafka has none.
func (c *Conn) Ping(uint64) {}

// Leave ends the connection: operations need no goodbye. What is unread when the socket closes is the answer to
// the only request under way, so the broker has dealt with all that it got. A member of a group says more.
func (c *Conn) Leave(uint16, string) {
	c.left = true
	c.departs()
}

// Forget implements codec.Named. A broker answers in order, so an operation that is given up would hold up the
// next one: then only closing the connection helps, as a Java client does.
func (c *Conn) Forget() bool {
	return c.mayTalk() && !c.asked.open && len(c.out.left())+len(c.in.held) == 0
}

func (c *Conn) mayTalk() bool { return !c.left && c.broken == nil }

// Over reports that the connection may be closed.
func (c *Conn) Over() bool { return c.broken != nil || c.left && !c.asked.open && len(c.waits) == 0 }

// Output returns what to write next.
func (c *Conn) Output() []byte { return c.out.left() }

// Sent notes that so many bytes of the output are written.
func (c *Conn) Sent(n int) { c.out.wrote(n) }

// Unsent is how many bytes are not written.
func (c *Conn) Unsent() int { return len(c.out.left()) }

// Rest does nothing: each answer has been asked for, so none is a flood.
func (c *Conn) Rest() {}

// End says what the end of the connection means.
func (c *Conn) End(err error) error {
	switch {
	case c.broken != nil:
		return c.broken
	case !errors.Is(err, io.EOF):
		return err
	case len(c.in.held) > 0:
		return errCut
	case c.asked.open:
		return errSilent
	}
	return nil
}

// Release gives the connection's memory back. It cannot be used any more.
func (c *Conn) Release() {
	c.left = true
	c.departs()
	c.out, c.in, c.body, c.topic, c.producer, c.waits = outbox{}, intake{}, nil, nil, nil, nil
}
