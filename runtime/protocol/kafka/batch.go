package kafka

import (
	"encoding/binary"
	"hash/crc32"
)

// castagnoli is the polynomial of a batch's checksum.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Places in a batch of version 2, in bytes from its beginning.
const (
	batchLength  = 8  // four bytes: how many follow them
	batchCRC     = 17 // four bytes: the checksum of all that follow them
	batchCovered = 21
)

// origin is what a broker counts a record by.
type origin struct {
	producer int64
	epoch    int16
	sequence int32 // of the producer's records of a partition, from 0 on
}

// uncounted is the origin of a record that the broker does not count.
func uncounted() origin { return origin{-1, -1, -1} }

// producer is a connection that numbers its records, so that the broker finds one that is missing or doubled.
type producer struct {
	id    int64
	epoch int16
	next  map[placed]*int32
}

type placed struct {
	topic     string
	partition int32
}

// counts returns the origin of the next record of a partition.
func (p *producer) counts(topic []byte, partition int32) origin {
	next := p.next[placed{string(topic), partition}]
	if next == nil {
		next = new(int32)
		p.next[placed{string(topic), partition}] = next
	}
	o := origin{p.id, p.epoch, *next}
	*next = (*next + 1) & (1<<31 - 1) // Kafka goes on with 0
	return o
}

// appendBatch appends a batch of one record, of that time in milliseconds since 1970.
func (o *Operation) appendBatch(dst []byte, values [][]byte, now int64, from origin, pool *Pool) []byte {
	start := len(dst)
	dst = binary.BigEndian.AppendUint64(dst, 0)           // base offset: the broker sets it
	dst = binary.BigEndian.AppendUint32(dst, 0)           // length
	dst = binary.BigEndian.AppendUint32(dst, 1<<32-1)     // leader epoch: the broker's
	dst = append(dst, 2)                                  // version
	dst = binary.BigEndian.AppendUint32(dst, 0)           // checksum
	dst = append(dst, 0, byte(o.Compression), 0, 0, 0, 0) // attributes, last offset
	dst = binary.BigEndian.AppendUint64(dst, uint64(now)) // time of the first record
	dst = binary.BigEndian.AppendUint64(dst, uint64(now)) // and of the last one
	dst = binary.BigEndian.AppendUint64(dst, uint64(from.producer))
	dst = binary.BigEndian.AppendUint16(dst, uint16(from.epoch))
	dst = binary.BigEndian.AppendUint32(dst, uint32(from.sequence))
	dst = binary.BigEndian.AppendUint32(dst, 1) // records
	if o.Compression == Uncompressed {
		dst = o.appendRecord(dst, values)
	} else {
		pool.records = o.appendRecord(pool.records[:0], values)
		dst = pool.compress(dst, o.Compression, pool.records)
		if cap(pool.records) > bufferKept {
			pool.records = nil
		}
	}
	putLength(dst, start+batchLength)
	binary.BigEndian.PutUint32(dst[start+batchCRC:], crc32.Checksum(dst[start+batchCovered:], castagnoli))
	return dst
}

// appendRecord appends the record.
func (o *Operation) appendRecord(dst []byte, values [][]byte) []byte {
	key, value := -1, -1
	if o.Key != nil {
		key = o.Key.size(values)
	}
	if o.Value != nil {
		value = o.Value.size(values)
	}
	size := 3 + sizeLen(key) + max(key, 0) + sizeLen(value) + max(value, 0) + sizeLen(len(o.Headers))
	for i := range o.Headers {
		h := &o.Headers[i]
		n := h.Value.size(values)
		size += sizeLen(len(h.Name)) + len(h.Name) + sizeLen(n) + n
	}
	dst = append(appendSize(dst, size), 0, 0, 0) // attributes, and its distance to the first one in time and offset
	dst = o.Key.fill(appendSize(dst, key), values)
	dst = o.Value.fill(appendSize(dst, value), values)
	dst = appendSize(dst, len(o.Headers))
	for i := range o.Headers {
		h := &o.Headers[i]
		dst = append(appendSize(dst, len(h.Name)), h.Name...)
		dst = h.Value.fill(appendSize(dst, h.Value.size(values)), values)
	}
	return dst
}
