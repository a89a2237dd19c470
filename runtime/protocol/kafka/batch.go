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

// counts returns the origin of the next records of a partition, so many at once.
func (p *producer) counts(topic []byte, partition int32, records int) origin {
	next := p.next[placed{string(topic), partition}]
	if next == nil {
		next = new(int32)
		p.next[placed{string(topic), partition}] = next
	}
	o := origin{p.id, p.epoch, *next}
	*next = (*next + int32(records)) & (1<<31 - 1) // Kafka goes on with 0
	return o
}

// Entry is a record of a batch.
type Entry struct {
	Operation *Operation
	Values    [][]byte
	Now       int64   // milliseconds since 1970: the record's time
	Sent      *uint64 // counts the record when the kernel has it; nil: nothing does
	Begun     *uint64 // the same
}

// appendBatch appends a batch of records, whose times and coding are those of the first one or later.
func appendBatch(dst []byte, all []Entry, from origin, pool *Pool) []byte {
	start, coding, first := len(dst), all[0].Operation.Compression, all[0].Now
	newest := first
	for i := range all {
		newest = max(newest, all[i].Now)
	}
	dst = binary.BigEndian.AppendUint64(dst, 0)       // base offset: the broker sets it
	dst = binary.BigEndian.AppendUint32(dst, 0)       // length
	dst = binary.BigEndian.AppendUint32(dst, 1<<32-1) // leader epoch: the broker's
	dst = append(dst, 2)                              // version
	dst = binary.BigEndian.AppendUint32(dst, 0)       // checksum
	dst = append(dst, 0, byte(coding))                // attributes
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(all)-1))
	dst = binary.BigEndian.AppendUint64(dst, uint64(first))
	dst = binary.BigEndian.AppendUint64(dst, uint64(newest))
	dst = binary.BigEndian.AppendUint64(dst, uint64(from.producer))
	dst = binary.BigEndian.AppendUint16(dst, uint16(from.epoch))
	dst = binary.BigEndian.AppendUint32(dst, uint32(from.sequence))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(all)))
	if coding == Uncompressed {
		dst = appendRecords(dst, all)
	} else {
		pool.records = appendRecords(pool.records[:0], all)
		dst = pool.compress(dst, coding, pool.records)
		if cap(pool.records) > bufferKept {
			pool.records = nil
		}
	}
	putLength(dst, start+batchLength)
	binary.BigEndian.PutUint32(dst[start+batchCRC:], crc32.Checksum(dst[start+batchCovered:], castagnoli))
	return dst
}

func appendRecords(dst []byte, all []Entry) []byte {
	for i := range all {
		e := &all[i]
		dst = e.Operation.appendRecord(dst, e.Values, e.Now-all[0].Now, i)
	}
	return dst
}

// Size is how many bytes a record of the operation has in a batch, at most: its length and its place take ten each.
func (o *Operation) Size(values [][]byte) int { return 20 + o.size(values) }

// size is how many bytes a record has behind its place.
func (o *Operation) size(values [][]byte) int {
	key, value := o.sizes(values)
	size := sizeLen(key) + max(key, 0) + sizeLen(value) + max(value, 0) + sizeLen(len(o.Headers))
	for i := range o.Headers {
		h := &o.Headers[i]
		n := h.Value.size(values)
		size += sizeLen(len(h.Name)) + len(h.Name) + sizeLen(n) + n
	}
	return size
}

// sizes are those of the key and the value; below 0: there is none.
func (o *Operation) sizes(values [][]byte) (key, value int) {
	key, value = -1, -1
	if o.Key != nil {
		key = o.Key.size(values)
	}
	if o.Value != nil {
		value = o.Value.size(values)
	}
	return key, value
}

// appendRecord appends the record, which is so many milliseconds later than the batch's first one, and at that
// place.
func (o *Operation) appendRecord(dst []byte, values [][]byte, later int64, place int) []byte {
	key, value := o.sizes(values)
	dst = append(appendSize(dst, 1+sizeLen(int(later))+sizeLen(place)+o.size(values)), 0) // no attributes
	dst = appendSize(appendSize(dst, int(later)), place)
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
