package kafka

import (
	"slices"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/kafka/wire"
)

// Found is what a broker answers for a position. Its records are valid during Message.
type Found struct {
	At      int          // the place among the positions that were asked for
	Err     *http1.Error // of the kind "server NAME", or why its records cannot be read; nil: none
	Moved   bool         // Err says that what is known of the cluster is old
	Next    int64        // the offset behind what has come; as asked for if nothing has
	End     int64        // of the partition: the offset of its next record. Below 0: not told
	Batches int          // whole ones that were read
	Records []Record
}

// Least bytes of what lists of answers have.
const (
	foundLeast   = 4 + 2 + 8
	abortedLeast = 8 + 8
)

// located reads the answer to ListOffsets.
func (c *Conn) located(r *wire.Reader, a *asked) {
	c.eachFound(r, a, func(f *Found) {
		number := r.Int16()
		r.Int64() // its time
		f.Next, f.End = r.Int64(), -1
		f.fails(number)
		if f.Err == nil && f.Next < 0 {
			r.Bad = true
		}
	})
}

// fetched reads the answer to Fetch.
func (c *Conn) fetched(r *wire.Reader, a *asked) *http1.Error {
	v := c.speaks.fetch
	c.outcome.Throttled = r.Int32()
	if v >= 7 {
		number := r.Int16()
		r.Int32() // the session
		if c.outcome.Err, c.outcome.Moved = asError(number, nil); c.outcome.Err != nil {
			return nil
		}
	}
	p := c.pool
	p.fetched.begin(c.most)
	var wrong *http1.Error
	c.eachFound(r, a, func(f *Found) {
		number := r.Int16()
		f.Next, f.End = a.positions[f.At].Offset, r.Int64()
		r.Int64() // behind the last record of transactions that are over
		if v >= 5 {
			r.Int64() // where the log begins
		}
		r.Take(abortedLeast * int64(r.List(abortedLeast)))
		if v >= 11 {
			r.Int32() // a replica that is nearer
		}
		records := r.Bytes()
		if f.fails(number); f.Err != nil || r.Bad || wrong != nil {
			return
		}
		wrong = p.read(f, records, &a.positions[f.At])
	})
	return wrong
}

func (f *Found) fails(number int16) {
	f.Err = serverError(number, nil)
	f.Moved = f.Err != nil && moved(number)
}

// eachFound reads the partitions of an answer: all that were asked for, each once.
func (c *Conn) eachFound(r *wire.Reader, a *asked, read func(f *Found)) {
	p := &c.pool.fetched
	all := p.found[:0]
	p.answered = slices.Grow(p.answered[:0], len(a.positions))[:len(a.positions)]
	clear(p.answered)
	next := 0
	for range r.List(answerTopicLeast) {
		topic := r.Text()
		for range r.List(foundLeast) {
			at := a.find(next, topic, r.Int32())
			if r.Bad || at < 0 || p.answered[at] {
				r.Bad = true
				return
			}
			next, p.answered[at] = at+1, true
			all = append(all, Found{At: at})
			read(&all[len(all)-1])
		}
	}
	r.Bad = r.Bad || len(all) < len(a.positions)
	p.found, c.outcome.Found = all, all
}

// find returns the place of a partition among those that were asked for, which brokers answer in their order;
// below 0: it was not.
func (a *asked) find(from int, topic []byte, partition int32) int {
	for i := range a.positions {
		at := (from + i) % len(a.positions)
		if p := &a.positions[at]; p.Partition == partition && p.Topic == string(topic) {
			return at
		}
	}
	return -1
}
