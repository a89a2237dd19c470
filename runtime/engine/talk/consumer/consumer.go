package consumer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"hyperscale/runtime/protocol/kafka"
)

// Most is how many consumers one user has at a time: then the one that was used least lately begins anew.
const Most = 16

// All are the consumers of a cluster. The zero value has none.
type All struct{ users map[uint64][]*Consumer }

// Consumer is where a user is in its topics.
type Consumer struct {
	key    string
	start  int64
	places []kafka.Position // by topic, and partition; its offset may be the start's
	turn   int              // of the leaders
	passed any              // the leader that failed, until its turn; nil: none has

	leaders []any // memory of Next
}

// Of returns a user's consumer of topics, which are in order.
func (a *All) Of(user uint64, topics []string, start int64) *Consumer {
	key := strconv.FormatInt(start, 10) + " " + strings.Join(topics, " ")
	own := a.users[user]
	at := slices.IndexFunc(own, func(c *Consumer) bool { return c.key == key })
	if at == len(own)-1 && at >= 0 {
		return own[at]
	}
	var c *Consumer
	switch {
	case at >= 0:
		c = own[at]
		own = slices.Delete(own, at, at+1)
	case len(own) == Most:
		own = slices.Delete(own, 0, 1)
	}
	if c == nil {
		c = &Consumer{key: key, start: start}
	}
	if a.users == nil {
		a.users = map[uint64][]*Consumer{}
	}
	a.users[user] = append(own, c)
	return c
}

// Fit gives a topic as many places as it has partitions.
func (c *Consumer) Fit(topic string, partitions int) {
	first := slices.IndexFunc(c.places, func(p kafka.Position) bool { return p.Topic >= topic })
	if first < 0 {
		first = len(c.places)
	}
	has := 0
	for first+has < len(c.places) && c.places[first+has].Topic == topic {
		has++
	}
	if has > partitions { // the topic was made anew
		c.places = slices.Delete(c.places, first, first+has)
		has = 0
	}
	for at := has; at < partitions; at++ {
		c.places = slices.Insert(c.places, first+at, kafka.Position{Topic: topic, Partition: int32(at), Offset: c.start})
	}
}

// Leading says which broker leads a partition; a nil one: none does.
type Leading func(topic string, partition int32) any

// Next returns the broker to ask next, and what for: the offsets of places that have none, as long as there
// are any, else the records of all that it leads. A broker that failed waits for its turn.
// Asks is memory that the call may use, and returns.
func (c *Consumer) Next(of Leading, asks []kafka.Position) (next Ask, memory []kafka.Position) {
	c.leaders = c.leaders[:0]
	first := -1
	for i := range c.places {
		p := &c.places[i]
		n := of(p.Topic, p.Partition)
		if !slices.Contains(c.leaders, n) {
			c.leaders = append(c.leaders, n)
		}
		if first < 0 && p.Offset < 0 && n != c.passed {
			first, next.Leader = i, n
		}
	}
	next.Leaders = len(c.leaders)
	if next.Locates = first >= 0; !next.Locates {
		next.Leader = c.leaders[c.turn%len(c.leaders)]
		next.Locates = slices.ContainsFunc(c.places, func(p kafka.Position) bool { return p.Offset < 0 && of(p.Topic, p.Partition) == next.Leader })
	}
	if next.Leader == c.passed {
		c.passed = nil
	}
	asks = asks[:0]
	for i := range c.places {
		if p := &c.places[i]; (p.Offset < 0) == next.Locates && of(p.Topic, p.Partition) == next.Leader {
			asks = append(asks, *p)
		}
	}
	return next, asks
}

// Ask is what an operation asks next.
type Ask struct {
	Leader  any
	Leaders int  // brokers that lead what the consumer reads
	Locates bool // the offsets, not the records
}

// Turn says that a leader has answered.
func (c *Consumer) Turn() { c.turn++ }

// Pass says that a leader failed, or that none leads what was asked for: the others go first. It counts once,
// however many operations find that out.
func (c *Consumer) Pass(leader any) {
	if leader == c.passed {
		return
	}
	c.passed = leader
	c.turn++
}

// Moves takes what was found where Next has asked. A place whose records are gone, or are not there yet, begins
// anew. One that another operation of the user has moved meanwhile does not go back.
func (c *Consumer) Moves(asked []kafka.Position, found []kafka.Found) {
	for i := range found {
		f := &found[i]
		was := &asked[f.At]
		at, is := slices.BinarySearchFunc(c.places, was, func(p kafka.Position, was *kafka.Position) int {
			return cmp.Or(strings.Compare(p.Topic, was.Topic), cmp.Compare(p.Partition, was.Partition))
		})
		if !is {
			continue // the topic was made anew
		}
		p := &c.places[at]
		switch {
		case f.Err == nil:
			p.Offset = max(p.Offset, f.Next)
		case f.Err.Kind == "server OFFSET_OUT_OF_RANGE" && p.Offset == was.Offset:
			p.Offset = c.start
		}
	}
}
