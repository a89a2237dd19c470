package kafka

import (
	"slices"

	"hyperscale/runtime/protocol/http1"
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
func (c *Conn) learnt(r *reader, want int) *http1.Error {
	l := &Layout{}
	if c.speaks.metadata >= 3 {
		c.outcome.Throttled = r.int32()
	}
	brokers := r.list(brokerLeast)
	if brokers > brokersMost {
		return errMany(brokers, "brokers", brokersMost)
	}
	for range brokers {
		b := Broker{ID: r.int32()}
		host, port := r.text(), r.int32()
		r.text() // its rack
		if len(host) == 0 || len(host) > hostMost || port <= 0 || port > 1<<16-1 {
			r.bad = true
			return nil
		}
		b.Host, b.Port = string(host), uint16(port)
		l.Brokers = append(l.Brokers, b)
	}
	if c.speaks.metadata >= 2 {
		r.text() // the cluster's name
	}
	r.int32() // the controller
	topics := r.list(topicLeast)
	if r.bad || topics != want {
		r.bad = true
		return nil
	}
	if c.outcome.Layout = l; want == 0 {
		return nil
	}
	number := r.int16()
	if string(r.text()) != string(c.topic) {
		r.bad = true
		return nil
	}
	r.byte() // whether it is Kafka's own
	c.outcome.Err, c.outcome.Moved = asError(number, nil)
	n := r.list(partitionLeast)
	if n > partitionsMost {
		return errMany(n, "partitions", partitionsMost)
	}
	l.Leaders = slices.Repeat([]int32{-1}, n)
	for range n {
		r.int16() // why it has no leader
		at, leader := r.int32(), r.int32()
		r.take(4 * int64(r.list(4)))
		r.take(4 * int64(r.list(4)))
		if at < 0 || int(at) >= n {
			r.bad = true
			return nil
		}
		l.Leaders[at] = leader
	}
	if c.outcome.Err == nil && n == 0 {
		c.outcome.Err = errNoPartitions
	}
	return nil
}
