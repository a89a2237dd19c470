package kafka

import (
	"encoding/binary"

	"hyperscale/runtime/protocol/kafka/wire"
)

// Position is a place in a partition. Those of one request with the same topic stand side by side.
type Position struct {
	Topic     string
	Partition int32
	Offset    int64 // of the next record; Latest and Earliest: it is not known
}

// The offsets that a broker knows by name.
const (
	Latest   int64 = -1 // behind the newest record
	Earliest int64 = -2 // the oldest one
)

// Window bounds what a broker answers to Fetch.
type Window struct {
	Wait  int32 // milliseconds for which a broker keeps a request when it has no records
	Bytes int32 // of a partition's records: the first batch comes whole, however large it is
	Again bool  // the operation has fetched before: it is sent
}

// fetchMost bounds the records of an answer in bytes, as Kafka's own consumer has it.
const fetchMost = 50 << 20

// answerRoom is what an answer may have beside its records.
const answerRoom = 64 << 10

// Locate queues the question for the offsets that positions name. They must not change until it is answered.
func (c *Conn) Locate(all []Position) error {
	switch {
	case !c.mayTalk():
		return errOver
	case c.speaks.offsets < 0:
		return errVersion(apiOffsets)
	}
	start := len(c.out.bytes)
	c.learns = true
	c.begins(apiOffsets, c.speaks.offsets)
	b := binary.BigEndian.AppendUint32(c.out.bytes, 1<<32-1) // of no replica
	b = appendPositions(b, all, func(b []byte, p *Position) []byte {
		return binary.BigEndian.AppendUint64(b, uint64(p.Offset))
	})
	putLength(b, start)
	c.out.bytes = b
	c.asks(apiOffsets, &Order{})
	c.asked.positions = all
	return nil
}

// Fetch queues a request for the records at positions. They must not change until it is answered.
func (c *Conn) Fetch(all []Position, w Window) error {
	v := c.speaks.fetch
	switch {
	case !c.mayTalk():
		return errOver
	case v < 0:
		return errVersion(apiFetch)
	}
	start := len(c.out.bytes)
	c.learns = w.Again
	c.begins(apiFetch, v)
	b := binary.BigEndian.AppendUint32(c.out.bytes, 1<<32-1) // of no replica
	b = binary.BigEndian.AppendUint32(b, uint32(w.Wait))
	b = binary.BigEndian.AppendUint32(b, 1) // bytes that end the wait
	b = binary.BigEndian.AppendUint32(b, uint32(min(fetchMost, max(answerRoom, c.most-answerRoom))))
	b = append(b, 0) // records of open transactions, too
	if v >= 7 {
		b = append(b, 0, 0, 0, 0, 255, 255, 255, 255) // of no session
	}
	b = appendPositions(b, all, func(b []byte, p *Position) []byte {
		if v >= 9 {
			b = binary.BigEndian.AppendUint32(b, 1<<32-1) // its leader's epoch: unknown
		}
		b = binary.BigEndian.AppendUint64(b, uint64(p.Offset))
		if v >= 5 {
			b = binary.BigEndian.AppendUint64(b, 1<<64-1) // where a replica's log begins
		}
		return binary.BigEndian.AppendUint32(b, uint32(w.Bytes))
	})
	if v >= 7 {
		b = append(b, 0, 0, 0, 0) // topics that a session forgets
	}
	if v >= 11 {
		b = append(b, 0, 0) // rack
	}
	putLength(b, start)
	c.out.bytes = b
	c.asks(apiFetch, &Order{})
	c.asked.positions = all
	return nil
}

// appendPositions appends topics with their partitions, each with what more appends.
func appendPositions(b []byte, all []Position, more func([]byte, *Position) []byte) []byte {
	topics := len(b)
	b = append(b, 0, 0, 0, 0)
	count, partitions := 0, 0
	for i := range all {
		p := &all[i]
		if i == 0 || p.Topic != all[i-1].Topic {
			count++
			b = wire.AppendText(b, p.Topic)
			partitions = len(b)
			b = append(b, 0, 0, 0, 0)
		}
		binary.BigEndian.PutUint32(b[partitions:], binary.BigEndian.Uint32(b[partitions:])+1)
		b = more(binary.BigEndian.AppendUint32(b, uint32(p.Partition)), p)
	}
	binary.BigEndian.PutUint32(b[topics:], uint32(count))
	return b
}
