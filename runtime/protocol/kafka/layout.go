package kafka

import (
	"slices"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka/wire"
)

// Layout is what a broker tells of its cluster: who the brokers are, and which of them lead the partitions of
// the topic that was asked for.
type Layout struct {
	Brokers []Broker
	Leaders []int32 // ids of brokers, by partition; below 0: none leads
}

// Broker is a broker as others tell of it.
type Broker struct {
	ID   int32
	Host string
	Port uint16
}

// At returns the broker with that id; false: the layout has none.
func (l *Layout) At(id int32) (Broker, bool) {
	at := slices.IndexFunc(l.Brokers, func(b Broker) bool { return b.ID == id })
	if at < 0 {
		return Broker{}, false
	}
	return l.Brokers[at], true
}

// Least bytes of what a list has.
const (
	brokerLeast    = 4 + 2 + 4 + 2
	topicLeast     = 2 + 2 + 1 + 4
	partitionLeast = 2 + 4 + 4 + 4 + 4
)

// The bounds of what a broker tells.
const (
	hostMost       = 253    // bytes of a name
	brokersMost    = 1_000  // of a cluster
	partitionsMost = 10_000 // of the topic that was asked for
)

// learnt reads the answer to Metadata. An error says that it tells of more than is taken.
func (c *Conn) learnt(r *wire.Reader, want int) *http1.Error {
	l := &Layout{}
	if c.speaks.metadata >= 3 {
		c.outcome.Throttled = r.Int32()
	}
	brokers := r.List(brokerLeast)
	if brokers > brokersMost {
		return errMany(brokers, "brokers", brokersMost)
	}
	for range brokers {
		b := Broker{ID: r.Int32()}
		host, port := r.Text(), r.Int32()
		r.Text() // its rack
		if len(host) == 0 || len(host) > hostMost || port <= 0 || port > 1<<16-1 {
			r.Bad = true
			return nil
		}
		b.Host, b.Port = string(host), uint16(port)
		l.Brokers = append(l.Brokers, b)
	}
	if c.speaks.metadata >= 2 {
		r.Text() // the cluster's name
	}
	r.Int32() // the controller
	topics := r.List(topicLeast)
	if r.Bad || topics != want {
		r.Bad = true
		return nil
	}
	if c.outcome.Layout = l; want == 0 {
		return nil
	}
	number := r.Int16()
	if string(r.Text()) != string(c.topic) {
		r.Bad = true
		return nil
	}
	r.Byte() // whether it is Kafka's own
	c.outcome.Err, c.outcome.Moved = asError(number, nil)
	n := r.List(partitionLeast)
	if n > partitionsMost {
		return errMany(n, "partitions", partitionsMost)
	}
	l.Leaders = slices.Repeat([]int32{-1}, n)
	for range n {
		r.Int16() // why it has no leader
		at, leader := r.Int32(), r.Int32()
		r.Take(4 * int64(r.List(4)))
		r.Take(4 * int64(r.List(4)))
		if at < 0 || int(at) >= n {
			r.Bad = true
			return nil
		}
		l.Leaders[at] = leader
	}
	if c.outcome.Err == nil && n == 0 {
		c.outcome.Err = errNoPartitions
	}
	return nil
}
